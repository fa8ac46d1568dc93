// Devices, streams and events for programs: argand::cuda, with PyTorch's names and meaning.  Everything here works in a
// program without a GPU too: is_available() is false, device_count() is 0, the rest throws DeviceError with the reason.
//
// Work is issued asynchronously, in order per stream; what the issue window still holds is issued before anything here
// that orders or waits.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "argand/runtime/backend.h"

namespace argand::cuda {

using argand::DeviceProperties;

bool is_available();
int device_count();  // 0 without a driver
DeviceIndex current_device();
void set_device(DeviceIndex index);
DeviceProperties get_device_properties(DeviceIndex index = -1);
std::string get_device_name(DeviceIndex index = -1);
std::pair<int, int> get_device_capability(DeviceIndex index = -1);
// Version numbers as NVIDIA writes them: 13000 is CUDA 13.0, 91900 cuDNN 9.19.
int runtime_version();  // CUDA, of this build
int driver_version();   // the newest CUDA that the driver supports
int cudnn_version();    // 0 without cuDNN
bool can_device_access_peer(DeviceIndex device, DeviceIndex peer);
// Waits for all work of a device (-1: the current one) and throws errors that kernels reported, such as IndexError.
void synchronize(DeviceIndex index = -1);
// Gives cached memory that nothing uses back to the driver.
void empty_cache();
// Whether sequences of launches that repeat are issued as one CUDA graph (on from the start, unless
// CUDA_LAUNCH_BLOCKING=1 or ARGAND_CUDA_REPLAY=0; work on memory whose address data_ptr() returned is issued at once).
// Results are the same.
void set_replay_enabled(bool on);

// Makes a device the current one for a scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(DeviceIndex index) : scope_(Device(kCUDA, index)) {}
  explicit DeviceGuard(const Device& device) : scope_(device) {}

 private:
  DeviceScope scope_;
};

class Event;

// A queue of work.  Copies of the handle mean the same queue.
class Stream {
 public:
  explicit Stream(const StreamRef& ref) : ref_(ref) {}
  DeviceIndex device_index() const { return ref_.device; }
  Device device() const { return Device(kCUDA, ref_.device); }
  // The cudaStream_t; null: the default stream.  The caller may use it, so work given to it is no longer delayed.
  void* handle() const;
  const StreamRef& ref() const { return ref_; }

  bool query() const;        // whether all work is done
  void synchronize() const;  // waits for it
  // Work given to this stream from now on starts after the work that the event (the other stream) covers now.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;
  Event record_event() const;
  friend bool operator==(const Stream& a, const Stream& b) { return a.ref_ == b.ref_; }

 private:
  StreamRef ref_;
};

Stream default_stream(DeviceIndex device = -1);
Stream current_stream(DeviceIndex device = -1);
// The next stream of a pool of 32 per device and priority; priority -1 goes before 0.
Stream stream_from_pool(DeviceIndex device = -1, int priority = 0);
Stream external_stream(void* handle, DeviceIndex device = -1);
void set_stream(const Stream& stream);  // of the calling thread, for the stream's device

// Makes a stream, and its device, current for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DeviceScope device_;
  Stream before_;
};

// A point in a stream.  Recording it again moves it to the later point.
class Event {
 public:
  // `interprocess`: other processes can open it by its ipc_handle(); such an event has no timing.
  explicit Event(bool enable_timing = false, bool interprocess = false);
  static Event from_ipc_handle(DeviceIndex device, const std::string& handle);
  std::string ipc_handle();  // of an event of the current device, if it was not recorded yet
  void record();
  void record(const Stream& stream);
  // The same, but it is issued together with the next work of the stream, and issues no delayed work.  `stream` is the
  // calling thread's current one.
  void record_late(const Stream& stream);
  void wait(const Stream& stream) const;
  bool query() const;        // true too if it was never recorded
  void synchronize() const;  // waits for it
  // Milliseconds between two recorded events made with timing.
  float elapsed_time(const Event& end) const;

 private:
  friend class Stream;
  EventHandle handle(DeviceIndex device);
  std::shared_ptr<void> event_;
  bool timing_, interprocess_;
};

}  // namespace argand::cuda
