#include "weir/experiment/device_rate.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "weir/base/units.h"
#include "weir/sys/scratch_file.h"

namespace weir::experiment {
namespace {

constexpr int64_t kBlockBytes = kMiB;

struct FreeBlock {
  void operator()(uint8_t* block) const { std::free(block); }
};
using Block = std::unique_ptr<uint8_t, FreeBlock>;

Block RandomBlock() {
  Block block(static_cast<uint8_t*>(std::aligned_alloc(sys::kScratchBlock, kBlockBytes)));
  WEIR_ASSERT(block != nullptr);
  std::mt19937_64 random(1);
  for (int64_t at = 0; at < kBlockBytes; at += int64_t{sizeof(uint64_t)}) {
    const uint64_t word = random();
    std::memcpy(block.get() + at, &word, sizeof word);
  }
  return block;
}

// Bytes per second of `step`, called for each block's offset.
template <typename Step>
Result<double> RateOf(int64_t total_bytes, sys::Clock& clock, Step step) {
  const sys::Duration start = clock.Now();
  for (int64_t at = 0; at < total_bytes; at += kBlockBytes) WEIR_DO(step(at));
  return static_cast<double>(total_bytes) / std::max(sys::Seconds(clock.Now() - start), 1e-9);
}

}  // namespace

Result<DeviceRate> MeasureDeviceRate(const std::string& folder, int64_t total_bytes,
                                     sys::Clock& clock) {
  WEIR_ASSERT(total_bytes > 0 && total_bytes % kBlockBytes == 0);
  WEIR_TRY(const auto file, sys::OpenScratchFile(folder));
  WEIR_DO(file->Reserve(0, total_bytes));
  const Block block = RandomBlock();
  const Bytes written(block.get(), kBlockBytes);
  DeviceRate rate;
  WEIR_TRY(rate.write_bytes_per_s, RateOf(total_bytes, clock, [&](int64_t at) {
             return file->Write(at, std::span(&written, 1));
           }));
  WEIR_TRY(rate.read_bytes_per_s, RateOf(total_bytes, clock, [&](int64_t at) {
             return file->Read(at, {block.get(), static_cast<size_t>(kBlockBytes)});
           }));
  return rate;
}

}  // namespace weir::experiment
