#include "argand/runtime/cuda/pinned_allocator.h"

#include <algorithm>
#include <bit>

#include "argand/base/error.h"
#include "argand/runtime/cuda/memory_report.h"

namespace argand::cuda {
namespace {

constexpr size_t kPage = 4096;                 // pages are locked whole
constexpr size_t kMaxBytes = size_t{1} << 47;  // more than an address space

size_t class_of(size_t nbytes) { return static_cast<size_t>(std::bit_width(std::max(nbytes, kPage) - 1)); }

size_t class_bytes(size_t size_class) { return size_t{1} << size_class; }

}  // namespace

PinnedAllocator::PinnedAllocator(PinnedSource& source) : source_(source), events_(source) {}

PinnedAllocator::~PinnedAllocator() {
  for (const auto& [data, block] : blocks_)
    for (const StreamHandle stream : block->streams) events_.record(block.get(), stream);
  events_.wait([](Block*) {});
  for (const auto& [data, block] : blocks_) source_.free(block->data, class_bytes(block->size_class));
}

void* PinnedAllocator::allocate(size_t nbytes) {
  if (nbytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  Block* block = nbytes <= kMaxBytes ? find_block(class_of(nbytes)) : nullptr;
  ARGAND_CHECK(OutOfMemoryError, block != nullptr, "out of page-locked host memory: tried to allocate ",
               bytes_text(nbytes), "; this process holds ",
               bytes_text(static_cast<size_t>(stats_.allocated_bytes.current)), " in use, ",
               bytes_text(static_cast<size_t>(stats_.reserved_bytes.current)), " in all");
  block->held = true;
  stats_.allocation.increase(1);
  stats_.allocated_bytes.increase(class_bytes(block->size_class));
  return block->data;
}

PinnedAllocator::Block* PinnedAllocator::find_block(size_t size_class) {
  const auto keep_done = [this](Block* block) { keep(block); };
  const auto take_kept = [&]() -> Block* {
    auto& blocks = kept_[size_class];
    if (blocks.empty()) return nullptr;
    Block* block = blocks.back();
    blocks.pop_back();
    return block;
  };
  if (Block* block = take_kept()) return block;
  events_.poll(keep_done);
  if (Block* block = take_kept()) return block;
  if (Block* block = take_new(size_class)) return block;
  events_.wait(keep_done);
  if (Block* block = take_kept()) return block;
  free_kept_blocks();
  return take_new(size_class);
}

PinnedAllocator::Block* PinnedAllocator::take_new(size_t size_class) {
  const size_t nbytes = class_bytes(size_class);
  void* data = source_.allocate(nbytes);
  if (data == nullptr) return nullptr;
  auto block = std::make_unique<Block>();
  block->data = data;
  block->size_class = size_class;
  stats_.segment.increase(1);
  stats_.reserved_bytes.increase(nbytes);
  return (blocks_[data] = std::move(block)).get();
}

void PinnedAllocator::deallocate(void* data) noexcept {
  const std::lock_guard lock(mutex_);
  const auto it = blocks_.find(data);
  if (it == blocks_.end() || !it->second->held) return;
  Block* block = it->second.get();
  block->held = false;
  stats_.allocation.decrease(1);
  stats_.allocated_bytes.decrease(class_bytes(block->size_class));
  let_go(block);
}

void PinnedAllocator::let_go(Block* block) noexcept {
  if (block->held || block->graphs > 0) return;
  for (const StreamHandle stream : block->streams) events_.record(block, stream);
  block->streams.clear();
  if (block->pending_events == 0) keep(block);
}

PinnedAllocator::Block* PinnedAllocator::block_at(const void* data) const {
  auto it = blocks_.upper_bound(data);
  if (it == blocks_.begin()) return nullptr;
  Block* block = (--it)->second.get();
  const auto offset = static_cast<size_t>(static_cast<const char*>(data) - static_cast<const char*>(it->first));
  return offset < class_bytes(block->size_class) && (block->held || block->graphs > 0) ? block : nullptr;
}

void PinnedAllocator::used_on(void* data, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  Block* block = block_at(data);
  if (!block) return;
  auto& streams = block->streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

void* PinnedAllocator::keep_for_graph(const void* data) {
  const std::lock_guard lock(mutex_);
  Block* block = block_at(data);
  if (!block) return nullptr;
  ++block->graphs;
  return block->data;
}

void PinnedAllocator::release_of_graph(void* data) noexcept {
  const std::lock_guard lock(mutex_);
  Block* block = blocks_.find(data)->second.get();
  --block->graphs;
  let_go(block);
}

bool PinnedAllocator::holds(const void* data) const {
  const std::lock_guard lock(mutex_);
  const auto it = blocks_.find(data);
  return it != blocks_.end() && it->second->held;
}

bool PinnedAllocator::contains(const void* data) const {
  const std::lock_guard lock(mutex_);
  return block_at(data) != nullptr;
}

void PinnedAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  events_.wait([this](Block* block) { keep(block); });
  free_kept_blocks();
}

void PinnedAllocator::free_kept_blocks() {
  for (auto& blocks : kept_) {
    for (const Block* block : blocks) {
      const size_t nbytes = class_bytes(block->size_class);
      source_.free(block->data, nbytes);
      stats_.segment.decrease(1);
      stats_.reserved_bytes.decrease(nbytes);
      blocks_.erase(block->data);
    }
    blocks.clear();
  }
}

PinnedStats PinnedAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace argand::cuda
