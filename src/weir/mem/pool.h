#pragma once
// Pool: pages that stay in memory while the budget allows, and in a spill file when it does not.
#include <array>
#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "weir/mem/extent_store.h"
#include "weir/mem/frames.h"
#include "weir/mem/pool_options.h"

namespace weir::mem {

class CodecChoice;
class Pool;
struct PageState;

/// A page being filled by its only owner. Dropping it gives the memory back.
///
/// Threads: one at a time; may be moved to another thread.
class OpenPage {
 public:
  OpenPage() = default;
  ~OpenPage();
  OpenPage(OpenPage&& other) noexcept { *this = std::move(other); }
  OpenPage& operator=(OpenPage&& other) noexcept;

  uint8_t* data() const { return data_; }
  int64_t capacity() const { return capacity_; }  ///< At least what was asked for.
  explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class Pool;
  OpenPage(Pool* pool, uint8_t* data, int64_t capacity, int64_t state_bytes)
      : pool_(pool), data_(data), capacity_(capacity), state_bytes_(state_bytes) {}

  Pool* pool_ = nullptr;
  uint8_t* data_ = nullptr;
  int64_t capacity_ = 0;
  int64_t state_bytes_ = 0;  // Charged for what the pool will know of the page.
};

/// Bytes of a page, in memory for as long as this lives. Hold few: pinned pages cannot be evicted.
///
/// Threads: one at a time.
class PageGuard {
 public:
  PageGuard() = default;
  ~PageGuard() { Drop(); }
  PageGuard(PageGuard&& other) noexcept { *this = std::move(other); }
  PageGuard& operator=(PageGuard&& other) noexcept;

  Bytes bytes() const { return bytes_; }
  explicit operator bool() const { return page_ != nullptr; }
  void Drop();

 private:
  friend class Pool;
  PageGuard(Pool* pool, PageState* page, Bytes bytes) : pool_(pool), page_(page), bytes_(bytes) {}

  Pool* pool_ = nullptr;
  PageState* page_ = nullptr;
  Bytes bytes_;
};

/// A filled page, wherever its bytes are. Dropping it forgets them.
///
/// Threads: any number may Read(); no guard may outlive the page.
class Page {
 public:
  Page() = default;
  ~Page();
  Page(Page&& other) noexcept { *this = std::move(other); }
  Page& operator=(Page&& other) noexcept;

  /// Pins the page, from the spill file if need be.
  ///
  /// Cost:   in memory: one lock. Evicted: one read of its stored size, and room for it.
  /// Errors: kExhausted   no room: everything else in the budget is pinned or not the pool's.
  ///         kCorrupt     the stored bytes fail their checksum; the object they belong to is lost.
  ///         kUnavailable the spill device failed; the page stays as it is.
  Result<PageGuard> Read() const;
  /// Asks a spill thread to bring the page into memory that is free anyway.
  void Prefetch() const;

  int64_t size_bytes() const;
  explicit operator bool() const { return page_ != nullptr; }

 private:
  friend class Pool;
  Page(Pool* pool, PageState* page) : pool_(pool), page_(page) {}

  Pool* pool_ = nullptr;
  PageState* page_ = nullptr;
};

/// What a pool has done so far, and holds now.
struct PoolCounters {
  int64_t inserts = 0;
  int64_t frees = 0;
  int64_t live_pages = 0;
  int64_t resident_bytes = 0;
  int64_t writes_elided = 0;
  int64_t evictions_compress = 0;  ///< Pages that had to be stored first, compressed or not.
  int64_t evictions_cheap = 0;     ///< Pages that were backed.
  int64_t extent_bytes_written = 0;
  int64_t extent_raw_bytes_written = 0;
  int64_t extent_bytes_read = 0;
  int64_t extent_resident_bytes = 0;       ///< Evicted pages whose stored form is in memory.
  int64_t extent_pageouts = 0;             ///< Times that the kernel swapped all out.
  int64_t extent_pageouts_incomplete = 0;  ///< Times that it did not.
  int64_t extent_unreclaimable_bytes = 0;  ///< In swapped memory that the kernel did not let go.
  int64_t spill_scheduled = 0;             ///< Pages picked to be written.
  int64_t spill_cancelled = 0;
  int64_t spill_in_flight = 0;
  int64_t eager_backs = 0;
  int64_t producer_evictions = 0;
  int64_t admissions_budget = 0;  ///< Pages brought back into memory that was free.
  int64_t admissions_steal = 0;   ///< The same into memory of others.
  int64_t admissions_denied = 0;  ///< Pages that found no memory to come back to.
  FrameCounters frames;
};

/// A page is unbacked (only in memory), being written, backed (in memory and, the same, in an
/// extent) or evicted (only in its extent):
///
///   Seal -> unbacked -> writing -> evicted <-> backed        bytes can be read in every state
///              ^----- write failed --/
///
/// Eviction picks pages of the deepest merges first, oldest first, and passes over one that was
/// read since it last looked. It only ever tries locks. Whoever needs memory evicts for itself
/// (SpillHandoff::kHelp) while spill threads keep a reserve free ahead of it.
///
/// Charged: frames, and kStateBytes for each page from New() until it is dropped, in memory or not.
/// Locks:   a page's, then the queue's; the scan holds the queue's and tries the page's.
/// Threads: any. Outlives its pages; aborts when one is left.
class Pool final : public Reclaimer {
 public:
  /// What is known of a page: a PageState, its place in a queue, its handle.
  static constexpr int64_t kStateBytes = 256;

