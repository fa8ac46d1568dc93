#include "argand/runtime/cuda/graph.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "argand/base/error.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/launch.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/current_op.h"

namespace argand::cuda {
namespace {

constexpr const char* kSetState = R"(
#include "argand/runtime/cuda/early_start.cuh"
namespace argand {
__global__ void set_state(unsigned long long* state, unsigned long long seed, unsigned long long offset) {
  await_earlier_work();
  state[0] = seed;
  state[1] = offset;
}
}  // namespace argand
)";

Kernel set_state_kernel() { return compile({kSetState, "argand::set_state"}); }

class Graph final : public DeviceGraph {
 public:
  ~Graph() override;
  void begin(GraphPoolId pool) override;
  void end() override;
  void replay() override;

  // Whether the stream is in the capture: the first is where it began, the others joined it.  With captures_mutex().
  bool has(const StreamRef& stream) const {
    return std::find(streams_.begin(), streams_.end(), stream) != streams_.end();
  }
  bool is_on(int device) const { return stream_.device == device; }
  std::vector<EventHandle>& events() { return events_; }

  void join(const StreamRef& stream);
  void keep_host_memory(const void* host);
  void keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }
  PhiloxNumbers take_numbers(CudaGeneratorImpl& generator, uint64_t count);

 private:
  struct Draws {
    intrusive_ptr<CudaGeneratorImpl> generator;
    uint64_t* state;  // on the device: seed, first offset
    uint64_t count;   // numbers that a replay takes
  };
  cudaError_t stop_capture(cudaGraph_t& recorded) noexcept;
  void leave_streams() noexcept;
  void release_memory() noexcept;

  void add(const StreamRef& stream);

  StreamRef stream_;                 // that the capture was begun on
  std::vector<StreamRef> streams_;   // whose memory comes from the pool
  std::vector<EventHandle> events_;  // recorded last on one of them, in this capture
  GraphPoolId pool_ = 0;             // 0: holds none
  bool capturing_ = false, complete_ = false;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<Draws> draws_;
  std::vector<void*> pinned_;  // blocks that it copies from or to
  std::vector<std::shared_ptr<const void>> kept_;
};

// The graphs that are recording now.
std::mutex& captures_mutex() {
  static std::mutex& m = *new std::mutex;
  return m;
}
std::vector<Graph*>& captures() {
  static auto& all = *new std::vector<Graph*>;
  return all;
}
constinit std::atomic<int> num_captures{0};  // so that nothing is looked up while there is none

