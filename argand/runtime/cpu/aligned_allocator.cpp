#include "argand/runtime/cpu/aligned_allocator.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "argand/base/error.h"
#include "argand/runtime/cpu/memory_limits.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ARGAND_KEEP_FREED_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ARGAND_KEEP_FREED_BLOCKS 0
#endif
#endif
#ifndef ARGAND_KEEP_FREED_BLOCKS
#define ARGAND_KEEP_FREED_BLOCKS 1
#endif

namespace argand {
namespace {

constexpr size_t kSmallBytes = size_t{64} << 10;  // up to here a thread keeps its own blocks
constexpr size_t kHugePage = size_t{2} << 20;     // from here blocks are mapped, in huge pages where there are any
constexpr size_t kThreadClassBytes = size_t{128} << 10;  // what a thread keeps of one size

// Sizes are rounded up so that a freed block fits later requests: 64, 128, ... 512, then eight steps to each doubling.
// So at most an eighth is wasted, and every size is a multiple of 64.
struct SizeClass {
  explicit SizeClass(size_t wanted) {
    const size_t last = wanted - 1;
    if (wanted <= 512) {
      index = last >> 6;
      bytes = (index + 1) << 6;
    } else {
      const auto log = static_cast<size_t>(std::bit_width(last) - 1);
      const size_t step = last >> (log - 3);  // 8 ... 15
      index = (log - 9) * 8 + step;
      bytes = (step + 1) << (log - 3);
    }
  }
  size_t index;
  size_t bytes;
};
constexpr size_t kSmallClasses = 64;
constexpr size_t kClasses = (46 - 9) * 8 + 16;

void* map_huge(size_t bytes) noexcept {
  const size_t span = bytes + kHugePage;
  void* raw = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* first = static_cast<char*>(raw);
  const size_t skip = (kHugePage - reinterpret_cast<uintptr_t>(first) % kHugePage) % kHugePage;
  char* block = first + skip;
  if (skip != 0) munmap(first, skip);
  munmap(block + bytes, span - skip - bytes);
#ifdef MADV_HUGEPAGE
  madvise(block, bytes, MADV_HUGEPAGE);  // only a wish
#endif
  return block;
}

constexpr bool kKeep = ARGAND_KEEP_FREED_BLOCKS != 0;

// A sanitizer build allocates exactly the requested size, so that a read past the end is detected.
void* system_allocate(size_t wanted, size_t rounded) noexcept {
  if (kKeep && rounded >= kHugePage) return map_huge(rounded);
  void* block = nullptr;
  return posix_memalign(&block, kAllocationAlignment, kKeep ? rounded : wanted) == 0 ? block : nullptr;
}

void system_free(void* block, size_t rounded) noexcept {
  if (kKeep && rounded >= kHugePage) {
    munmap(block, rounded);
  } else {
    std::free(block);
  }
}

// The small blocks a thread has freed.  Trivial, so that reaching it costs no check for construction; ThreadCacheOwner,
// made at the first free, empties it at the end of the thread.
struct ThreadCache {
  struct Free {
    Free* next;
  };
  enum class State : uint8_t { kFresh, kLive, kDead };
  std::array<Free*, kSmallClasses> lists;
  std::array<uint16_t, kSmallClasses> counts;
  State state;

  void* take(size_t index) noexcept {
    Free* block = lists[index];
    if (block == nullptr) return nullptr;
    lists[index] = block->next;
    --counts[index];
    return block;
  }
  bool keep(void* block, const SizeClass& size) noexcept {
    if (state != State::kLive && !open()) return false;
    if (counts[size.index] >= std::clamp<size_t>(kThreadClassBytes / size.bytes, 4, 128)) return false;
    lists[size.index] = new (block) Free{lists[size.index]};
    ++counts[size.index];
    return true;
  }
  void clear() noexcept {
    for (size_t i = 0; i < kSmallClasses; ++i)
      while (void* block = take(i)) std::free(block);
  }
  bool open() noexcept;
};
constinit thread_local ThreadCache t_cache{};

struct ThreadCacheOwner {
  ThreadCacheOwner() noexcept { t_cache.state = ThreadCache::State::kLive; }
  ~ThreadCacheOwner() {
    t_cache.state = ThreadCache::State::kDead;
    t_cache.clear();
  }
};

bool ThreadCache::open() noexcept {
  if (state == State::kDead) return false;  // a destructor that runs later than ours frees a tensor
  static thread_local ThreadCacheOwner owner;
  return state == State::kLive;
}

size_t pool_limit() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const size_t memory = pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
  return std::clamp(memory / 8, size_t{64} << 20, size_t{4} << 30);
}

// The large blocks that were freed, newest last in each size.
class BlockPool {
 public:
  // Never destroyed: static objects may free tensors at any time during exit.
  static BlockPool& get() {
    static BlockPool* const pool = [] {
      alignas(BlockPool) static std::byte place[sizeof(BlockPool)];
      made_ = new (place) BlockPool;
      const auto unlock = [] { made_->mutex_.unlock(); };
      pthread_atfork([] { made_->mutex_.lock(); }, unlock, unlock);
      return made_;
    }();
    return *pool;
  }

