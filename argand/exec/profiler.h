// Records when each op call, each node of a backward pass and each range that a program names ran, on all threads, for
// torch.profiler.
//
//   profiler::Session session({.shapes = true});
//   {
//     const profiler::Span range("forward", profiler::Scope::kUser);
//     model(x);
//   }
//   for (const profiler::RecordedEvent& e : session.stop()) ...
//
// Note [Profiling]
// A span is open from its construction to its destruction.  Spans of one thread nest: an op within a range, the ops of
// a composite within the composite.  While a session is active, pointwise ops do not wait in the issue window (Note
// [Issue window] in window.h): each runs when it is called, so that its time can be measured.  So a profiled program is
// slower where ops would have been fused.  Without a session a span only checks one number.
//
// The time of an op on a GPU is the time between two events, before and after its work on the stream.  An idle device
// waits some microseconds between the events until the host launches the op's work, so the time is an upper bound, and
// exact if the device is busy.  Views have no time there, nor has work that is captured into a graph.  Composites and
// nodes have one only if they launch work that none of the ops within them launches.
//
// tracing::Recording (trace.h) is a smaller tool: it records a few spans with streams of their own, without the ops.
// Its spans are seen here, too.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argand/base/shared.h"
#include "argand/core/tensor.h"

namespace argand {
struct OpInfo;
namespace autograd {
class Node;
}
}  // namespace argand

namespace argand::profiler {

// The numbers are PyTorch's RecordScope.
enum class Scope : int8_t { kFunction = 0, kBackwardFunction = 1, kUser = 7, kMemory = 16 };

struct Options {
  bool shapes = false;  // keep the arguments of ops
  bool memory = false;  // count bytes of storages
  bool device = false;  // time ops on GPUs
  // Returns a number for the program's current place; called for every span, on its thread.
  std::function<int()> where = nullptr;
  // If set, spans are not kept but passed to these by name: for NVIDIA's profilers.
  void (*push)(const char* name) = nullptr;
  void (*pop)() = nullptr;
};

struct RecordedArgument {
  std::string type;          // of a tensor its dtype; "TensorList", "Scalar", "ScalarList", or "" for others
  std::vector<Dims> shapes;  // of the tensor, of the tensors
  std::vector<Dims> strides = {};
  std::string value = {};  // of anything but a tensor
};

// Microseconds since the session began.
struct DeviceTime {
  Device device;
  uint64_t stream;
  double begin, end;
  double own;  // of end - begin, without the spans within that have a time there
};

struct RecordedEvent {
  std::string name;  // "aten::mm", "MmBackward0", "autograd::engine::evaluate_function: ...", "[memory]"
  Scope scope;
  int thread;             // 1: the one that began the session
  int64_t begin, end;     // nanoseconds since the session began
  int64_t parent;         // index of the span around it, on its thread; -1: none
  int64_t sequence;       // of the node that the op recorded, or that runs; -1: none
  int64_t cpu_bytes = 0;  // allocated less freed in it, without inner spans
  int64_t device_bytes = 0;
  int where = -1;
  std::vector<RecordedArgument> arguments;
  std::optional<DeviceTime> on_device;
};

// A storage allocated or freed its bytes.
struct RecordedMemory {
  int thread;
  int64_t at;  // nanoseconds since the session began
  Device device;
  const void* address;
  int64_t bytes;  // below 0: freed
};

struct Recorded {
  std::vector<RecordedEvent> events;        // in the order of their begin, those around others first
  std::vector<int64_t> system_threads;      // the system's numbers of threads 1, 2, ...
  int64_t began;                            // nanoseconds since 1970
  std::vector<RecordedMemory> memory = {};  // in the order of their times, with Options::memory
};

// Thread-safe; in a child of fork() it records nothing.
class Session {
 public:
  // ValueError if a session is active.
  explicit Session(Options options);
  ~Session();  // stops
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Waits for the work that it timed.  Spans that are still open end now.  A second call returns nothing.
  Recorded stop();

  struct Log;

 private:
  std::shared_ptr<Log> log_;
};

// The number of the active session; 0: none.
struct ARGAND_SHARED Active {
  static inline constinit std::atomic<uint64_t> session{0};
};
inline bool is_active() { return Active::session.load(std::memory_order_relaxed) != 0; }

// How an op was called.
enum class Form : int8_t { kPlain, kInPlace };

struct ThreadLog;

// A span of the calling thread; it may end on another one.
class Span {
 public:
  explicit Span(std::string_view name, Scope scope = Scope::kFunction, std::string_view argument = {}) {
    if (is_active()) [[unlikely]]
      open(name, scope, argument);
  }
  Span(const OpInfo& op, void* args, Form form) {
    if (is_active()) [[unlikely]]
      open(op, args, form);
  }
  // The span's name is `prefix` and the node's name.
  Span(const autograd::Node& node, const char* prefix, Scope scope, std::span<const Tensor> grads = {}) {
    if (is_active()) [[unlikely]]
      open(node, prefix, scope, grads);
  }
  ~Span() {
    if (log_) [[unlikely]]
      close();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  bool is_open() const { return log_ != nullptr; }
  void close() noexcept;

 private:
  void open(std::string_view name, Scope scope, std::string_view argument) noexcept;
  void open(const OpInfo& op, void* args, Form form) noexcept;
  void open(const autograd::Node& node, const char* prefix, Scope scope, std::span<const Tensor> grads) noexcept;

  ThreadLog* log_ = nullptr;
  uint64_t session_;
  size_t at_;
};

// Notes that the op of this thread's innermost span has recorded a node of the graph.
void note_sequence(uint64_t sequence) noexcept;

}  // namespace argand::profiler
