// StreamEvents by the CUDA runtime; the current device is that of the stream.
#pragma once
#include <cuda_runtime_api.h>

#include "argand/runtime/cuda/device_memory.h"
#include "argand/runtime/cuda/stream_tapes.h"

namespace argand::cuda {

// Base: an interface that is StreamEvents and more.
template <class Base>
class WithCudaEvents : public Base {
 public:
  void* record_event(StreamHandle stream) noexcept override {
    int device = 0;
    cudaGetDevice(&device);
    issue_tape_quietly(device, static_cast<cudaStream_t>(stream), FlushCause::kMemory);
    cudaEvent_t event = nullptr;
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) return nullptr;
    if (cudaEventRecord(event, static_cast<cudaStream_t>(stream)) == cudaSuccess) return event;
    cudaEventDestroy(event);
    return nullptr;
  }
  bool event_done(void* event) noexcept final {
    return cudaEventQuery(static_cast<cudaEvent_t>(event)) != cudaErrorNotReady;
  }
  void wait_event(void* event) noexcept final { cudaEventSynchronize(static_cast<cudaEvent_t>(event)); }
  void drop_event(void* event) noexcept final { cudaEventDestroy(static_cast<cudaEvent_t>(event)); }
};

}  // namespace argand::cuda
