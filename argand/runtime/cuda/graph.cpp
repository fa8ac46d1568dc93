#include "argand/runtime/cuda/graph.h"

#include <algorithm>
#include <atomic>
#include <mutex>
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
namespace argand {
__global__ void set_state(unsigned long long* state, unsigned long long seed, unsigned long long offset) {
  state[0] = seed;
  state[1] = offset;
}
}  // namespace argand
)";

Kernel set_state_kernel() { return compile(kSetState, "argand::set_state"); }

class Graph final : public DeviceGraph {
 public:
  ~Graph() override;
  void begin(GraphPoolId pool) override;
  void end() override;
  void replay() override;

  const StreamRef& stream() const { return stream_; }
  PhiloxNumbers take_numbers(CudaGeneratorImpl& generator, uint64_t count);

 private:
  struct Draws {
    intrusive_ptr<CudaGeneratorImpl> generator;
    uint64_t* state;  // on the device: seed, first offset
    uint64_t count;   // numbers that a replay takes
  };
  cudaError_t stop_capture(cudaGraph_t& recorded) noexcept;
  void release_memory() noexcept;

  StreamRef stream_;
  GraphPoolId pool_ = 0;  // 0: holds none
  bool capturing_ = false, complete_ = false;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<Draws> draws_;
};

// The graphs that record now.
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

Graph* capture_of_current_stream() {
  if (num_captures.load(std::memory_order_relaxed) == 0) return nullptr;
  const DeviceIndex device = static_cast<DeviceIndex>(thread_device());
  const StreamRef stream{device, current_stream(device)};
  return find_capture([&](const Graph* g) { return g->stream() == stream; });
}

[[noreturn]] void throw_capturing(const char* what) {
  const char* op = current_op();
  ARGAND_THROW(Error, *op ? str(op, ": ") : "", what, " is not possible while a CUDA graph is being captured");
}

Graph::~Graph() {
  if (capturing_) {
    cudaGraph_t recorded = nullptr;
    stop_capture(recorded);
    if (recorded) cudaGraphDestroy(recorded);
  }
  if (exec_) cudaGraphExecDestroy(exec_);  // a replay that is under way goes on
  release_memory();
}

void Graph::release_memory() noexcept {
  if (pool_ == 0) return;
  CachingAllocator& allocator = caching_allocator(stream_.device);
  for (const Draws& d : draws_) allocator.deallocate(d.state);
  draws_.clear();
  allocator.release_pool(pool_);
  pool_ = 0;
}

void Graph::begin(GraphPoolId pool) {
  const DeviceIndex device = static_cast<DeviceIndex>(thread_device());
  stream_ = {device, current_stream(device)};
  ARGAND_CHECK(Error, stream_.handle != nullptr,
               "CUDAGraph.capture_begin: the default stream cannot be captured; make another one current, as "
               "cuda::GraphCapture does");
  ARGAND_CHECK(Error, !is_capturing(), "CUDAGraph.capture_begin: the current stream is being captured already");
  set_captured(device, static_cast<cudaStream_t>(stream_.handle), true);
  error_slot();  // made now: kernels of the graph keep its address
  CachingAllocator& allocator = caching_allocator(device);
  allocator.begin_pool(pool, stream_.handle);
  pool_ = pool;
  if (!dry_run()) {
    const cudaError_t error =
        cudaStreamBeginCapture(static_cast<cudaStream_t>(stream_.handle), cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) {
      set_captured(device, static_cast<cudaStream_t>(stream_.handle), false);
      allocator.end_pool(pool, stream_.handle);
      release_memory();
      throw_cuda_error(error, "cudaStreamBeginCapture");
    }
  }
  capturing_ = true;
  const std::lock_guard lock(captures_mutex());
  captures().push_back(this);
  ++num_captures;
}

// Afterwards the stream and its memory are as before begin().
cudaError_t Graph::stop_capture(cudaGraph_t& recorded) noexcept {
  {
    const std::lock_guard lock(captures_mutex());
    std::erase(captures(), this);
    --num_captures;
  }
  capturing_ = false;
  cudaError_t error = cudaSuccess;
  if (!dry_run()) error = cudaStreamEndCapture(static_cast<cudaStream_t>(stream_.handle), &recorded);
  set_captured(stream_.device, static_cast<cudaStream_t>(stream_.handle), false);
  caching_allocator(stream_.device).end_pool(pool_, stream_.handle);
  return error;
}

void Graph::end() {
  ARGAND_CHECK(Error, capturing_, "CUDAGraph.capture_end: no capture is under way");
  const DeviceScope on(Device(kCUDA, stream_.device));
  cudaGraph_t recorded = nullptr;
  cudaError_t error = stop_capture(recorded);
  if (error == cudaSuccess && recorded) error = cudaGraphInstantiate(&exec_, recorded, 0);
  if (recorded) cudaGraphDestroy(recorded);
  if (error != cudaSuccess) {
    exec_ = nullptr;
    release_memory();
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
  if (dry_run()) return;
  issue_tape(stream_.device, stream, FlushCause::kForeign);
  note_launch(current_op());
  ARGAND_CUDA(cudaGraphLaunch(exec_, stream));
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
  if (find_capture([&](const Graph* g) { return g->stream() == stream; })) throw_capturing(what);
}

void refuse_while_capturing_on(int device, const char* what) {
  if (find_capture([&](const Graph* g) { return g->stream().device == device; })) throw_capturing(what);
}

PhiloxNumbers take_numbers(CudaGeneratorImpl& generator, uint64_t count) {
  if (Graph* graph = capture_of_current_stream()) return graph->take_numbers(generator, count);
  const std::lock_guard lock(generator.mutex_);
  const uint64_t seed = generator.current_seed();
  return {seed, generator.advance(count), nullptr};
}

}  // namespace argand::cuda
