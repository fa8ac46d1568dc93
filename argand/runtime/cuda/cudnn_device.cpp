#include "argand/runtime/cuda/cudnn_device.h"

#include "argand/runtime/cuda/cudnn.h"

#if ARGAND_CUDNN

#include <atomic>

#include "argand/base/error.h"
#include "argand/base/log.h"
#include "argand/core/cudnn_enabled.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace cudnn {
namespace {

[[noreturn]] void throw_cudnn_error(cudnnStatus_t status, const char* what) {
  char message[512] = "";
  api().get_last_error_string(message, sizeof message);
  ARGAND_THROW(DeviceError, "cuDNN: ", what, ": ", api().get_error_string(status), " ", message);
}

}  // namespace

Handle::Handle(int device) : device_(device) {
  if (const cudnnStatus_t status = api().create(&handle_); status != CUDNN_STATUS_SUCCESS)
    throw_cudnn_error(status, "cudnnCreate");
}

Handle& current_handle() {
  static constinit std::atomic<Handle*> handles[kMaxDevices] = {};
  static std::mutex& mutex = *new std::mutex;
  const int device = thread_device();
  if (Handle* known = handles[device].load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(mutex);
  if (!handles[device].load()) handles[device].store(new Handle(device));
  return *handles[device].load();
}

void execute(const char* what, Handle& handle, const Plan& plan, int64_t count, const int64_t* names,
             const void* const* data, void* workspace, void* stream) {
  const Handle::Lock lock(handle);
  try {
    check(api().set_stream(lock.get(), static_cast<cudaStream_t>(stream)));
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, names);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, data);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
    pack.finalize();
    check(api().execute(lock.get(), plan.plan[0].handle(), pack.handle()));
  } catch (const Refused& refused) {
    throw_cudnn_error(refused.status, what);
  }
}

}  // namespace cudnn

int loaded_cudnn_version() {
  const DeviceCalls calls;
  return find_cudnn() ? static_cast<int>(cudnn::api().get_version()) : 0;
}

bool has_cudnn() {
  if (dry_run() || !cudnn_enabled()) return false;
  const DeviceCalls calls;
  if (find_cudnn()) return true;
  ARGAND_WARN_ONCE("libcudnn.so.", CUDNN_MAJOR,
                   " was not found; convolutions and attention run on kernels that are slower");
  return false;
}

}  // namespace argand::cuda

#else

namespace argand::cuda {

int loaded_cudnn_version() { return 0; }
bool has_cudnn() { return false; }

}  // namespace argand::cuda

#endif