  void* take(size_t index, size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    auto& blocks = blocks_[index];
    if (blocks.empty()) return nullptr;
    void* block = blocks.back().block;
    blocks.pop_back();
    kept_ -= bytes;
    return block;
  }

  bool keep(void* block, const SizeClass& size) noexcept {
    if (size.bytes > limit_) return false;
    const std::lock_guard lock(mutex_);
    try {
      blocks_[size.index].push_back({block, size.bytes, ++clock_});
    } catch (const std::bad_alloc&) {
      return false;
    }
    kept_ += size.bytes;
    while (kept_ > limit_) drop_oldest();
    return true;
  }

  size_t kept() noexcept {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    for (auto& blocks : blocks_) {
      for (const Entry& e : blocks) system_free(e.block, e.bytes);
      blocks.clear();
    }
    kept_ = 0;
  }

 private:
  struct Entry {
    void* block;
    size_t bytes;
    uint64_t time;
  };

  void drop_oldest() noexcept {
    std::vector<Entry>* oldest = nullptr;
    for (auto& blocks : blocks_)
      if (!blocks.empty() && (oldest == nullptr || blocks.front().time < oldest->front().time)) oldest = &blocks;
    const Entry e = oldest->front();
    oldest->erase(oldest->begin());
    kept_ -= e.bytes;
    system_free(e.block, e.bytes);
  }

  inline static BlockPool* made_ = nullptr;
  const size_t limit_ = pool_limit();
  std::mutex mutex_;
  size_t kept_ = 0;
  uint64_t clock_ = 0;
  std::array<std::vector<Entry>, kClasses> blocks_;
};

void* reuse(const SizeClass& size) {
  if constexpr (!kKeep) return nullptr;
  return size.bytes <= kSmallBytes ? t_cache.take(size.index) : BlockPool::get().take(size.index, size.bytes);
}

// Programs that retry with a smaller batch look for these words of PyTorch's.
std::string pytorchs_words(size_t bytes) {
  return str(" (DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
             " bytes. Error code 12 (Cannot allocate memory)). ");
}

size_t kept_bytes() noexcept {
  if constexpr (!kKeep) return 0;
  return BlockPool::get().kept();
}

[[noreturn]] void throw_out_of_memory(size_t bytes, const char* why) {
  ARGAND_THROW(OutOfMemoryError, "out of memory: ", why, " ", bytes, " bytes", pytorchs_words(bytes),
               memory_limits_text(read_memory_limits()), "; kept for later use: ", kept_bytes() >> 20, " MiB");
}

[[gnu::noinline]] void* allocate_fresh(size_t wanted, size_t rounded) {
  void* block = system_allocate(wanted, rounded);
  if (block == nullptr) {
    release_cached_memory();
    block = system_allocate(wanted, rounded);
  }
  if (block == nullptr) throw_out_of_memory(wanted, "the system gave no block of");
  return block;
}

}  // namespace

// Some systems grant any amount of memory, and kill the process when it uses the memory.
void ask_for_memory(size_t bytes) {
  const size_t most = most_memory(bytes);
  if (bytes > most && bytes - most > kept_bytes()) throw_out_of_memory(bytes, "this process cannot have");
}

void* allocate_aligned(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > kAlwaysTried) ask_for_memory(bytes);
  const SizeClass size(bytes);
  void* block = reuse(size);
  return block != nullptr ? block : allocate_fresh(bytes, size.bytes);
}

void deallocate_aligned(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  const SizeClass size(bytes);
  if constexpr (kKeep) {
    if (size.bytes <= kSmallBytes ? t_cache.keep(block, size) : BlockPool::get().keep(block, size)) return;
  }
  system_free(block, size.bytes);
}

void release_cached_memory() noexcept {
  if constexpr (kKeep) {
    t_cache.clear();
    BlockPool::get().clear();
  }
}

}  // namespace argand