template <class F>
Graph* find_capture(F&& matches) {
  if (num_captures.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(captures_mutex());
  const auto found = std::find_if(captures().begin(), captures().end(), matches);
  return found == captures().end() ? nullptr : *found;
}

Graph* capture_on(const StreamRef& stream) {
  return find_capture([&](const Graph* g) { return g->has(stream); });
}

Graph* capture_of_current_stream() {
  if (num_captures.load(std::memory_order_relaxed) == 0) return nullptr;
  const DeviceIndex device = static_cast<DeviceIndex>(thread_device());
  const StreamRef stream{device, current_stream(device)};
  return capture_on(stream);
}

Graph* capture_of(EventHandle event) {
  return find_capture(
      [&](Graph* g) { return std::find(g->events().begin(), g->events().end(), event) != g->events().end(); });
}

[[noreturn]] void throw_capturing(const char* what) {
  const char* op = current_op();
  ARGAND_THROW(Error, *op ? str(op, ": ") : "", what, " is not possible while a CUDA graph is being captured");
}

Graph::~Graph() {
  if (capturing_) {
    cudaGraph_t recorded = nullptr;
    if (stop_capture(recorded) != cudaSuccess) cudaGetLastError();  // streams that are not joined: nothing is kept
    if (recorded) cudaGraphDestroy(recorded);
  }
  if (exec_) cudaGraphExecDestroy(exec_);  // a replay that is under way goes on
  release_memory();
}

void Graph::release_memory() noexcept {
  const DeviceCalls calls(std::nothrow);  // before the locks of the blocks
  for (void* block : pinned_) pinned_blocks().release_of_graph(block);
  pinned_.clear();
  kept_.clear();
  if (pool_ == 0) return;
  CachingAllocator& allocator = caching_allocator(stream_.device);
  for (const Draws& d : draws_) allocator.deallocate(d.state);
  draws_.clear();
  for (size_t i = 0; i < streams_.size(); ++i) allocator.release_pool(pool_);
  streams_.clear();
  pool_ = 0;
}

// From now on the stream's work is issued at once, and its memory comes from the pool.
void Graph::add(const StreamRef& stream) {
  const auto handle = static_cast<cudaStream_t>(stream.handle);
  set_captured(stream.device, handle, true);
  try {
    caching_allocator(stream.device).begin_pool(pool_, stream.handle);
  } catch (...) {
    set_captured(stream.device, handle, false);
    throw;
  }
  const std::lock_guard lock(captures_mutex());
  streams_.push_back(stream);
}

void Graph::join(const StreamRef& stream) {
  ARGAND_CHECK(Error, stream.handle != nullptr,
               "Event.wait: the default stream cannot become part of a CUDA graph that is being captured");
  ARGAND_CHECK(Error, stream.device == stream_.device, "Event.wait: a stream of cuda:", stream.device,
               " cannot become part of a CUDA graph that is being captured on cuda:", stream_.device);
  add(stream);
}

void Graph::begin(GraphPoolId pool) {
  const DeviceIndex device = static_cast<DeviceIndex>(thread_device());
  stream_ = {device, current_stream(device)};
  ARGAND_CHECK(
      Error, stream_.handle != nullptr,
      "CUDAGraph.capture_begin: CUDA graphs must be captured on a non-default stream. Make another one current, as "
      "cuda::GraphCapture does");
  ARGAND_CHECK(Error, !is_capturing(), "CUDAGraph.capture_begin: the current stream is being captured already");
  error_slot();  // made now: kernels of the graph keep its address
  pool_ = pool;
  add(stream_);
  if (!dry_run()) {
    const cudaError_t error =
        cudaStreamBeginCapture(static_cast<cudaStream_t>(stream_.handle), cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) {
      leave_streams();
      release_memory();
      throw_cuda_error(error, "cudaStreamBeginCapture");
    }
  }
  capturing_ = true;
  const std::lock_guard lock(captures_mutex());
  captures().push_back(this);
  ++num_captures;
}

// Undoes add() for all streams.
void Graph::leave_streams() noexcept {
  for (const StreamRef& s : streams_) {
    set_captured(s.device, static_cast<cudaStream_t>(s.handle), false);
    caching_allocator(s.device).end_pool(pool_, s.handle);
  }
}

// Afterwards the streams and their memory are as before begin().
cudaError_t Graph::stop_capture(cudaGraph_t& recorded) noexcept {
  {
    const std::lock_guard lock(captures_mutex());
    std::erase(captures(), this);
    --num_captures;
    events_.clear();
  }
  capturing_ = false;
  cudaError_t error = cudaSuccess;
  if (!dry_run()) error = cudaStreamEndCapture(static_cast<cudaStream_t>(stream_.handle), &recorded);
  leave_streams();
  return error;
}

void Graph::end() {
  ARGAND_CHECK(Error, capturing_, "CUDAGraph.capture_end: no capture is under way");
  const DeviceScope on(Device(kCUDA, stream_.device));
  const DeviceCalls calls;
  cudaGraph_t recorded = nullptr;
  cudaError_t error = stop_capture(recorded);
  if (error == cudaSuccess && recorded) error = cudaGraphInstantiate(&exec_, recorded, 0);
  if (recorded) cudaGraphDestroy(recorded);
  if (error != cudaSuccess) {
    exec_ = nullptr;
    release_memory();
    if (error == cudaErrorStreamCaptureUnjoined) cudaGetLastError();
    ARGAND_CHECK(Error, error != cudaErrorStreamCaptureUnjoined,
                 "CUDAGraph.capture_end: a stream became part of the capture, and the stream that is captured did not "
                 "wait for all of its work; call wait_stream() before the end");
    throw_cuda_error(error, "CUDAGraph.capture_end");
  }
  complete_ = true;
}

void Graph::replay() {
  ARGAND_CHECK(Error, complete_, "CUDAGraph.replay: the capture did not end");
  const DeviceScope on(Device(kCUDA, stream_.device));
  const cudaStream_t stream = current_stream(stream_.device);
  refuse_while_capturing({stream_.device, stream}, "CUDAGraph.replay");
  const CurrentOp current("CUDAGraph.replay");
  for (const Draws& d : draws_) {
    uint64_t seed, offset;
    {
      const std::lock_guard lock(d.generator->mutex_);
      seed = d.generator->current_seed();
      offset = d.generator->advance(d.count);
    }
    launch(set_state_kernel(), {1, 1}, d.state, seed, offset);
  }
  for (void* block : pinned_) pinned_allocator().used(block);
  if (dry_run()) return;
  issue_tape(stream_.device, stream, FlushCause::kForeign);
  note_launch(current_op());
  ARGAND_CUDA(cudaGraphLaunch(exec_, stream));
}

void Graph::keep_host_memory(const void* host) {
  if (void* block = pinned_blocks().keep_for_graph(host)) pinned_.push_back(block);
}

PhiloxNumbers Graph::take_numbers(CudaGeneratorImpl& generator, uint64_t count) {
  auto draws =
      std::find_if(draws_.begin(), draws_.end(), [&](const Draws& d) { return d.generator.get() == &generator; });
  if (draws == draws_.end()) {
    set_state_kernel();  // compiled now, so that no replay waits for it
    auto* state =
        static_cast<uint64_t*>(caching_allocator(stream_.device).allocate(2 * sizeof(uint64_t), stream_.handle));
    draws_.push_back({intrusive_ptr<CudaGeneratorImpl>(&generator), state, 0});
    draws = draws_.end() - 1;
  }
  const uint64_t offset = draws->count;
  draws->count += CudaGeneratorImpl::rounded(count);
  return {0, offset, draws->state};
}

}  // namespace

