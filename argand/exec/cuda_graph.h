// CUDA graphs for programs, with PyTorch's names and meaning: a sequence of calls, such as a training step, is recorded
// once and issued again as one call, without the time that issuing each call costs.
//
//   cuda::CUDAGraph step;
//   { cuda::GraphCapture capture(step); optimizer.zero_grad(); loss = ...; loss.backward(); optimizer.step(); }
//   for (...) { input.copy_(batch); step.replay(); }
//
// A replay reads and writes the same memory as the capture: inputs are copied into the tensors that were captured, and
// results are found in the tensors that the capture made.  Numbers that were C++ values or 0-dim CPU tensors keep the
// values of the capture, so an optimizer that counts its steps on the host (Adam) repeats one step.  Run the work a few
// times before capturing it, on any stream, so that kernels and plans that are made once exist.
//
// While capturing, these throw Error: waiting for the stream or its device on the host, reading data (item(), copies to
// or from the host for which it waits), ops that run on the CPU, waiting for an event from outside of the capture.  A
// copy of page-locked memory with non_blocking=True is recorded, and the graph keeps that memory.  The capture itself
// goes on.  Random ops draw fresh numbers at each replay, those that eager calls would draw.
//
// Other streams take part by fork and join: a stream of the same device that waits for an event recorded in the
// capture (side.wait_stream(current)) becomes part of it until its end, and the stream of the capture must then wait
// for it (current.wait_stream(side)); else capture_end() throws Error.
//
// Thread safety: one thread at a time for a graph.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "argand/exec/cuda.h"

namespace argand::cuda {

using MempoolId_t = std::pair<uint64_t, uint64_t>;
// A pool for graphs that share memory.  They must be replayed in the order of their captures, and one at a time.
MempoolId_t graph_pool_handle();

bool is_current_stream_capturing();

// The number of replays that the process has started: a replay's writes do not bump versions (Note [Version counter]).
uint64_t replays_started();

class CUDAGraph {
 public:
  CUDAGraph() = default;
  CUDAGraph(CUDAGraph&&) = default;
  CUDAGraph& operator=(CUDAGraph&&) = default;

  // Records the calling thread's work from here to capture_end().  The current stream must not be the default one.
  // Memory comes from `pool`, by default one of the graph's own, and is kept until all graphs of the pool are
  // destroyed. Error if this graph holds a capture already, or the stream is being captured.
  void capture_begin(MempoolId_t pool = {0, 0});
  // Error if a call could not be recorded; the graph is then as after construction.
  void capture_end();
  // Issues the work on the current stream.  Error if there is none.
  void replay();
  // Discards the graph, also an unfinished capture.
  void reset();
  // Error before capture_begin().
  MempoolId_t pool() const;

 private:
  std::unique_ptr<DeviceGraph> graph_;
  MempoolId_t pool_{0, 0};
  bool capturing_ = false;
};

// Captures what is issued in a scope (torch.cuda.graph): waits for the device, makes `stream` (by default one of the
// pool) current, and captures until the end of the scope.  If the scope is left by an exception, or the capture fails
// at its end, the graph is as after construction, and replay() throws; end() throws the failure itself.
class GraphCapture {
 public:
  explicit GraphCapture(CUDAGraph& graph, MempoolId_t pool = {0, 0},
                        const std::optional<Stream>& stream = std::nullopt);
  ~GraphCapture();
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;
  void end();

 private:
  CUDAGraph& graph_;
  StreamGuard on_stream_;
  int exceptions_;
  bool ended_ = false;
};

}  // namespace argand::cuda
