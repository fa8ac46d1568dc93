// The interface of an accelerator.  A backend registers itself when its library is loaded; `core`, `exec` and the ops
// use it through this interface only.  Work of a stream runs in order; only functions that say "waits" wait for the
// device.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "argand/core/allocator.h"
#include "argand/core/generator.h"
#include "argand/runtime/device_graph.h"
#include "argand/runtime/memory_monitor.h"

namespace argand {

// A queue of work of one device; handle null is its default stream.  (For CUDA, handle is the cudaStream_t.)
struct StreamRef {
  DeviceIndex device = 0;
  void* handle = nullptr;
  friend bool operator==(const StreamRef& a, const StreamRef& b) {
    return a.device == b.device && a.handle == b.handle;
  }
};
using EventHandle = void*;

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  size_t total_memory = 0;   // bytes
  int multi_processor_count = 0, max_threads_per_multi_processor = 0, warp_size = 0;
  size_t shared_memory_per_multiprocessor = 0, shared_memory_per_block_optin = 0, L2_cache_size = 0;  // bytes
  bool is_integrated = false;
};

// Why delayed launches are issued.
enum class FlushCause : int8_t {
  kJoint,     // of a training step
  kFull,      // the window is full
  kLongWork,  // the last one keeps the device busy anyway
  kHostCopy,
  kWait,     // the host waits for the device, or asks whether it is done
  kEvent,    // an event of the stream is recorded or waited for
  kMemory,   // memory goes to another stream or to the driver
  kForeign,  // an address or a stream left the library, or delaying was switched off
  kCount
};
// Counters of the process.
struct IssueStats {
  uint64_t launches = 0;        // kernels and calls of libraries
  uint64_t replayed = 0;        // of these, as part of a graph
  uint64_t windows = 0;         // runs of launches issued together
  uint64_t graph_launches = 0;  // of these, as one graph
  uint64_t graphs_built = 0;
  uint64_t arguments_set = 0;  // launches in graphs whose arguments had changed since the last time
  std::array<uint64_t, static_cast<size_t>(FlushCause::kCount)> flushes{};  // windows by cause
};
// Version numbers as the libraries write them: 13000 is CUDA 13.0, 91900 cuDNN 9.19.  0: absent.
struct BackendVersions {
  int runtime = 0, driver = 0, cudnn = 0;
};

struct MemoryCopy {
  void* to;
  const void* from;
  size_t nbytes;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // ---- devices
  virtual int device_count() = 0;
  virtual DeviceIndex current_device() = 0;  // of the calling thread
  virtual void set_device(DeviceIndex index) = 0;
  // For the end of a scope, which may be left by an exception: if no device can be set, nothing happens.
  virtual void restore_device(DeviceIndex index) noexcept = 0;
  virtual DeviceProperties properties(DeviceIndex index) = 0;
  virtual bool can_access_peer(DeviceIndex from, DeviceIndex to) = 0;
  virtual void synchronize(DeviceIndex index) = 0;              // waits for all streams; throws what kernels reported
  virtual Generator& default_generator(DeviceIndex index) = 0;  // of ops that are given none
  // Lines "name: version", to be printed.
  virtual std::string versions() = 0;
  virtual BackendVersions version_numbers() = 0;

  // ---- memory
  virtual Allocator& allocator(DeviceIndex index) = 0;  // for work on the calling thread's current stream
  virtual Allocator& pinned_allocator() = 0;            // host memory that the device copies at full speed
  virtual void empty_cache() = 0;
  virtual MemoryMonitor& memory(DeviceIndex index) = 0;
  virtual MemoryStatsMap pinned_stats() = 0;
  // Copies bytes, in order on the current stream of the device (of both, between two); host memory that is not pinned
  // may be reused on return, and so may pinned memory unless `non_blocking`.
  virtual void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
                    bool non_blocking) = 0;
  // The same for several copies from one device to another, whose streams then wait for each other once.
  virtual void copy_all(const MemoryCopy* copies, size_t count, const Device& to_device, const Device& from_device) {
    for (const MemoryCopy* c = copies; c != copies + count; ++c)
      copy(c->to, to_device, c->from, from_device, c->nbytes, true);
  }

  // ---- streams and events
  virtual StreamRef current_stream(DeviceIndex device) = 0;  // of the calling thread
  virtual void set_current_stream(const StreamRef& stream) noexcept = 0;
  virtual StreamRef stream_from_pool(DeviceIndex device, int priority) = 0;  // lower numbers go first
  virtual bool query(const StreamRef& stream) = 0;
  virtual void synchronize(const StreamRef& stream) = 0;  // waits; throws what kernels reported
  virtual EventHandle make_event(DeviceIndex device, bool timing) = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, const StreamRef& stream) = 0;
  // The same, together with the next work of the stream, so that the device does not wait for the host between them.
  // The stream is the calling thread's current one of its device.  Counts as a launch.
  virtual void record_late(EventHandle event, const StreamRef& stream) { record(event, stream); }
  virtual void wait(const StreamRef& stream, EventHandle event) = 0;
  virtual bool query(EventHandle event) = 0;
  virtual void synchronize(EventHandle event) = 0;                     // waits; throws what kernels reported
  virtual float elapsed_time(EventHandle start, EventHandle end) = 0;  // milliseconds

  // ---- work that a backend may delay to issue it together
  virtual void joint() = 0;  // a joint of a training step: issues the current stream's work
  // The handle leaves the library: later work of the stream is issued at once.
  virtual void give_handle(const StreamRef& stream) = 0;
  virtual void set_replay_enabled(bool on) = 0;
  virtual IssueStats issue_stats() = 0;
  // ---- graphs
  virtual std::unique_ptr<DeviceGraph> make_graph() = 0;
  virtual bool is_capturing() = 0;  // the calling thread's current stream
};

// A process has at most one kind of accelerator (docs/design/0016-devices.md): DeviceError if a backend of another type
// is registered already.
void register_backend(DeviceType type, Backend& backend);
// Null when there is none; `why`, if given, then says why and what to do.  Loads the backend's library on first use.
Backend* find_backend(DeviceType type, std::string* why = nullptr);
// The backend if it is loaded already, or null.
Backend* loaded_backend(DeviceType type);
// The backend; DeviceError with that reason if there is none.
Backend& backend_of(DeviceType type);

// The kind of accelerator that the process uses: that of the registered backend, otherwise kCUDA.
DeviceType accelerator_type();
inline Backend* loaded_accelerator() { return loaded_backend(accelerator_type()); }
inline Backend* find_accelerator(std::string* why = nullptr) { return find_backend(accelerator_type(), why); }
inline Backend& accelerator() { return backend_of(accelerator_type()); }

Allocator& allocator_for(const Device& device);
// The device with an index: that of the current device if it has none.
Device with_index(const Device& device);

// Makes a device the calling thread's current one for a scope; a CPU device changes nothing.
class DeviceScope {
 public:
  explicit DeviceScope(const Device& device) {
    if (!device.is_accelerator() || !device.has_index()) return;
    backend_ = &backend_of(device.type());
    before_ = backend_->current_device();
    if (before_ != device.index()) backend_->set_device(device.index());
  }
  ~DeviceScope() {
    if (backend_) backend_->restore_device(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Backend* backend_ = nullptr;
  DeviceIndex before_ = 0;
};

}  // namespace argand
