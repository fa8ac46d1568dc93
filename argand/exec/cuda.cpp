#include "argand/exec/cuda.h"

#include "argand/base/error.h"
#include "argand/exec/window.h"
#include "argand/runtime/shared_memory.h"

namespace argand::cuda {
namespace {

Backend& backend() { return backend_of(kCUDA); }

DeviceIndex checked(DeviceIndex index) {
  Backend& b = backend();
  if (index < 0) return b.current_device();
  ARGAND_CHECK(DeviceError, index < b.device_count(), "there is no device cuda:", static_cast<int>(index),
               ": this machine has ", b.device_count(), " (cuda:0 to cuda:", b.device_count() - 1, ")");
  return index;
}

}  // namespace

bool is_available() { return device_count() > 0; }
int device_count() {
  Backend* b = find_backend(kCUDA);
  return b ? b->device_count() : 0;
}
DeviceIndex current_device() { return backend().current_device(); }
void set_device(DeviceIndex index) { backend().set_device(checked(index)); }
DeviceProperties get_device_properties(DeviceIndex index) { return backend().properties(checked(index)); }
std::string get_device_name(DeviceIndex index) { return get_device_properties(index).name; }
std::pair<int, int> get_device_capability(DeviceIndex index) {
  const DeviceProperties p = get_device_properties(index);
  return {p.major, p.minor};
}
int runtime_version() { return backend().version_numbers().runtime; }
int driver_version() { return backend().version_numbers().driver; }
int cudnn_version() { return backend().version_numbers().cudnn; }
bool can_device_access_peer(DeviceIndex device, DeviceIndex peer) {
  return backend().can_access_peer(checked(device), checked(peer));
}
void synchronize(DeviceIndex index) {
  exec::flush();
  backend().synchronize(checked(index));
  exec::note_wait();
}
void set_replay_enabled(bool on) {
  exec::flush();
  backend().set_replay_enabled(on);
}
void empty_cache() {
  if (find_backend(kCUDA)) backend().empty_cache();
}

// ---- streams

Stream default_stream(DeviceIndex device) { return Stream({checked(device), nullptr}); }
Stream current_stream(DeviceIndex device) { return Stream(backend().current_stream(checked(device))); }
Stream stream_from_pool(DeviceIndex device, int priority) {
  return Stream(backend().stream_from_pool(checked(device), priority));
}
Stream external_stream(void* handle, DeviceIndex device) { return Stream({checked(device), handle}); }
void set_stream(const Stream& stream) { argand::set_stream(stream); }

void* Stream::handle() const {
  exec::flush();
  backend().give_handle(ref());
  return ref().handle;
}
Event Stream::record_event() const {
  Event event;
  event.record(*this);
  return event;
}

// ---- events

Event::Event(bool enable_timing, bool interprocess) : argand::Event(kCUDA, enable_timing), interprocess_(interprocess) {
  ARGAND_CHECK(ValueError, !enable_timing || !interprocess, "Event: an interprocess event cannot have enable_timing");
}
std::string Event::ipc_handle() {
  ARGAND_CHECK(ValueError, interprocess_, "Event.ipc_handle: the event must be made with interprocess=True");
  if (!handle()) set_handle(memory_sharing().make_event(checked(-1)));
  return memory_sharing().event_handle(handle());
}
Event Event::from_ipc_handle(DeviceIndex device, const std::string& handle) {
  Event event(false, true);
  event.set_handle(memory_sharing().open_event(checked(device), handle));
  return event;
}
void Event::record() { record(current_stream()); }
void Event::record(const argand::Stream& stream) {
  if (interprocess_ && !handle()) set_handle(memory_sharing().make_event(stream.device_index()));
  argand::Event::record(stream);
}

}  // namespace argand::cuda
