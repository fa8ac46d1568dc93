// Streams under the names of c10::cuda; their CUDA handle is `stream()`.
#pragma once
#include "argand/exec/cuda.h"
#include "c10/namespaces.h"

struct CUstream_st;

namespace c10::cuda {

using namespace argand::cuda;

class CUDAStream : public argand::cuda::Stream {
 public:
  CUDAStream(const argand::cuda::Stream& stream) : Stream(stream) {}
  CUstream_st* stream() const { return static_cast<CUstream_st*>(handle()); }
  operator CUstream_st*() const { return stream(); }
};

inline CUDAStream getStreamFromPool(bool is_high_priority = false, DeviceIndex device = -1) {
  return stream_from_pool(device, is_high_priority ? -1 : 0);
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) { return default_stream(device); }
inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) { return current_stream(device); }
inline CUDAStream getStreamFromExternal(CUstream_st* stream, DeviceIndex device) {
  return external_stream(stream, device);
}
inline void setCurrentCUDAStream(const CUDAStream& stream) { set_stream(stream); }

}  // namespace c10::cuda

namespace at::cuda {
using namespace c10::cuda;
using CUDAEvent = argand::cuda::Event;
}  // namespace at::cuda
