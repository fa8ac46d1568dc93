#include "argand/runtime/cpu/shared_blocks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "argand/base/error.h"

namespace argand {
namespace {

using File = std::pair<dev_t, ino_t>;

File file_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? File(status.st_dev, status.st_ino) : File();
}

void* map(int descriptor, size_t nbytes) noexcept {
  void* data = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return data == MAP_FAILED ? nullptr : data;
}

// The blocks that this process has mapped, by address and by file.
class Blocks final : public Allocator {
 public:
  // Never destroyed: tensors may outlive static objects.
  static Blocks& get() {
    static Blocks* const blocks = [] {
      made_ = new Blocks;
      const auto unlock = [] { made_->mutex_.unlock(); };
      pthread_atfork([] { made_->mutex_.lock(); }, unlock, unlock);
      return made_;
    }();
    return *blocks;
  }

  void* allocate(size_t nbytes) override {
    if (nbytes == 0) return nullptr;
    const int descriptor = memfd_create("argand", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void* data = nullptr;
    if (descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(nbytes)) == 0) {
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);  // no process can take it from those that map it
      data = map(descriptor, nbytes);
    }
    if (!data) {
      const int why = errno;
      if (descriptor >= 0) close(descriptor);
      ARGAND_CHECK(OutOfMemoryError, false, "share_memory_: the system gave no shared memory of ", nbytes,
                   " bytes: ", std::strerror(why));
    }
    add(data, descriptor, nullptr);
    return data;
  }

  // Also for blocks of other processes, when their storage is destroyed.  find() relies on the lock.
  void deallocate(void* data, size_t nbytes) noexcept override {
    if (!data) return;
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_address_.find(data);
      if (found != by_address_.end()) {
        const auto same = by_file_.find(found->second.file);
        if (same != by_file_.end() && same->second == data) by_file_.erase(same);
        close(found->second.descriptor);
        by_address_.erase(found);
      }
    }
    munmap(data, nbytes);
  }

  Device device() const override { return kCPU; }

  void add(void* data, int descriptor, StorageImpl* owner) {
    const File file = file_of(descriptor);
    const std::lock_guard lock(mutex_);
    by_address_[data] = {descriptor, file, owner};
    by_file_[file] = data;
  }

  // The descriptor of a storage's memory; notes that it is this storage's.
  int descriptor_of(StorageImpl& storage) {
    void* data = storage.allocated() ? storage.data() : nullptr;
    const std::lock_guard lock(mutex_);
    const auto found = by_address_.find(data);
    if (found == by_address_.end()) return -1;
    found->second.owner = &storage;
    return found->second.descriptor;
  }

  // A storage's destructor removes its block from the table, so an owner that is found there still exists.
  StoragePtr find(int descriptor) {
    const std::lock_guard lock(mutex_);
    const auto address = by_file_.find(file_of(descriptor));
    if (address == by_file_.end()) return {};
    return intrusive_ptr<StorageImpl>::if_alive(by_address_.at(address->second).owner);
  }

 private:
  struct Block {
    int descriptor;
    File file;
    StorageImpl* owner;  // null until descriptor_of() is asked
  };

  inline static Blocks* made_ = nullptr;
  std::mutex mutex_;
  std::map<const void*, Block> by_address_;
  std::map<File, const void*> by_file_;
};

}  // namespace

int shared_descriptor(StorageImpl& storage) { return Blocks::get().descriptor_of(storage); }

void share_bytes(StorageImpl& storage) {
  if (storage.nbytes() == 0) return;
  if (shared_descriptor(storage) < 0)
    storage.move_to(Blocks::get(),
                    [](const Device&, void* at, const void* from, size_t nbytes) { std::memcpy(at, from, nbytes); });
  storage.data();    // allocates the bytes if they were not written yet
  storage.expose();  // other processes may write at any time
  shared_descriptor(storage);
}

StoragePtr map_shared(int descriptor, size_t nbytes) {
  Blocks& blocks = Blocks::get();
  if (StoragePtr same = blocks.find(descriptor)) {
    ARGAND_CHECK(ValueError, same->nbytes() >= nbytes, "shared memory: expected ", nbytes, " bytes, got ",
                 same->nbytes());
    close(descriptor);
    return same;
  }
  struct stat status {};
  ARGAND_CHECK(ValueError,
               nbytes > 0 && fstat(descriptor, &status) == 0 && static_cast<size_t>(status.st_size) >= nbytes,
               "shared memory: expected ", nbytes, " bytes, got ", status.st_size);
  void* data = map(descriptor, nbytes);
  ARGAND_CHECK(ValueError, data, "shared memory: ", nbytes, " bytes cannot be mapped: ", std::strerror(errno));
  auto* storage =
      new StorageImpl(data, nbytes, kCPU, [nbytes](void* bytes) { Blocks::get().deallocate(bytes, nbytes); });
  blocks.add(data, descriptor, storage);
  return StoragePtr(storage);
}

}  // namespace argand
