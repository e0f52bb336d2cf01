#include "weir/queue/store.h"

namespace weir::queue {

Result<FlushResult> JobStore::Flush(const FlushBatch& batch) {
  FlushResult result;
  if (!batch.starts.empty()) {
    WEIR_TRY(result.started, Start(batch.starts));
  }
  if (!batch.completions.empty()) {
    WEIR_TRY(result.completed, Complete(batch.completions));
  }
  if (!batch.failures.empty()) {
    WEIR_TRY(result.failed, FailJobs(batch.failures));
  }
  if (!batch.returns.empty()) {
    WEIR_TRY(result.returned, GiveBack(batch.returns));
  }
  return result;
}

}  // namespace weir::queue
