#pragma once
// StoreThread: calls of a JobStore, one after another on a thread and a connection of their own.
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "weir/pg/target.h"
#include "weir/queue/store.h"
#include "weir/serve/mailbox.h"
#include "weir/sys/stop.h"

namespace weir::serve {

/// Connects when first needed, and again after an error that the connection did not survive.
///
/// Threads: any.
class StoreThread {
 public:
  /// With the store; or with why there is none.
  using Call = std::function<void(const Result<queue::JobStore*>& store)>;

  static Result<std::unique_ptr<StoreThread>> Start(pg::Target target, std::string name);
  ~StoreThread();  ///< Drops what has not begun.
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  void Post(Call call) { calls_.Post(std::move(call)); }

 private:
  StoreThread(pg::Target target, std::string name);
  void Run();
  Result<queue::JobStore*> Store();

  const pg::Target target_;
  const std::string name_;
  sys::Stop stop_;
  Mailbox<Call> calls_;
  std::unique_ptr<queue::JobStore> store_;
  std::thread thread_;
};

}  // namespace weir::serve
