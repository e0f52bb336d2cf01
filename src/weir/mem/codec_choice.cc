#include "weir/mem/codec_choice_internal.h"

namespace weir::mem {
namespace {

constexpr double kRecentBytes = 64 << 20;
// Until pages were read back: LZ4 expands several times as fast as it compresses.
constexpr double kUnpackShare = 0.25;

double Nanos(sys::Duration spent) { return static_cast<double>(spent.count()); }

}  // namespace

void CodecChoice::Recent::Note(int64_t bytes, double sum) {
  if (bytes_ > kRecentBytes) {
    bytes_ /= 2;
    sum_ /= 2;
  }
  bytes_ += static_cast<double>(bytes);
  sum_ += sum;
}

bool CodecChoice::ShouldCompress() {
  const std::lock_guard lock(mutex_);
  return asked_++ % kProbeEvery == 0 || IsQuicker();
}

bool CodecChoice::IsQuicker() const {
  if (!pack_.known() || !write_.known()) return false;
  const double reads = reads_.PerByte(0);
  const double pack = pack_.PerByte(0);
  const double write = write_.PerByte(0);
  const double device = write + reads * read_.PerByte(write);
  const double codec = pack + reads * unpack_.PerByte(kUnpackShare * pack);
  return codec + left_.PerByte(1) * device < device;
}

void CodecChoice::NotePacked(int64_t raw_bytes, int64_t stored_bytes, sys::Duration spent) {
  const std::lock_guard lock(mutex_);
  pack_.Note(raw_bytes, Nanos(spent));
  left_.Note(raw_bytes, static_cast<double>(stored_bytes));
}

void CodecChoice::NoteUnpacked(int64_t raw_bytes, sys::Duration spent) {
  const std::lock_guard lock(mutex_);
  unpack_.Note(raw_bytes, Nanos(spent));
}

void CodecChoice::NoteWritten(int64_t raw_bytes, int64_t stored_bytes, sys::Duration spent) {
  const std::lock_guard lock(mutex_);
  write_.Note(stored_bytes, Nanos(spent));
  reads_.Note(raw_bytes, 0);
}

void CodecChoice::NoteRead(int64_t stored_bytes, sys::Duration spent) {
  const std::lock_guard lock(mutex_);
  read_.Note(stored_bytes, Nanos(spent));
}

void CodecChoice::CountRead(int64_t raw_bytes) {
  const std::lock_guard lock(mutex_);
  reads_.Note(0, static_cast<double>(raw_bytes));
}

}  // namespace weir::mem
