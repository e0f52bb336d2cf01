#pragma once
// Heap: the memory of one JavaScript world, given back in one sweep whatever state the world is in.
#include <cstddef>

namespace weir::script {

/// All blocks that a runtime takes from the system, in a ring, so that a world is taken down
/// without walking its objects: 64 MiB of them take longer than a stop may.
///
/// The engine keeps small objects in arenas of its own, so blocks are few, and it is the engine
/// that holds to the limit. Threads: one.
class Heap {
 public:
  Heap() { ring_.next = ring_.previous = &ring_; }
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // What the engine calls, with a Heap as `heap`.
  static void* Allocate(void* heap, size_t size);
  static void* AllocateZeroed(void* heap, size_t count, size_t size);
  static void Free(void* heap, void* memory);
  static void* Reallocate(void* heap, void* memory, size_t size);
  static size_t UsableSize(const void* memory);

  size_t size_bytes() const { return size_bytes_; }
  size_t peak_bytes() const { return peak_bytes_; }

 private:
  struct alignas(alignof(std::max_align_t)) Block {
    Block* next = nullptr;
    Block* previous = nullptr;
    size_t size = 0;
  };

  void* Enter(Block* block, size_t size);
  void Leave(Block* block);

  Block ring_;
  size_t size_bytes_ = 0;
  size_t peak_bytes_ = 0;
};

}  // namespace weir::script
