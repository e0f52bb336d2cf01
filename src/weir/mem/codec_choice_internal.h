#pragma once
// CodecChoice: whether it is quicker to compress pages than to write more bytes.
#include <cstdint>
#include <mutex>

#include "weir/sys/clock.h"

namespace weir::mem {

/// Compares what a thread spends on a byte of a page, by what codec and device took lately: as it
/// is, write + r * read; compressed, pack + r * unpack + s * (write + r * read), where s is the
/// share that is left of it, and r how often pages are read back. A device that many threads wait
/// for takes longer, so that a busy one is spared.
///
/// Threads: any.
class CodecChoice {
 public:
  /// Of one page. Where the answer is no, or not known yet, one in kProbeEvery is compressed
  /// nonetheless, to see what it takes.
  bool ShouldCompress();

  /// `spent`: processor time.
  void NotePacked(int64_t raw_bytes, int64_t stored_bytes, sys::Duration spent);
  void NoteUnpacked(int64_t raw_bytes, sys::Duration spent);
  /// `spent`: until the device was done, without time in line for a processor.
  void NoteWritten(int64_t raw_bytes, int64_t stored_bytes, sys::Duration spent);
  void NoteRead(int64_t stored_bytes, sys::Duration spent);
  /// One that was written before, whether or not its times were taken.
  void CountRead(int64_t raw_bytes);

  static constexpr int64_t kProbeEvery = 64;

 private:
  // A sum over bytes, of which older ones count for less and less.
  class Recent {
   public:
    void Note(int64_t bytes, double sum);
    /// Of one byte; `unknown` while there were none.
    double PerByte(double unknown) const { return bytes_ == 0 ? unknown : sum_ / bytes_; }
    bool known() const { return bytes_ > 0; }

   private:
    double bytes_ = 0;
    double sum_ = 0;
  };

  bool IsQuicker() const;

  mutable std::mutex mutex_;
  int64_t asked_ = 0;
  Recent pack_;    // Nanoseconds by bytes of pages.
  Recent unpack_;  // The same.
  Recent left_;    // Stored bytes by bytes of pages.
  Recent write_;   // Nanoseconds by stored bytes.
  Recent read_;    // The same.
  Recent reads_;   // Bytes read back by bytes written, of pages.
};

}  // namespace weir::mem
