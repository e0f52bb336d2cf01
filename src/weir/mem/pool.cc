#include "weir/mem/pool.h"

#include <algorithm>

#include "weir/base/assert.h"
#include "weir/base/units.h"
#include "weir/mem/codec_choice_internal.h"
#include "weir/mem/page_state_internal.h"
#include "weir/mem/pool_counts_internal.h"
#include "weir/sys/accounting.h"
#include "weir/sys/thread.h"

namespace weir::mem {
namespace {

// Others may hold all there is for a while: on a busy machine, longer than any of them works.
constexpr auto kMostIdle = std::chrono::seconds(2);

}  // namespace

OpenPage::~OpenPage() {
  if (data_ == nullptr) return;
  pool_->frames_.Free(data_, capacity_);
  pool_->frames_.budget().Release(state_bytes_);
  pool_->NoteFreed();
}

OpenPage& OpenPage::operator=(OpenPage&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(state_bytes_, other.state_bytes_);
  return *this;
}

PageGuard& PageGuard::operator=(PageGuard&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(page_, other.page_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void PageGuard::Drop() {
  if (page_ == nullptr) return;
  pool_->Unpin(*page_);
  page_ = nullptr;
  bytes_ = {};
}

Page& Page::operator=(Page&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(page_, other.page_);
  return *this;
}

Page::~Page() {
  if (page_ != nullptr) pool_->Drop(page_);
}

Result<PageGuard> Page::Read() const { return pool_->Pin(*page_); }
int64_t Page::size_bytes() const { return page_->bytes; }

Pool::Pool(Frames& frames, std::unique_ptr<ExtentStore> store, PoolOptions options)
    : frames_(frames),
      store_(std::move(store)),
      options_(options),
      counts_(std::make_unique<Atomics>()),
      codec_choice_(std::make_unique<CodecChoice>()) {
  WEIR_ASSERT(store_ != nullptr || !options_.spill);
}

Result<std::unique_ptr<Pool>> Pool::Make(Frames& frames, std::unique_ptr<ExtentStore> store,
                                         PoolOptions options) {
  std::unique_ptr<Pool> pool(new Pool(frames, std::move(store), options));
  WEIR_DO(pool->Start());
  return pool;
}

Status Pool::Start() {
  frames_.budget().SetReclaimer(this);
  if (!options_.spill) return Ok();
  constexpr int kProducers = 2;  // That many can help at once.
  for (int at = 0; at < options_.spill_threads + kProducers; ++at) {
    WEIR_TRY(uint8_t* buffer, frames_.Allocate(kScratchBytes));
    scratch_.push_back(buffer);
  }
  for (int at = 0; at < options_.spill_threads; ++at) {
    WEIR_TRY(std::thread thread, sys::StartThread([this] { SpillLoop(); }));
    threads_.push_back(std::move(thread));
  }
  return Ok();
}

Pool::~Pool() {
  frames_.budget().SetReclaimer(nullptr);
  {
    const std::lock_guard lock(queue_mutex_);
    ending_ = true;
  }
  spill_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (uint8_t* buffer : scratch_) frames_.Free(buffer, kScratchBytes);
  WEIR_ASSERT(counts_->inserts.load() == counts_->frees.load());
}

// ---- Making room.

Result<OpenPage> Pool::New(int64_t bytes) {
  auto frame = NewFrame(bytes);
  if (!frame.ok() && options_.spill) {
    frame = MakeRoom(Frames::FrameBytes(bytes), [&] { return NewFrame(bytes); });
  }
  if (!frame.ok()) return std::move(frame).error();
  if (BelowReserve()) spill_wake_.notify_one();
  return OpenPage(this, frame.value(), Frames::FrameBytes(bytes), kStateBytes);
}

// A frame, and the charge for what is known of its page; or neither.
Result<uint8_t*> Pool::NewFrame(int64_t bytes) {
  static_assert(sizeof(PageState) + sizeof(Page) + 4 * sizeof(void*) <= kStateBytes);
  WEIR_TRY(uint8_t* const frame, frames_.Allocate(bytes));
  Status charged = frames_.Charge(kStateBytes);
  if (charged.ok()) return frame;
  frames_.Free(frame, bytes);
  return std::move(charged).error();
}

Result<Charge> Pool::ChargeBeside(int64_t bytes) {
  Status charged = frames_.Charge(bytes);
  if (!charged.ok() && options_.spill) {
    charged = MakeRoom(bytes, [&] { return frames_.Charge(bytes); });
  }
  if (!charged.ok()) return std::move(charged).error();
  return Charge::Of(frames_.budget(), bytes);
}

// What `attempt` gives, by evicting pages of `bytes` for as long as that goes on anywhere.
template <typename Attempt>
auto Pool::MakeRoom(int64_t bytes, const Attempt& attempt) -> decltype(attempt()) {
  const sys::WaitScope waits(sys::Wait::kSpill);
  if (!IsToBlock()) return AttemptAgain(bytes, attempt);
  awaited_bytes_ += bytes;
  auto made = AttemptAgain(bytes, attempt);
  awaited_bytes_ -= bytes;
  return made;
}

template <typename Attempt>
auto Pool::AttemptAgain(int64_t bytes, const Attempt& attempt) -> decltype(attempt()) {
  auto made = attempt();
  for (Patience patience(*this); !made.ok() && patience.IsLeft();) {
    int64_t freed = 0;
    if (!IsToBlock()) {
      WEIR_TRY(freed, Evict(bytes));
      ++counts_->producer_evictions;
    }
    if (freed == 0) WEIR_DO(WaitForRoom());
    made = attempt();
  }
  return made;
}

Pool::Patience::Patience(const Pool& pool)
    : pool_(pool), freed_(pool.counts_->freed_bytes), since_(sys::SteadyNow()) {}

bool Pool::Patience::IsLeft() {
  const sys::Duration now = sys::SteadyNow();
  const int64_t freed = pool_.counts_->freed_bytes;
  if (pool_.counts_->spill_in_flight.load() > 0 || freed != freed_) since_ = now;
  freed_ = freed;
  return now - since_ < kMostIdle;
}

// Until someone else freed memory, or failed to.
Status Pool::WaitForRoom() {
  constexpr auto kAtMost = std::chrono::milliseconds(10);  // A wake-up may come before the wait.
  std::unique_lock lock(queue_mutex_);
  spill_failure_.reset();  // What failed before may have been mended.
  spill_wake_.notify_one();
  room_.wait_for(lock, kAtMost);
  if (spill_failure_.has_value()) return *std::exchange(spill_failure_, std::nullopt);
  return Ok();
}

bool Pool::IsToBlock() const {
  return options_.handoff == SpillHandoff::kBlock && options_.spill_threads > 0;
}

void Pool::NoteFreed() { room_.notify_all(); }

bool Pool::BelowReserve() const {
  if (!options_.spill || options_.spill_threads == 0) return false;
  const Budget& budget = frames_.budget();
  const int64_t wanted =
      std::max(options_.reserve_bytes, awaited_bytes_.load(std::memory_order_relaxed));
  return budget.free_bytes() + frames_.counters().warm_bytes < wanted;
}

int64_t Pool::Reclaim(int64_t bytes) {
  const int64_t warm = frames_.ReleaseWarm(bytes);
  if (warm >= bytes || !options_.spill) return warm;
  const sys::WaitScope waits(sys::Wait::kBudget);
  // Stored forms are charged beside the pool: they go first where a budget above both is full.
  const Budget& own = frames_.budget();
  const bool is_above = own.limit_bytes() - own.used_bytes() > own.free_bytes();
  int64_t given = is_above ? GiveUpStored(bytes - warm) : 0;
  if (given == 0) {
    const auto evicted = EvictOrAwait(bytes - warm);
    given = evicted.ok() ? evicted.value() : 0;  // The pool's own users will meet the error.
    frames_.ReleaseWarm(bytes - warm);
  }
  if (given == 0 && !is_above) given = GiveUpStored(bytes - warm);
  return warm + given;
}

int64_t Pool::GiveUpStored(int64_t bytes) {
  const auto given = store_->GiveUpMemory(bytes);
  return given.ok() ? given.value() : 0;  // As above.
}

int64_t Pool::RoomBytes() const {
  const int64_t resident = options_.spill ? counts_->resident_bytes.load() : 0;
  const int64_t free = frames_.budget().free_bytes();
  return free > kUnlimited / 2 ? free : free + frames_.counters().warm_bytes + resident;
}

Status Pool::Shrink() {
  const auto over = [&] { return -frames_.budget().free_bytes(); };
  if (over() > 0) frames_.ReleaseWarm(over());
  if (store_ != nullptr) WEIR_DO(store_->ShrinkMemory());
  for (Patience patience(*this); over() > 0 && patience.IsLeft();) {
    if (frames_.ReleaseWarm(over()) > 0) continue;
    if (!options_.spill) break;
    WEIR_TRY(const int64_t freed, EvictOrAwait(over()));
    if (freed == 0) WEIR_DO(WaitForRoom());
  }
  if (over() <= 0) return Ok();
  return Fail(Code::kExhausted, "{} more than memory budget '{}' allows are held by what cannot be "
              "evicted", FormatBytes(over()), frames_.budget().name());
}

// ---- Life of a page.

Page Pool::Seal(OpenPage open, int64_t used_bytes, int depth) {
  WEIR_ASSERT(used_bytes > 0 && used_bytes <= open.capacity_);
  auto* page = new PageState;
  page->bytes = used_bytes;
  page->depth = static_cast<uint8_t>(std::min(depth, 255));
  page->frame = std::exchange(open.data_, nullptr);
  page->frame_bytes = open.capacity_;
  WEIR_ASSERT(open.state_bytes_ == kStateBytes);
  ++counts_->inserts;
  counts_->resident_bytes += used_bytes;
  Enqueue(*page);
  return Page(this, page);
}

void Pool::Enqueue(PageState& page) {
  const std::lock_guard lock(queue_mutex_);
  auto& band = bands_[std::min<size_t>(page.depth, kBands - 1)];
  page.place = band.insert(band.end(), &page);
  page.queued = true;
}

void Pool::Dequeue(PageState& page) {
  const std::lock_guard lock(queue_mutex_);
  if (std::exchange(page.wanted, false)) prefetches_.remove(&page);
  if (!page.queued) return;
  bands_[std::min<size_t>(page.depth, kBands - 1)].erase(page.place);
  page.queued = false;
}

void Pool::DropFrame(PageState& page) {
  frames_.Free(page.frame, page.frame_bytes);
  page.frame = nullptr;
  counts_->resident_bytes -= page.bytes;
  counts_->freed_bytes += page.frame_bytes;
}

void Pool::Drop(PageState* page) {
  {
    const std::lock_guard lock(page->mutex);
    WEIR_ASSERT(page->pins == 0);
    Dequeue(*page);
    if (page->residency == Residency::kWriting) {
      page->freed = true;
      ++counts_->spill_cancelled;
      return;
    }
  }
  Destroy(page);
}

// Requires: nobody else knows the page any more.
void Pool::Destroy(PageState* page) {
  if (page->extent.bytes == 0) ++counts_->writes_elided;
  if (page->frame != nullptr) DropFrame(*page);
  if (page->extent.bytes > 0) store_->Free(page->extent);
  ++counts_->frees;
  delete page;
  frames_.budget().Release(kStateBytes);
  NoteFreed();
}

Result<OpenPage> Pool::RoomToRead(int64_t bytes) {
  auto frame = frames_.Allocate(bytes);
  if (frame.ok()) {
    ++counts_->admissions_budget;
  } else {
    frame = MakeRoom(Frames::FrameBytes(bytes), [&] { return frames_.Allocate(bytes); });
    ++(frame.ok() ? counts_->admissions_steal : counts_->admissions_denied);
  }
  if (!frame.ok()) return std::move(frame).error();
  return OpenPage(this, frame.value(), Frames::FrameBytes(bytes), 0);
}

Result<PageGuard> Pool::Pin(PageState& page) {
  const std::lock_guard lock(page.mutex);
  if (page.frame == nullptr) {
    WEIR_TRY(OpenPage room, RoomToRead(page.bytes));
    const sys::WaitScope waits(sys::Wait::kRead);
    WEIR_DO(Load(page, std::move(room)));
  }
  ++page.pins;
  page.touched = true;
  return PageGuard(this, &page, {page.frame, static_cast<size_t>(page.bytes)});
}

void Pool::Unpin(PageState& page) {
  const std::lock_guard lock(page.mutex);
  --page.pins;
}

PoolCounters Pool::counters() const {
  const Atomics& from = *counts_;
  PoolCounters to;
  to.inserts = from.inserts;
  to.frees = from.frees;
  to.live_pages = to.inserts - to.frees;
  to.resident_bytes = from.resident_bytes;
  to.writes_elided = from.writes_elided;
  to.evictions_compress = from.evictions_compress;
  to.evictions_cheap = from.evictions_cheap;
  to.extent_bytes_written = from.extent_bytes_written;
  to.extent_raw_bytes_written = from.extent_raw_bytes_written;
  to.extent_bytes_read = from.extent_bytes_read;
  if (store_ != nullptr) {
    to.extent_resident_bytes = store_->resident_bytes();
    const sys::PageOuts page_outs = store_->page_outs();
    to.extent_pageouts = page_outs.complete;
    to.extent_pageouts_incomplete = page_outs.incomplete;
    to.extent_unreclaimable_bytes = page_outs.unreclaimed_bytes;
  }
  to.spill_scheduled = from.spill_scheduled;
  to.spill_cancelled = from.spill_cancelled;
  to.spill_in_flight = from.spill_in_flight;
  to.eager_backs = from.eager_backs;
  to.producer_evictions = from.producer_evictions;
  to.admissions_budget = from.admissions_budget;
  to.admissions_steal = from.admissions_steal;
  to.admissions_denied = from.admissions_denied;
  to.frames = frames_.counters();
  return to;
}

}  // namespace weir::mem
