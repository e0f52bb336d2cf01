#include "weir/pg/copy_block.h"

#include "weir/pg/wire_internal.h"

namespace weir::pg {

// The length counts itself but not the type.
int64_t CopyBlock::MessageBytes(int64_t at) const {
  return 1 + int64_t{ReadI32(buffer_.data() + at + 1)};
}

// A length that cannot be is left to libpq to complain of.
bool CopyBlock::IsCopyData(int64_t at) const {
  return buffer_.data()[at] == 'd' && MessageBytes(at) >= kHeaderBytes;
}

bool CopyBlock::full() const {
  if (whole_ == 0) return false;
  return whole_ >= full_bytes_ || buffer_.capacity() - buffer_.size() < kLeastRoom;
}

void CopyBlock::ReserveWhole(int64_t least) {
  buffer_.Reserve(std::max({full_bytes_, 4 * kLeastRoom, least}));
}

std::span<uint8_t> CopyBlock::Room() {
  ReserveWhole(0);
  // A message longer than that grows the block to its length, but by no more than kMostTrusted
  // ahead of the bytes that came: the length is only a promise.
  if (whole_ == 0 && buffer_.size() >= kHeaderBytes &&
      buffer_.capacity() - buffer_.size() < kLeastRoom) {
    const int64_t promised = std::max(MessageBytes(0), buffer_.size()) + kLeastRoom;
    buffer_.Reserve(std::min(promised, buffer_.capacity() + kMostTrusted));
  }
  return {buffer_.data() + buffer_.size(),
          static_cast<size_t>(buffer_.capacity() - buffer_.size())};
}

void CopyBlock::Received(int64_t count) {
  buffer_.Extend(count);
  Scan();
}

void CopyBlock::Scan() {
  while (buffer_.size() - whole_ >= kHeaderBytes && IsCopyData(whole_)) {
    const int64_t size = MessageBytes(whole_);
    if (buffer_.size() - whole_ < size) return;
    whole_ += size;
    if (size - kHeaderBytes > kTrailerBytes) ++rows_;
  }
}

void CopyBlock::Append(Bytes held) {
  ReserveWhole(0);
  uint8_t* const at = buffer_.Extend(kHeaderBytes + std::ssize(held));
  at[0] = 'd';
  const auto length = static_cast<uint32_t>(held.size() + sizeof(uint32_t));
  for (int byte = 0; byte < 4; ++byte) {
    at[1 + byte] = static_cast<uint8_t>(length >> (24 - 8 * byte));
  }
  std::memcpy(at + kHeaderBytes, held.data(), held.size());
  Scan();
}

bool CopyBlock::at_other() const {
  return buffer_.size() - whole_ >= kHeaderBytes && !IsCopyData(whole_);
}

void CopyBlock::DropRest(int64_t count) {
  uint8_t* const begin = buffer_.data() + whole_;
  const int64_t kept = buffer_.size() - whole_ - count;
  std::memmove(begin, begin + count, static_cast<size_t>(kept));
  buffer_.DropBack(count);
  Scan();
}

CopyBlock CopyBlock::SplitRest() {
  CopyBlock next(*blocks_, full_bytes_);
  const Bytes begun = rest();
  if (begun.empty()) return next;
  next.ReserveWhole(std::ssize(begun));
  std::memcpy(next.buffer_.Extend(std::ssize(begun)), begun.data(), begun.size());
  next.Scan();
  buffer_.DropBack(std::ssize(begun));
  return next;
}

}  // namespace weir::pg
