#include "argand/core/storage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "argand/base/error.h"
#include "argand/core/allocating.h"
#include "argand/core/memory_hook.h"

namespace argand {
namespace {

thread_local const StorageImpl* being_allocated = nullptr;

struct AllocatingScope {
  const StorageImpl* before;
  explicit AllocatingScope(const StorageImpl* storage) : before(std::exchange(being_allocated, storage)) {}
  ~AllocatingScope() { being_allocated = before; }
};

}  // namespace

const StorageImpl* allocating_storage() { return being_allocated; }

StorageImpl::~StorageImpl() {
  if (release_) {
    release_(data_);
  } else if (data_ && allocator_) {
    allocator_->deallocate(data_, nbytes_);
    note_memory(device_, nbytes_, -1);
  }
}

void StorageImpl::allocate() {
  if (device_.is_cpu()) {
    data_ = allocator_->allocate(nbytes_);
  } else {
    const AllocatingScope scope(this);
    data_ = allocator_->allocate(nbytes_);
  }
  note_memory(device_, nbytes_, 1);
}

void StorageImpl::expose() {
  exposed_.store(true, std::memory_order_relaxed);
  if (device_.is_cpu()) return;
  if (const auto given = on_device_address_given.load()) given();
}

void StorageImpl::note_use() {
  if (data_ && allocator_) allocator_->used(data_);
}

void StorageImpl::resize(size_t nbytes) {
  ARGAND_CHECK(ValueError, allocator_ != nullptr,
               "resize_: the tensor's memory is borrowed (from_blob) and cannot be resized");
  if (PendingWork* work = pending()) work->flush();
  if (nbytes == nbytes_) return;
  void* fresh = nbytes > 0 ? allocator_->allocate(nbytes) : nullptr;
  if (fresh) note_memory(device_, nbytes, 1);
  if (data_) {
    // Only host memory is ever resized with its contents kept; device backends resize storages not yet written.
    if (fresh && device_.is_cpu()) std::memcpy(fresh, data_, std::min(nbytes, nbytes_));
    allocator_->deallocate(data_, nbytes_);
    note_memory(device_, nbytes_, -1);
  }
  data_ = fresh;
  nbytes_ = nbytes;
}

}  // namespace argand
