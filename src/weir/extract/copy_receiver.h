#pragma once
// CopyReceiver: the COPY stream of one source, received ahead of whoever decodes it, by the same
// thread.
#include <deque>
#include <optional>

#include "weir/extract/pace.h"
#include "weir/extract/progress.h"
#include "weir/extract/source.h"
#include "weir/pg/copy_block.h"

namespace weir::extract {

struct ReceiverOptions {
  int64_t block_bytes = 0;        ///< Of the stream, that are given to the decoder at once.
  int64_t ahead_bytes = 0;        ///< Received and not decoded, at most, within a block.
  sys::Duration byte_timeout{0};  ///< Longest wait for the next byte; zero: for ever.
  ThrottlePace pace;
};

/// Where the time of receiving went.
struct ReceiverTimes {
  sys::Duration wait{0};     ///< For the server, with nothing else to do.
  sys::Duration receive{0};  ///< Taking in what it had sent.
  sys::Duration slept{0};    ///< Not receiving, as the pace says; decoding goes on meanwhile.
};

/// The server can send only while its socket is emptied, and the socket of a local one holds a
/// quarter of a millisecond's worth. So who decodes calls Pump between pieces of its work, which
/// takes in what there is and never waits; Next waits where there is nothing left to do.
///
/// Memory:  block_bytes + ahead_bytes, charged to `blocks`.
/// Errors:  of the connection; kExhausted when the budget is full. Pump leaves them to Next.
/// Threads: one.
class CopyReceiver {
 public:
  CopyReceiver(Source& source, const ReceiverOptions& options, mem::BlockAllocator& blocks,
               sys::Clock& clock, const sys::Stop& stop, Progress& progress)
      : source_(source),
        options_(options),
        blocks_(blocks),
        clock_(clock),
        stop_(stop),
        progress_(progress),
        receiving_(blocks, options.block_bytes) {}

  /// Starts the COPY and waits for its first bytes.
  Status Start();
  void Pump();
  /// The next whole messages; none at the end of the stream.
  Result<std::optional<pg::CopyBlock>> Next();

  const ReceiverTimes& times() const { return times_; }
  int64_t bytes() const { return bytes_; }
  /// From COPY's start to its end, or until now; absent: it was not started.
  std::optional<sys::Duration> copy_time() const;

 private:
  bool MayReceive();
  void Receive();
  void FinishBlock();
  Status Wait();

  Source& source_;
  const ReceiverOptions options_;
  mem::BlockAllocator& blocks_;
  sys::Clock& clock_;
  const sys::Stop& stop_;
  Progress& progress_;

  pg::CopyBlock receiving_;
  std::deque<pg::CopyBlock> ready_;
  int64_t ready_bytes_ = 0;
  int64_t bytes_ = 0;
  int64_t rows_ = 0;
  bool ended_ = false;
  std::optional<Error> failure_;  // Of receiving; told when what came before it is taken.

  sys::Duration rest_owed_{0};
  std::optional<sys::Duration> rest_began_;  // While it lasts.
  std::optional<sys::Duration> started_;
  std::optional<sys::Duration> finished_;
  ReceiverTimes times_;
};

}  // namespace weir::extract