  /// `store` may be null when options.spill is off.
  /// Errors: kExhausted when the budget has no room for the buffers that spilling needs.
  static Result<std::unique_ptr<Pool>> Make(Frames& frames, std::unique_ptr<ExtentStore> store,
                                            PoolOptions options);
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// A new page with room for `bytes`.
  /// Errors: kExhausted when the budget is full and nothing can be evicted, or the spill file is
  ///         full; kUnavailable when the spill device failed. All pages stay as they are.
  Result<OpenPage> New(int64_t bytes);
  /// The page is complete: its first `used_bytes` are kept, and may be evicted from now on.
  /// `depth` is the number of merges behind them: the deeper, the sooner.
  Page Seal(OpenPage open, int64_t used_bytes, int depth);
  /// Charges the pool's budget for what is kept of pages outside of them, fences for instance.
  /// Errors: of New().
  Result<Charge> ChargeBeside(int64_t bytes);

  /// Warm frames first, then stored forms in memory, then pages: for whoever else is charged to the
  /// pool's budget or one above it.
  int64_t Reclaim(int64_t bytes) override;
  /// What could be free if every page was evicted: an estimate, for choosing sizes by.
  int64_t RoomBytes() const;
  /// Evicts until the budget is obeyed, after its limit was lowered, or that of stored forms.
  /// Errors: kExhausted when all that can be evicted is not enough; of New().
  Status Shrink();

  PoolCounters counters() const;
  const PoolOptions& options() const { return options_; }

 private:
  friend class OpenPage;
  friend class Page;
  friend class PageGuard;
  static constexpr int kBands = 4;
  static constexpr int64_t kScratchBytes = 2 << 20;
  using Victims = std::vector<PageState*>;
  struct Picked {
    Victims victims;          // For us to write.
    int64_t freed_bytes = 0;  // Of frames that could be dropped at once.
  };
  enum class Keep : uint8_t { kNothing, kFrames };
  enum class From : uint8_t { kAll, kBacked };

  // A buffer for stored forms, while it lives.
  class Scratch {
   public:
    explicit Scratch(Pool& pool);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::span<uint8_t> bytes() const { return {buffer_, kScratchBytes}; }

   private:
    Pool& pool_;
    uint8_t* buffer_;
  };

  // For how long to wait for memory: over once nobody frees any for a while.
  class Patience {
   public:
    explicit Patience(const Pool& pool);
    bool IsLeft();

   private:
    const Pool& pool_;
    int64_t freed_;
    sys::Duration since_;
  };

  Pool(Frames& frames, std::unique_ptr<ExtentStore> store, PoolOptions options);
  Status Start();

  // Making room.
  template <typename Attempt>
  auto MakeRoom(int64_t bytes, const Attempt& attempt) -> decltype(attempt());
  template <typename Attempt>
  auto AttemptAgain(int64_t bytes, const Attempt& attempt) -> decltype(attempt());
  Result<uint8_t*> NewFrame(int64_t bytes);
  Result<OpenPage> RoomToRead(int64_t bytes);
  Status WaitForRoom();
  bool IsToBlock() const;
  bool BelowReserve() const;
  void NoteFreed();
  Picked Pick(int64_t bytes, From from);
  Result<int64_t> Evict(int64_t bytes);
  Result<int64_t> EvictOrAwait(int64_t bytes);
  int64_t GiveUpStored(int64_t bytes);

  // Between memory and the spill file.
  bool IsToCompress(const PageState& page) const;
  Bytes StoredForm(PageState& page, std::span<uint8_t>& scratch) const;
  Result<int64_t> WriteOut(const Victims& victims, Keep keep);
  int64_t Written(PageState& page, Extent extent, Keep keep);
  Status ReadStored(const PageState& page, std::span<uint8_t> to);
  bool Expand(const PageState& page, Bytes stored, std::span<uint8_t> raw);
  Status Load(PageState& page, OpenPage room);

  // Life of a page.
  Result<PageGuard> Pin(PageState& page);
  void Unpin(PageState& page);
  void Prefetch(PageState& page);
  void Drop(PageState* page);
  void DropFrame(PageState& page);
  void Destroy(PageState* page);
  void Enqueue(PageState& page);
  void Dequeue(PageState& page);

  // Spill threads.
  void SpillLoop();
  bool SpillSome(std::unique_lock<std::mutex>& lock);
  bool BackSome(std::unique_lock<std::mutex>& lock);
  bool FetchOne(std::unique_lock<std::mutex>& lock);

  Frames& frames_;
  const std::unique_ptr<ExtentStore> store_;
  const PoolOptions options_;
  // ---- guarded by queue_mutex_
  mutable std::mutex queue_mutex_;
  std::array<std::list<PageState*>, kBands> bands_;
  std::list<PageState*> prefetches_;
  std::condition_variable spill_wake_;
  std::condition_variable room_;
  std::optional<Error> spill_failure_;
  bool ending_ = false;
  // ---- guarded by scratch_mutex_
  std::mutex scratch_mutex_;
  std::vector<uint8_t*> scratch_;
  std::condition_variable scratch_free_;
  // ----
  std::atomic<int64_t> awaited_bytes_{0};  // By producers that wait for spill threads.
  struct Atomics;
  const std::unique_ptr<Atomics> counts_;
  const std::unique_ptr<CodecChoice> codec_choice_;
  std::vector<std::thread> threads_;
};

}  // namespace weir::mem
