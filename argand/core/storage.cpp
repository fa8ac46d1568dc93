#include "argand/core/storage.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "argand/base/error.h"
#include "argand/base/lock_stripes.h"
#include "argand/core/allocating.h"
#include "argand/core/late_bytes.h"
#include "argand/core/lost_memory.h"
#include "argand/core/memory_hook.h"
#include "argand/core/watched_bytes.h"

namespace argand {

struct StorageImpl::Lost {
  std::exception_ptr why;
  void* data;  // what was there before, if anything
};

namespace {

thread_local const StorageImpl* being_allocated = nullptr;

struct AllocatingScope {
  const StorageImpl* before;
  explicit AllocatingScope(const StorageImpl* storage) : before(std::exchange(being_allocated, storage)) {}
  ~AllocatingScope() { being_allocated = before; }
};

// Serialises first accesses and lost writes of one storage.  Both are rare, so a few locks serve all storages.  A lock
// is never held while memory is allocated: running out of memory issues and frees work of other storages.
std::mutex& lock_of(const StorageImpl* storage) {
  static auto& locks = *new LockStripes;
  return locks.of(storage);
}

const LateBytes* late_bytes_of(const std::function<void(void*)>& release) {
  return release ? release.target<LateBytes>() : nullptr;
}

}  // namespace

const StorageImpl* allocating_storage() { return being_allocated; }

StorageImpl::StorageImpl(void* data, size_t nbytes, Device device, std::function<void(void*)> release)
    : data_(data), nbytes_(nbytes), device_(device), exposed_(true), release_(std::move(release)) {
  const ExposureHooks* hooks = device.is_cpu() || !data ? nullptr : exposure_hooks.load();
  if (hooks) hooks->begin(device, data, nbytes);
}

StorageImpl::~StorageImpl() {
  void* data = data_.load(std::memory_order_relaxed);
  if (const Lost* lost = lost_.load(std::memory_order_relaxed)) {
    data = lost->data;
    delete lost;
  }
  if (data && exposed() && !device_.is_cpu())
    if (const ExposureHooks* hooks = exposure_hooks.load()) hooks->end(device_, data, nbytes_);
  if (release_) {
    release_(data);
  } else if (data && allocator_) {
    allocator_->deallocate(data, nbytes_);
    note_memory(device_, data, nbytes_, -1);
  }
}

void* StorageImpl::allocate(size_t nbytes) {
  if (const LateBytes* late = late_bytes_of(release_)) return late->make();
  if (device_.is_cpu()) return allocator_->allocate(nbytes);
  const AllocatingScope scope(this);
  return allocator_->allocate(nbytes);
}

void StorageImpl::ask_for(size_t nbytes) {
  const AllocatingScope scope(this);
  allocator_->ask(nbytes);
}

void* StorageImpl::first_look() {
  const auto rethrow_if_lost = [&] {
    if (const Lost* lost = lost_.load(std::memory_order_acquire)) std::rethrow_exception(lost->why);
  };
  {
    const std::lock_guard lock(lock_of(this));
    rethrow_if_lost();
  }
  if (const auto* watched = release_ ? release_.target<WatchedRelease>() : nullptr) return watched->bytes->look();
  void* fresh = allocate(nbytes_);
  if (!fresh) return nullptr;  // a meta tensor's
  void* there = nullptr;
  {
    const std::lock_guard lock(lock_of(this));
    const bool first = !lost() && data_.compare_exchange_strong(there, fresh, std::memory_order_acq_rel);
    if (first) {
      note_memory(device_, fresh, nbytes_, 1);
      return fresh;
    }
  }
  // Another thread allocated it first.
  if (const LateBytes* late = late_bytes_of(release_))
    late->give_back(fresh);
  else
    allocator_->deallocate(fresh, nbytes_);
  rethrow_if_lost();
  return there;
}

void StorageImpl::lose(std::exception_ptr why) {
  const std::lock_guard lock(lock_of(this));
  if (lost()) return;
  auto* lost = new Lost{std::move(why), nullptr};
  lost->data = data_.exchange(nullptr, std::memory_order_acq_rel);
  lost_.store(lost, std::memory_order_release);
}

void StorageImpl::take_back() {
  const std::lock_guard lock(lock_of(this));
  const Lost* lost = lost_.exchange(nullptr, std::memory_order_acq_rel);
  if (!lost) return;
  data_.store(lost->data, std::memory_order_release);
  delete lost;
}

void StorageImpl::expose() {
  if (device_.is_cpu()) return exposed_.store(true, std::memory_order_relaxed);
  if (exposed()) return;
  void* bytes = data();  // what this throws leaves the storage as it was
  if (exposed_.exchange(true, std::memory_order_relaxed) || !bytes) return;
  const ExposureHooks* hooks = exposure_hooks.load();
  if (hooks) hooks->begin(device_, bytes, nbytes_);
}

void StorageImpl::note_use() {
  void* data = data_.load(std::memory_order_acquire);
  if (!data || !allocator_) return;
  allocator_->used(data);
  if (device_.is_cpu()) return;
  const LostMemoryHook hook = lost_memory_hook.load(std::memory_order_acquire);
  if (!hook) return;
  if (const std::exception_ptr why = hook(device_, data, nbytes_)) {
    lose(why);
    std::rethrow_exception(why);
  }
}

void StorageImpl::resize(size_t nbytes, Copy copy) {
  ARGAND_CHECK(ValueError, allocator_ != nullptr,
               "resize_: the tensor's memory is borrowed (from_blob) and cannot be resized");
  if (nbytes != nbytes_) replace(nbytes, *allocator_, copy);
}

void StorageImpl::move_to(Allocator& to, Copy copy) {
  ARGAND_ASSERT(device_ == to.device());
  ARGAND_CHECK(ValueError, allocator_ != nullptr, "the tensor's memory is borrowed (from_blob) and cannot be moved");
  if (&to != allocator_) replace(nbytes_, to, copy);
}

// Replaces the bytes by others of the same or another allocator.
void StorageImpl::replace(size_t nbytes, Allocator& next, Copy copy) {
  ARGAND_CHECK(ValueError, resizable(),
               "resize_: Trying to resize storage that is not resizable: an array or a capsule shows its memory");
  if (PendingWork* work = pending()) work->flush(*this);
  const void* kept = copy && (allocated() || lost()) ? issued_data() : nullptr;  // throws if the bytes are lost
  void* fresh = nbytes == 0 ? nullptr : &next == allocator_ ? allocate(nbytes) : next.allocate(nbytes);
  if (fresh) note_memory(device_, fresh, nbytes, 1);
  if (kept && fresh) try {
      copy(device_, fresh, kept, std::min(nbytes, nbytes_));
    } catch (...) {
      next.deallocate(fresh, nbytes);
      note_memory(device_, fresh, nbytes, -1);
      throw;
    }
  recover();
  if (void* data = data_.exchange(fresh, std::memory_order_acq_rel)) {
    // The address of the new bytes has not left the library.
    if (exposed_.exchange(false, std::memory_order_relaxed) && !device_.is_cpu())
      if (const ExposureHooks* hooks = exposure_hooks.load()) hooks->end(device_, data, nbytes_);
    allocator_->deallocate(data, nbytes_);
    note_memory(device_, data, nbytes_, -1);
  }
  allocator_ = &next;
  nbytes_ = nbytes;
}

}  // namespace argand
