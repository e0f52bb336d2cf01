#pragma once
// Inbox: answers to one run's requests, given on any thread, taken by the run's own.
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "weir/script/fetch.h"
#include "weir/sys/clock.h"
#include "weir/sys/stop.h"

namespace weir::script {

/// Threads: any; Take, WaitUntil and Close belong to the run.
class Inbox {
 public:
  struct Answer {
    uint64_t id = 0;
    Result<Response> response;
  };

  Inbox() = default;
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// From now on an answer to `id` is wanted.
  void Expect(uint64_t id);
  /// No longer.
  void Forget(uint64_t id);
  void Put(uint64_t id, Result<Response> response);
  bool Wants(uint64_t id);
  size_t expected();
  std::vector<Answer> Take();
  /// Returns when there is an answer, `stop` was asked for, or `end` (of SteadyNow) has come.
  void WaitUntil(sys::Duration end, const sys::Stop& stop);
  /// Nothing is wanted any more.
  void Close();

 private:
  std::mutex mutex_;
  std::set<uint64_t> expected_;
  std::vector<Answer> answers_;
  int event_fd_ = -1;  // Made by the first wait: most runs never wait.
};

}  // namespace weir::script
