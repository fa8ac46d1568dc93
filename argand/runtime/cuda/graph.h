// Recording the work of a stream as a CUDA graph: Note [Graph capture].
#pragma once
#include <memory>

#include "argand/core/cuda_generator.h"
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Note [Graph capture]
// While a stream is captured its launches are recorded and not run.  Three things must not happen then, and are errors
// that say so: waiting for the stream or its device, copies between host and device that the host waits for, and
// waiting for work outside of the capture.
//   A copy with non_blocking=True of page-locked memory is recorded: each replay reads or writes that memory again. The
// graph keeps it, if this library allocated it, so it is not reused until the graph is destroyed; memory that another
// one page-locked must outlive the graph.
//   Streams fork and join by events: one that waits for an event recorded in the capture becomes part of it, and the
// stream that the capture was begun on must have waited for its work in the end.  Its memory comes from the same pool;
// a block that several streams used is kept until the capture ends.
//   Captures use CUDA's relaxed mode: kernels may be compiled and loaded, and memory mapped, during a capture.
//   Memory comes from a private pool of the allocator (Note [Private pools]), which graphs may share; it stays until
// the last of them is destroyed.
//   Random numbers: the kernels recorded read seed and first offset from device memory, where replay() writes what the
// generator then has, and advances the generator by the numbers that the graph draws.  So each replay gives the numbers
// that the same eager calls would give.
std::unique_ptr<DeviceGraph> make_graph();

bool is_capturing();  // the calling thread's current stream, begun on or joined
// Throws an Error that `what` cannot be done, if the stream (any stream of the device) is captured.
void refuse_while_capturing(const StreamRef& stream, const char* what);
void refuse_while_capturing_on(int device, const char* what);
bool is_captured(const StreamRef& stream);
// The graph that the stream is captured for keeps the block of page-locked memory that `host` lies in, if it is ours.
void keep_host_memory(const StreamRef& stream, const void* host);
// The graph that the calling thread's current stream is captured for, if there is one, holds `object` until it is
// destroyed.
void keep_for_graph(std::shared_ptr<const void> object);
// The same as refuse_while_capturing for an event that was recorded in a capture which has not ended.
void refuse_captured(EventHandle event, const char* what);

// Call this before a stream waits for an event: the stream joins the event's capture.  Error if one of the two is
// captured and the other cannot be.
void join_capture(const StreamRef& stream, EventHandle event);
void note_recorded(EventHandle event, const StreamRef& stream);
void note_destroyed(EventHandle event) noexcept;

// Arguments of a kernel that draws: with `state`, in a capture, the seed is state[0], and state[1] is added to the
// offset.
struct PhiloxNumbers {
  uint64_t seed, offset;
  const uint64_t* state;
};
// The next `count` numbers of each thread, for a kernel that is launched on the current stream.
PhiloxNumbers take_numbers(CudaGeneratorImpl& generator, uint64_t count);

}  // namespace argand::cuda
