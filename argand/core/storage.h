// A block of bytes on one device, shared by all views of it.
//
// Note [Lazy storage]
// A storage may exist before its bytes do: they are allocated when the first instruction that writes them is issued.
// While an instruction that writes or reads it waits in an issue window, `pending()` is that window; `data()` flushes
// it first, from whichever thread asks.  A storage whose address was handed out (`exposed`) never waits: instructions
// that read or write it are issued at once, because the holder of the address may look at it or change it at any time.
//
// Note [Version counter]
// Every in-place write bumps the version of the storage, so it is shared by all views.  Autograd compares it with the
// version at the time a tensor was saved; `last_writer` is the op that bumped it last, for the message.
#pragma once
#include <atomic>
#include <functional>
#include <utility>

#include "argand/base/intrusive_ptr.h"
#include "argand/base/shared.h"
#include "argand/core/allocator.h"

namespace argand {

// Work that waits in an issue window (exec implements it).
class PendingWork {
 public:
  virtual void flush() = 0;  // thread-safe; afterwards nothing that was pending before the call still is

 protected:
  ~PendingWork() = default;
};

class ARGAND_SHARED StorageImpl final : public RefCounted {
 public:
  // `nbytes` bytes of `allocator`, not allocated yet.
  StorageImpl(size_t nbytes, Allocator& allocator)
      : nbytes_(nbytes), allocator_(&allocator), device_(allocator.device()) {}
  // Bytes owned by someone else; `release` runs when the last owner leaves.  Exposed from the start.
  StorageImpl(void* data, size_t nbytes, Device device, std::function<void(void*)> release)
      : data_(data), nbytes_(nbytes), device_(device), exposed_(true), release_(std::move(release)) {}
  ~StorageImpl() override;

  size_t nbytes() const { return nbytes_; }
  const Device& device() const { return device_; }
  // Whether the bytes are someone else's, with a function to call at the end.
  bool has_release() const { return release_ != nullptr; }

  // Address of the first byte, with every pending write done; null only for 0 bytes.
  void* data() {
    if (PendingWork* work = pending()) work->flush();
    return issued_data();
  }
  // The same without flushing: for the code that issues the pending instructions.
  void* issued_data() {
    if (!data_ && nbytes_ > 0) allocate();
    if (side_streams.load(std::memory_order_relaxed)) [[unlikely]]
      note_use();
    return data_;
  }
  bool allocated() const { return data_ != nullptr; }
  bool pinned() const { return allocator_ && allocator_->pinned(); }
  // Set once any thread works on another stream than the default one.  From then on every look at an address tells the
  // allocator which stream uses the block, so that nobody has to call record_stream().
  static inline constinit std::atomic<bool> side_streams{false};
  // Work of the calling thread's current stream uses the bytes: they are not given away before it is done.
  void note_use();
  // Exchanges the bytes of two allocated storages of one size and one allocator, both of which are still to be issued.
  void swap_bytes(StorageImpl& other) { std::swap(data_, other.data_); }
  // Grows or shrinks, keeping the common prefix of the bytes.  ValueError for borrowed memory.
  void resize(size_t nbytes);

  PendingWork* pending() const { return pending_.load(std::memory_order_acquire); }
  void set_pending(PendingWork* work) { pending_.store(work, std::memory_order_release); }
  // Makes `work` what is pending if nothing is; returns what was pending before.
  PendingWork* claim(PendingWork* work) {
    PendingWork* before = nullptr;
    pending_.compare_exchange_strong(before, work, std::memory_order_acq_rel, std::memory_order_acquire);
    return before;
  }
  bool exposed() const { return exposed_.load(std::memory_order_relaxed); }
  void expose();
  // Called when an address of device memory leaves the library: whoever has it may use it from then on at any time.
  static inline constinit std::atomic<void (*)()> on_device_address_given{nullptr};

  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  const char* last_writer() const { return last_writer_.load(std::memory_order_relaxed); }
  void bump_version(const char* op) {
    version_.fetch_add(1, std::memory_order_relaxed);
    last_writer_.store(op, std::memory_order_relaxed);
  }

 private:
  void allocate();

  void* data_ = nullptr;
  size_t nbytes_ = 0;
  Allocator* allocator_ = nullptr;
  Device device_;
  std::atomic<bool> exposed_{false};
  std::atomic<uint32_t> version_{0};
  std::atomic<PendingWork*> pending_{nullptr};
  std::atomic<const char*> last_writer_{""};
  std::function<void(void*)> release_;
};

// An address, and what its deleter needs: not null where there is one.
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
