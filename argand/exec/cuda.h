// Devices, streams and events for programs: argand::cuda, with PyTorch's names and meaning.  Everything here works in a
// program without a GPU too: is_available() is false, device_count() is 0, the rest throws DeviceError with the reason.
//
// Work is issued asynchronously, in order per stream; what the issue window still holds is issued before anything here
// that orders or waits.
#pragma once
#include <string>
#include <utility>

#include "argand/exec/stream.h"

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

// Copies of the handle mean the same queue.
class Stream : public argand::Stream {
 public:
  explicit Stream(const StreamRef& ref) : argand::Stream(kCUDA, ref) {}
  // The cudaStream_t; null: the default stream.  The caller may use it, so work given to it is no longer delayed.
  void* handle() const;
  Event record_event() const;
};

Stream default_stream(DeviceIndex device = -1);
Stream current_stream(DeviceIndex device = -1);
// The next stream of a pool of 32 per device and priority; priority -1 goes before 0.
Stream stream_from_pool(DeviceIndex device = -1, int priority = 0);
Stream external_stream(void* handle, DeviceIndex device = -1);
void set_stream(const Stream& stream);  // of the calling thread, for the stream's device

using argand::StreamGuard;

class Event : public argand::Event {
 public:
  // `interprocess`: other processes can open it by its ipc_handle(); such an event has no timing.
  explicit Event(bool enable_timing = false, bool interprocess = false);
  static Event from_ipc_handle(DeviceIndex device, const std::string& handle);
  std::string ipc_handle();  // of an event of the current device, if it was not recorded yet
  void record();             // in the current stream
  void record(const argand::Stream& stream);

 private:
  bool interprocess_;
};

}  // namespace argand::cuda
