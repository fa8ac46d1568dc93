// The tapes of streams (Note [Launch tape]), and the functions that put work on them.
#pragma once
#include <cuda_runtime_api.h>

#include <type_traits>

#include "argand/runtime/cuda/compiler.h"
#include "argand/runtime/cuda/launch_tape.h"

namespace argand::cuda {

// Puts work on the tape of the current stream of the current device.
void put_kernel(const Kernel& kernel, const Grid& grid, void* const* arguments, const EpilogueSlot* slot);
// Note [Epilogues]: makes the op part of the last kernel put there; false: nothing was done.
bool put_epilogue(const EpilogueOp& op);
void put_call(IssueCall call, const void* data, size_t nbytes, bool long_work, const EpilogueSlot* slot = nullptr);
// `data` has no padding, or zeros in it: it is compared byte by byte.
template <class Data>
void put_call(IssueCall call, const Data& data, bool long_work, const EpilogueSlot* slot = nullptr) {
  static_assert(std::is_trivially_copyable_v<Data>);
  put_call(call, &data, sizeof data, long_work, slot);
}

// Call it before the first storage is made: tapes must know all memory whose address has left the library.
void watch_exposure();

// Issues what is on the tape of a stream; of all streams of a device.
void issue_tape(int device, cudaStream_t stream, FlushCause cause);
void issue_tapes(int device, FlushCause cause);
// For functions that must not throw: the next call of the runtime reports an error.
void issue_tape_quietly(int device, cudaStream_t stream, FlushCause cause) noexcept;
void issue_tapes_quietly(int device, FlushCause cause) noexcept;

// Whether to delay work; always off with CUDA_LAUNCH_BLOCKING=1 or ARGAND_CUDA_REPLAY=0.
void hold_back_launches(bool on);
// While a stream is captured its work is issued at once.
void set_captured(int device, cudaStream_t stream, bool on);
// Code outside of the library uses the stream: from now on its work is issued at once.
void share_stream(int device, cudaStream_t stream);

// Issues all tapes and drops all graphs, before objects that they refer to are freed.
void forget_graphs();

IssueStats issue_stats();  // of all streams

}  // namespace argand::cuda
