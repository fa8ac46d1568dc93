#include "argand/runtime/cuda/touched_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "argand/core/lost_memory.h"
#include "argand/core/storage.h"

namespace argand::cuda {
namespace {

template <class F>
bool any_word(const char* words, size_t nbytes, F f) {
  for (size_t i = 0; i + 8 <= nbytes; i += 8) {
    uintptr_t word;
    std::memcpy(&word, words + i, 8);
    if (f(word)) return true;
  }
  return false;
}

// Ranges may be the same or overlap: several tensors can show one block of another library.
class ExposedMemory {
 public:
  void add(uintptr_t from, size_t nbytes) {
    const std::lock_guard lock(mutex_);
    ends_.emplace(from, from + nbytes);
    longest_ = std::max(longest_, nbytes);
    bound();
  }
  void remove(uintptr_t from, size_t nbytes) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = ends_.equal_range(from);
    const auto found = std::find_if(first, last, [&](const auto& range) { return range.second == from + nbytes; });
    if (found != last) ends_.erase(found);
    if (ends_.empty()) longest_ = 0;
    bound();
  }
  bool touched_by(const char* words, size_t nbytes) {
    const uintptr_t first = first_.load(std::memory_order_acquire), last = last_.load(std::memory_order_acquire);
    if (first == last) return false;
    return any_word(words, nbytes, [&](uintptr_t word) { return word >= first && word < last && holds(word); });
  }

 private:
  bool holds(uintptr_t address) {
    const std::lock_guard lock(mutex_);
    for (auto range = ends_.upper_bound(address); range != ends_.begin();) {
      --range;
      if (address < range->second) return true;
      if (address - range->first >= longest_) return false;  // ranges that begin earlier end earlier than the address
    }
    return false;
  }
  // All exposed memory lies in [first_, last_).
  void bound() {
    last_.store(ends_.empty() ? 0 : ends_.rbegin()->first + longest_, std::memory_order_release);
    first_.store(ends_.empty() ? 0 : ends_.begin()->first, std::memory_order_release);
  }

  std::mutex mutex_;
  std::multimap<uintptr_t, uintptr_t> ends_;
  size_t longest_ = 0;  // of all ranges since there were none
  std::atomic<uintptr_t> first_{0}, last_{0};
};

class LostMemory {
 public:
  void add(const char* words, size_t nbytes, const std::exception_ptr& why) {
    {
      const std::lock_guard lock(mutex_);
      any_word(words, nbytes, [&](uintptr_t word) {
        if (word) reasons_.emplace(word, why);
        return false;
      });
      any_.store(true, std::memory_order_release);
    }
    lost_memory_hook.store([](const Device&, const void* data, size_t n) { return get().at(data, n); });
    StorageImpl::side_streams.store(true);
  }
  std::exception_ptr at(const void* data, size_t nbytes) {
    if (!any_.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(mutex_);
    const auto from = reinterpret_cast<uintptr_t>(data);
    const auto found = reasons_.lower_bound(from);
    if (found == reasons_.end() || found->first >= from + nbytes) return nullptr;
    const std::exception_ptr why = found->second;
    remove(from, nbytes);  // the storage knows from now on
    return why;
  }
  void forget(const void* data, size_t nbytes) noexcept {
    if (!any_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    remove(reinterpret_cast<uintptr_t>(data), nbytes);
  }
  static LostMemory& get() {
    static LostMemory& memory = *new LostMemory;
    return memory;
  }

 private:
  void remove(uintptr_t from, size_t nbytes) {
    reasons_.erase(reasons_.lower_bound(from), reasons_.lower_bound(from + nbytes));
    any_.store(!reasons_.empty(), std::memory_order_release);
  }

  std::mutex mutex_;
  std::map<uintptr_t, std::exception_ptr> reasons_;
  std::atomic<bool> any_{false};
};

ExposedMemory& exposed() {
  static ExposedMemory& memory = *new ExposedMemory;
  return memory;
}

}  // namespace

void expose_memory(const void* data, size_t nbytes) { exposed().add(reinterpret_cast<uintptr_t>(data), nbytes); }
void unexpose_memory(const void* data, size_t nbytes) { exposed().remove(reinterpret_cast<uintptr_t>(data), nbytes); }
bool touches_exposed_memory(const char* words, size_t nbytes) { return exposed().touched_by(words, nbytes); }

void lose_memory(const char* words, size_t nbytes, const std::exception_ptr& why) {
  LostMemory::get().add(words, nbytes, why);
}
void forget_lost_memory(const void* data, size_t nbytes) noexcept { LostMemory::get().forget(data, nbytes); }

}  // namespace argand::cuda
