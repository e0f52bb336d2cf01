#include "weir/script/heap_internal.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "weir/base/assert.h"

namespace weir::script {

Heap::~Heap() {
  while (ring_.next != &ring_) {
    Block* block = ring_.next;
    Leave(block);
    std::free(block);
  }
  WEIR_ASSERT(size_bytes_ == 0);
}

void* Heap::Enter(Block* block, size_t size) {
  if (block == nullptr) return nullptr;
  block->size = size;
  block->next = &ring_;
  block->previous = ring_.previous;
  ring_.previous->next = block;
  ring_.previous = block;
  size_bytes_ += size;
  peak_bytes_ = std::max(peak_bytes_, size_bytes_);
  return block + 1;
}

void Heap::Leave(Block* block) {
  block->previous->next = block->next;
  block->next->previous = block->previous;
  size_bytes_ -= block->size;
}

void* Heap::Allocate(void* heap, size_t size) {
  if (size > SIZE_MAX - sizeof(Block)) return nullptr;
  return static_cast<Heap*>(heap)->Enter(static_cast<Block*>(std::malloc(sizeof(Block) + size)),
                                         size);
}

void* Heap::AllocateZeroed(void* heap, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - sizeof(Block)) {
    return nullptr;
  }
  return static_cast<Heap*>(heap)->Enter(static_cast<Block*>(std::calloc(1, sizeof(Block) + bytes)),
                                         bytes);
}

void Heap::Free(void* heap, void* memory) {
  if (memory == nullptr) return;
  Block* block = static_cast<Block*>(memory) - 1;
  static_cast<Heap*>(heap)->Leave(block);
  std::free(block);
}

void* Heap::Reallocate(void* heap, void* memory, size_t size) {
  if (memory == nullptr) return size == 0 ? nullptr : Allocate(heap, size);
  if (size == 0) {
    Free(heap, memory);
    return nullptr;
  }
  if (size > SIZE_MAX - sizeof(Block)) return nullptr;
  Heap* self = static_cast<Heap*>(heap);
  Block* block = static_cast<Block*>(memory) - 1;
  const size_t before = block->size;
  self->Leave(block);
  auto* grown = static_cast<Block*>(std::realloc(block, sizeof(Block) + size));
  if (grown == nullptr) {
    self->Enter(block, before);
    return nullptr;
  }
  return self->Enter(grown, size);
}

size_t Heap::UsableSize(const void* memory) {
  return memory == nullptr ? 0 : (static_cast<const Block*>(memory) - 1)->size;
}

}  // namespace weir::script
