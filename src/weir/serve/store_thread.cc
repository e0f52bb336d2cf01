#include "weir/serve/store_thread.h"

#include "weir/queue/pg_store.h"
#include "weir/sys/thread.h"

namespace weir::serve {

StoreThread::StoreThread(pg::Target target, std::string name)
    : target_(std::move(target)), name_(std::move(name)) {}

Result<std::unique_ptr<StoreThread>> StoreThread::Start(pg::Target target, std::string name) {
  std::unique_ptr<StoreThread> made(new StoreThread(std::move(target), std::move(name)));
  WEIR_TRY(made->thread_, sys::StartThread([self = made.get()] { self->Run(); }));
  return made;
}

StoreThread::~StoreThread() {
  stop_.Ask();
  calls_.Post([](const Result<queue::JobStore*>&) {});
  if (thread_.joinable()) thread_.join();
}

Result<queue::JobStore*> StoreThread::Store() {
  if (store_ != nullptr && !store_->is_alive()) store_.reset();
  if (store_ == nullptr) {
    WEIR_TRY(store_, queue::PgStore::Open(target_, name_, stop_));
  }
  return store_.get();
}

void StoreThread::Run() {
  while (!stop_.asked()) {
    for (const Call& call : calls_.Take(sys::Duration::max())) {
      if (stop_.asked()) return;
      call(Store());
    }
  }
}

}  // namespace weir::serve
