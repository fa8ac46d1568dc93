// A block of bytes on one device, shared by all views of it.
//
// Note [Lazy storage]
// A storage may exist before its bytes do: they are allocated when the first instruction that writes them is issued, or
// when their address is requested; any number of threads may request it at once and get the same one.  A size that its
// allocator can never provide is an error when the storage is made.
// While an instruction that writes or reads it waits in an issue window, `pending()` is that window; `data()` flushes
// it first, from whichever thread asks.  A storage whose address was handed out (`exposed`) never waits: instructions
// that read or write it are issued at once, because the holder of the address may look at it or change it at any time.
//
// Note [Lost writes]
// A call has returned before its work is issued, so a failure at that time (a kernel that does not compile, a launch
// that the driver refuses) cannot be reported to its caller.  Storages that the work would have written are marked as
// lost instead: every access to their bytes rethrows the failure, until all bytes are written again (`recover`) or the
// storage is freed.  An op that reads a lost storage fails in the same way, so its results are lost, too.  No other
// storage is affected, with one exception: a device that only knows the addresses in the arguments of a launch that
// failed marks every storage that one of them lies in (core/lost_memory.h), even if the launch would have read it only.
//
// Note [Version counter]
// Every in-place write bumps the version of the storage, so it is shared by all views.  Autograd compares it with the
// version at the time a tensor was saved; `last_writer` is the op that bumped it last, for the message.
//
// Thread safety: any number of threads may read one storage, also for the first time.  The caller must order changes
// (writes of its bytes, resize, swap_bytes) against all other uses, as in PyTorch.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <utility>

#include "argand/base/intrusive_ptr.h"
#include "argand/base/permanent_name.h"
#include "argand/base/shared.h"
#include "argand/core/allocator.h"

namespace argand {

class StorageImpl;

// Work that waits in an issue window (exec implements it).
class PendingWork {
 public:
  // Thread-safe.  Issues the waiting work.  Afterwards `wanted` is not pending here any more, or the call throws the
  // reason. Work that lacks memory and does not concern `wanted` may stay pending.
  virtual void flush(const StorageImpl& wanted) = 0;

 protected:
  ~PendingWork() = default;
};

// Called when an address of device memory leaves the library, after which others may use the memory at any time, and
// when the memory is freed.  The hooks must not throw.
struct ExposureHooks {
  void (*begin)(const Device& device, const void* data, size_t nbytes);
  void (*end)(const Device& device, const void* data, size_t nbytes);
};

class ARGAND_SHARED StorageImpl final : public RefCounted {
 public:
  // `nbytes` bytes of `allocator`, not allocated yet.  OutOfMemoryError if so many can never be had.
  StorageImpl(size_t nbytes, Allocator& allocator)
      : nbytes_(nbytes), allocator_(&allocator), device_(allocator.device()) {
    if (nbytes > allocator.asks_beyond()) [[unlikely]]
      ask_for(nbytes);
  }
  // Bytes owned by someone else; `release` runs when the last owner leaves.  Exposed from the start.
  StorageImpl(void* data, size_t nbytes, Device device, std::function<void(void*)> release);
  ~StorageImpl() override;

  size_t nbytes() const { return nbytes_; }
  const Device& device() const { return device_; }
  // Whether the bytes are borrowed, with a function that releases them at the end.
  bool has_release() const { return release_ != nullptr; }

