#include "weir/hydrate/probe.h"

#include <algorithm>
#include <random>

#include "weir/hydrate/lookup.h"
#include "weir/sys/hash.h"
#include "weir/table/buffer.h"

namespace weir::hydrate {
namespace {

constexpr uint64_t kSeed = 1;
// Updates, and probes, from one look at the stop to the next.
constexpr int64_t kBetweenStops = 1'024;

// Keys one after another.
struct Keys {
  explicit Keys(mem::BlockAllocator& blocks) : bytes(blocks), ends(blocks) {}

  void Add(Bytes key) {
    if (!key.empty()) std::memcpy(bytes.Extend(std::ssize(key)), key.data(), key.size());
    ends.Push(bytes.size());
  }
  int64_t count() const { return ends.size() / 8; }
  bool EndsWith(Bytes key) const {
    return count() > 0 && std::ranges::equal((*this)[count() - 1], key);
  }
  Bytes operator[](int64_t at) const {
    const auto* const all = reinterpret_cast<const int64_t*>(ends.data());
    const int64_t begin = at == 0 ? 0 : all[at - 1];
    return {bytes.data() + begin, static_cast<size_t>(all[at] - begin)};
  }

  table::Buffer bytes;
  table::Buffer ends;  // int64.
};

// The keys of `count` rows, evenly apart, each key once: as many as there are at most.
Status Choose(const Index& index, delta::Time time, int64_t count, const sys::Stop& stop,
              Keys& keys) {
  const int64_t rows = std::max<int64_t>(index.rows_read(), 1);
  WEIR_TRY(const auto cursor, index.ReadAt(time, {}));
  int64_t row = 0;
  for (delta::Update update; keys.count() < count; ++row) {
    if (row % kBetweenStops == 0) WEIR_DO(stop.Check());
    WEIR_TRY(const bool more, cursor->Next(update));
    if (!more) return Ok();
    const auto due = static_cast<int64_t>(static_cast<__int128>(row + 1) * count / rows);
    const Bytes key = update.row.first(static_cast<size_t>(update.key_size));
    if (keys.count() < due && !keys.EndsWith(key)) keys.Add(key);
  }
  return Ok();
}

}  // namespace

Result<ProbeResult> Probe(const Index& index, delta::Time time, int64_t count, ProbeOrder order,
                          mem::BlockAllocator& blocks, const sys::Stop& stop) {
  Keys keys(blocks);
  WEIR_DO(Choose(index, time, count, stop, keys));
  std::vector<uint32_t> sequence;
  if (order == ProbeOrder::kRandom) {
    for (int64_t at = 0; at < keys.count(); ++at) sequence.push_back(static_cast<uint32_t>(at));
    std::shuffle(sequence.begin(), sequence.end(), std::mt19937_64(kSeed));
  }
  ProbeResult result;
  const Lookup::Take take = [&](const delta::Update& update) {
    result.rows += update.diff;
    result.digest += sys::Xxh3(update.row) * static_cast<uint64_t>(update.diff);
  };
  const sys::Duration start = sys::SteadyNow();
  std::optional<Lookup> lookup;
  for (; result.probes < keys.count(); ++result.probes) {
    if (result.probes % kBetweenStops == 0) WEIR_DO(stop.Check());
    if (!lookup.has_value() || order == ProbeOrder::kRandom) lookup.emplace(index, time);
    const int64_t at = order == ProbeOrder::kRandom
                           ? sequence[static_cast<size_t>(result.probes)]
                           : result.probes;
    WEIR_DO(lookup->Find(keys[at], take));
  }
  result.time = sys::SteadyNow() - start;
  return result;
}

}  // namespace weir::hydrate
