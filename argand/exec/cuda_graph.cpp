#include "argand/exec/cuda_graph.h"

#include <atomic>
#include <exception>

#include "argand/base/error.h"
#include "argand/exec/window.h"

namespace argand::cuda {
namespace {

constexpr MempoolId_t kNoPool{0, 0};
constinit std::atomic<uint64_t> replays{0};

// Waits for earlier work, which a capture must not wait for.
Stream capture_stream(const std::optional<Stream>& given) {
  synchronize();
  return given ? *given : stream_from_pool();
}

}  // namespace

MempoolId_t graph_pool_handle() {
  static constinit std::atomic<uint64_t> last{0};
  return {0, ++last};
}

bool is_current_stream_capturing() { return is_capturing(); }

uint64_t replays_started() { return replays.load(std::memory_order_relaxed); }

void CUDAGraph::capture_begin(MempoolId_t pool) {
  ARGAND_CHECK(Error, !graph_, "CUDAGraph.capture_begin: the graph holds a capture already; reset() it first");
  exec::flush();
  auto graph = backend_of(kCUDA).make_graph();
  pool = pool == kNoPool ? graph_pool_handle() : pool;
  graph->begin(pool.second);
  graph_ = std::move(graph);
  pool_ = pool;
  capturing_ = true;
}

void CUDAGraph::capture_end() {
  ARGAND_CHECK(Error, capturing_, "CUDAGraph.capture_end: no capture is under way; call capture_begin() first");
  try {
    exec::flush();
    graph_->end();
    capturing_ = false;
  } catch (...) {
    reset();
    throw;
  }
}

void CUDAGraph::replay() {
  ARGAND_CHECK(Error, graph_, "CUDAGraph.replay: nothing was captured, or the capture failed");
  ARGAND_CHECK(Error, !capturing_, "CUDAGraph.replay: the capture has not ended yet");
  exec::flush();
  replays.fetch_add(1, std::memory_order_relaxed);
  graph_->replay();
}

void CUDAGraph::reset() {
  graph_.reset();
  capturing_ = false;
  pool_ = kNoPool;
}

MempoolId_t CUDAGraph::pool() const {
  ARGAND_CHECK(Error, graph_, "CUDAGraph.pool: the graph has no memory before capture_begin()");
  return pool_;
}

GraphCapture::GraphCapture(CUDAGraph& graph, MempoolId_t pool, const std::optional<Stream>& stream)
    : graph_(graph), on_stream_(capture_stream(stream)), exceptions_(std::uncaught_exceptions()) {
  graph_.capture_begin(pool);
}

void GraphCapture::end() {
  ended_ = true;
  graph_.capture_end();
}

GraphCapture::~GraphCapture() {
  if (ended_) return;
  try {
    if (std::uncaught_exceptions() > exceptions_)
      graph_.reset();
    else
      end();
  } catch (...) {  // the graph is empty, and says so when it is replayed
  }
}

}  // namespace argand::cuda
