// Memory of GPUs that several processes use: argand/multiprocessing/gpu_memory.py speaks with the other processes.
#include "argand/runtime/shared_memory.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <vector>

#include "argand/base/fork_mutex.h"
#include "argand/exec/cuda.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/functions.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

// Storages of memory of other processes.  One that nobody holds any more waits here, mapped, until unmap_released():
// whoever drops the last tensor neither waits for the device nor speaks with another process.
class Received {
 public:
  void add(void* data, StorageImpl* storage) {
    const std::lock_guard lock(mutex);
    alive_[data] = storage;
  }
  intrusive_ptr<StorageImpl> find(void* data) {
    const std::lock_guard lock(mutex);
    const auto found = alive_.find(data);
    return found == alive_.end() ? nullptr : intrusive_ptr<StorageImpl>::if_alive(found->second);
  }
  // By the storage's destructor.
  void release(DeviceIndex device, void* data) noexcept {
    const std::lock_guard lock(mutex);
    alive_.erase(data);
    released_.push_back({device, data});
    const char what = 'r';
    if (wake_ < 0 || process_ != getpid()) return;  // a forked child has others' descriptors under such numbers
    if (write(wake_, &what, 1) < 0) return;         // a full pipe wakes, too
  }
  void set_wake(int descriptor) {
    const std::lock_guard lock(mutex);
    wake_ = descriptor;
    process_ = getpid();
  }
  std::vector<void*> unmap_released(size_t& left) {
    std::vector<std::pair<DeviceIndex, void*>> all, kept;
    {
      const std::lock_guard lock(mutex);
      all.swap(released_);
    }
    std::vector<void*> done;
    for (const auto& [device, data] : all) {
      if (memory_sharing().unmap(device, data))
        done.push_back(data);
      else
        kept.emplace_back(device, data);
    }
    const std::lock_guard lock(mutex);
    released_.insert(released_.end(), kept.begin(), kept.end());
    left = kept.size();
    return done;
  }
  static Received& get() {
    static Received& received = *new Received;
    return received;
  }

 private:
  static constinit inline ProcessMutex mutex;
  std::map<void*, StorageImpl*> alive_;
  std::vector<std::pair<DeviceIndex, void*>> released_;
  int wake_ = -1;  // a pipe that is written without waiting
  pid_t process_ = -1;
};

DeviceIndex index_of(const Tensor& t) { return t.device().index(); }

// The storage leaves the library, with all that was to be written to it; the address of its first byte.
uintptr_t prepare(const Tensor& t) {
  const NoGil no_gil;
  StorageImpl& storage = *t.storage();
  storage.expose();
  storage.fix_size();
  cuda::synchronize(index_of(t));
  return reinterpret_cast<uintptr_t>(storage.data());
}

nb::tuple share(const Tensor& t) {
  SharedMemory memory;
  {
    const NoGil no_gil;
    memory = memory_sharing().share(index_of(t), t.storage()->data(), t.storage()->nbytes());
  }
  nb::list pieces;
  for (const SharedPiece& piece : memory.pieces)
    pieces.append(nb::make_tuple(piece.descriptor, piece.start, piece.nbytes));
  return nb::make_tuple(memory.device, memory.offset, pieces);
}

Tensor bytes_of(intrusive_ptr<StorageImpl> storage) {
  const auto nbytes = static_cast<int64_t>(storage->nbytes());
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims{nbytes}, Dims{1}, 0, kUInt8));
}

// A tensor of the bytes.
Tensor map(std::string device, size_t offset, const nb::list& pieces, size_t nbytes) {
  SharedMemory memory{std::move(device), {}, offset};
  for (const nb::handle item : pieces) {
    const auto piece = nb::cast<nb::tuple>(item);
    memory.pieces.push_back({nb::cast<int>(piece[0]), nb::cast<size_t>(piece[1]), nb::cast<size_t>(piece[2])});
  }
  ARGAND_CHECK(ValueError, offset + nbytes <= memory.mapped_bytes(), "expected pieces of ", offset + nbytes,
               " bytes or more, got ", memory.mapped_bytes());
  const NoGil no_gil;
  const auto [index, data] = memory_sharing().map(memory);
  auto storage = make_intrusive<StorageImpl>(data, nbytes, Device(kCUDA, index),
                                             [index = index](void* at) { Received::get().release(index, at); });
  Received::get().add(data, storage.get());
  return bytes_of(std::move(storage));
}

nb::object find(uintptr_t data) {
  auto storage = Received::get().find(reinterpret_cast<void*>(data));
  return storage ? nb::cast(bytes_of(std::move(storage))) : nb::none();
}

// Unmaps memory that nobody holds; returns its addresses, and how many mappings wait for the end of a capture.
nb::tuple unmap_released() {
  std::vector<void*> done;
  size_t left = 0;
  {
    const NoGil no_gil;
    done = Received::get().unmap_released(left);
  }
  nb::list out;
  for (void* data : done) out.append(reinterpret_cast<uintptr_t>(data));
  return nb::make_tuple(out, left);
}

}  // namespace

void add_shared_memory(nb::module_& module) {
  nb::module_ m = module.def_submodule("_shared_memory");
  m.def("can_share", [](const Tensor& t) { return memory_sharing().can_share(index_of(t)); });
  m.def("prepare", prepare);
  m.def("share", share);
  m.def("map", map);
  m.def("find", find);
  m.def("unmap_released", unmap_released);
  m.def("set_wake", [](int descriptor) { Received::get().set_wake(descriptor); });
}

}  // namespace argand::python