std::unique_ptr<DeviceGraph> make_graph() { return std::make_unique<Graph>(); }

bool is_capturing() { return capture_of_current_stream() != nullptr; }

void refuse_while_capturing(const StreamRef& stream, const char* what) {
  if (is_captured(stream)) throw_capturing(what);
}

bool is_captured(const StreamRef& stream) { return capture_on(stream) != nullptr; }

void keep_host_memory(const StreamRef& stream, const void* host) {
  if (Graph* graph = capture_on(stream)) graph->keep_host_memory(host);
}

void keep_for_graph(std::shared_ptr<const void> object) {
  if (Graph* graph = capture_of_current_stream()) graph->keep(std::move(object));
}

void refuse_while_capturing_on(int device, const char* what) {
  if (find_capture([&](const Graph* g) { return g->is_on(device); })) throw_capturing(what);
}

void refuse_captured(EventHandle event, const char* what) {
  if (capture_of(event)) throw_capturing(what);
}

void note_recorded(EventHandle event, const StreamRef& stream) {
  if (num_captures.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(captures_mutex());
  for (Graph* g : captures()) {
    std::erase(g->events(), event);
    if (g->has(stream)) g->events().push_back(event);
  }
}

void note_destroyed(EventHandle event) noexcept {
  if (num_captures.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(captures_mutex());
  for (Graph* g : captures()) std::erase(g->events(), event);
}

void join_capture(const StreamRef& stream, EventHandle event) {
  Graph* const from = capture_of(event);
  Graph* const to = capture_on(stream);
  if (from == to) return;
  ARGAND_CHECK(Error, from,
               "Event.wait: a CUDA graph that is being captured cannot wait for what is outside of it: "
               "the event was recorded before the capture, or on a stream that is no part of it");
  ARGAND_CHECK(Error, !to, "Event.wait: the stream and the event belong to two CUDA graphs that are being captured");
  from->join(stream);
}

PhiloxNumbers take_numbers(CudaGeneratorImpl& generator, uint64_t count) {
  if (Graph* graph = capture_of_current_stream()) return graph->take_numbers(generator, count);
  const std::lock_guard lock(generator.mutex_);
  const uint64_t seed = generator.current_seed();
  return {seed, generator.advance(count), nullptr};
}

}  // namespace argand::cuda