  // The address of the first byte, after all pending writes; null only for 0 bytes.
  void* data() {
    if (PendingWork* work = pending()) work->flush(*this);
    return issued_data();
  }
  // The same without flushing: for the code that issues the pending instructions.
  void* issued_data() {
    void* data = data_.load(std::memory_order_acquire);
    if (!data && nbytes_ > 0) [[unlikely]]
      data = first_look();
    if (side_streams.load(std::memory_order_relaxed)) [[unlikely]]
      note_use();
    return data;
  }
  bool allocated() const { return data_.load(std::memory_order_acquire) != nullptr; }
  bool pinned() const { return allocator_ && allocator_->pinned(); }
  // Set once any thread works on a stream other than the default one, or a device has lost writes.  From then on every
  // access to an address tells the allocator which stream uses the block, so that nobody has to call record_stream(),
  // and checks whether writes of the block were lost (core/lost_memory.h).
  static inline constinit std::atomic<bool> side_streams{false};
  // Notes that work of the calling thread's current stream uses the bytes.  They are not reused before it is done.
  void note_use();
  // Exchanges the bytes of two allocated storages of one size and one allocator, both of which are still to be issued.
  void swap_bytes(StorageImpl& other) { data_ = other.data_.exchange(data_); }
  // Grows or shrinks.  `copy`, if given, copies bytes within the device, and the common prefix stays; without it the
  // bytes are not set.  ValueError for borrowed memory, and for memory that an array or a capsule shows (`fix_size`).
  using Copy = void (*)(const Device& device, void* to, const void* from, size_t nbytes);
  void resize(size_t nbytes, Copy copy = nullptr);
  // Moves the bytes to memory of another allocator of the same device, for all tensors of the storage.  ValueError as
  // resize(); what `to` throws leaves the storage as it was.  Needs the caller's order against all other uses, too.
  void move_to(Allocator& to, Copy copy);
  // The bytes are shown outside of the library (an array, a capsule), so they are never exchanged for others.
  void fix_size() { fixed_size_.store(true, std::memory_order_relaxed); }
  bool resizable() const { return allocator_ && !fixed_size_.load(std::memory_order_relaxed); }

  // Marks the storage as lost (Note [Lost writes]).  The first reason stays.
  void lose(std::exception_ptr why);
  bool lost() const { return lost_.load(std::memory_order_acquire) != nullptr; }
  // Call this when all bytes are about to be written.
  void recover() {
    if (lost()) [[unlikely]]
      take_back();
  }

  PendingWork* pending() const { return pending_.load(std::memory_order_acquire); }
  void set_pending(PendingWork* work) { pending_.store(work, std::memory_order_release); }
  // Makes `work` the pending work if there is none; returns the work that was pending before.
  PendingWork* claim(PendingWork* work) {
    PendingWork* before = nullptr;
    pending_.compare_exchange_strong(before, work, std::memory_order_acq_rel, std::memory_order_acquire);
    return before;
  }
  bool exposed() const { return exposed_.load(std::memory_order_relaxed); }
  // Call this when the address is about to leave the library.
  void expose();
  static inline constinit std::atomic<const ExposureHooks*> exposure_hooks{nullptr};

  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  PermanentName last_writer() const { return last_writer_.load(std::memory_order_relaxed); }
  void bump_version(PermanentName op) {
    version_.fetch_add(1, std::memory_order_relaxed);
    last_writer_.store(op, std::memory_order_relaxed);
  }

 private:
  struct Lost;

  void ask_for(size_t nbytes);
  void* first_look();
  void take_back();
  void* allocate(size_t nbytes);
  void replace(size_t nbytes, Allocator& next, Copy copy);

  std::atomic<void*> data_{nullptr};  // null while there are no bytes, and while they are lost
  size_t nbytes_ = 0;
  Allocator* allocator_ = nullptr;
  Device device_;
  std::atomic<bool> exposed_{false}, fixed_size_{false};
  std::atomic<uint32_t> version_{0};
  std::atomic<PendingWork*> pending_{nullptr};
  std::atomic<PermanentName> last_writer_{PermanentName()};
  std::atomic<Lost*> lost_{nullptr};
  std::function<void(void*)> release_;
};

// An address, and the context of its deleter, which is not null if there is a deleter.
class DataPtr {
 public:
  DataPtr(void* data, void* context) : data_(data), context_(context) {}
  void* get() const { return data_; }
  void* get_context() const { return context_; }

 private:
  void *data_, *context_;
};

// A counted handle to a storage, with the names of LibTorch's Storage.
class StoragePtr : public intrusive_ptr<StorageImpl> {
 public:
  using intrusive_ptr::intrusive_ptr;
  StoragePtr(intrusive_ptr<StorageImpl> p) noexcept : intrusive_ptr(std::move(p)) {}
  // The address of the first byte; handing it out exposes the storage.
  void* data() const {
    get()->expose();
    return get()->data();
  }
  void* mutable_data() const { return data(); }
  DataPtr data_ptr() const { return {data(), get()->has_release() ? get() : nullptr}; }
  StorageImpl* unsafeGetStorageImpl() const { return get(); }
  bool is_alias_of(const StoragePtr& other) const { return get() == other.get(); }
  size_t nbytes() const { return get()->nbytes(); }
  Device device() const { return get()->device(); }
};
using Storage = StoragePtr;

}  // namespace argand
