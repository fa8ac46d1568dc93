#include "argand/exec/cuda.h"

#include <atomic>

#include "argand/base/error.h"
#include "argand/exec/late_record.h"
#include "argand/exec/window.h"
#include "argand/runtime/shared_memory.h"

namespace argand::exec {

static std::atomic<LateRecord> late_record{nullptr};
void register_late_record(LateRecord record) { late_record = record; }

}  // namespace argand::exec

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

std::shared_ptr<void> owned(EventHandle event) {
  return {event, [](void* e) { backend().destroy_event(e); }};
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
void set_stream(const Stream& stream) { backend().set_current_stream(stream.ref()); }

StreamGuard::StreamGuard(const Stream& stream)
    : device_(stream.device()), before_(current_stream(stream.device_index())) {
  set_stream(stream);
}
StreamGuard::~StreamGuard() { backend().set_current_stream(before_.ref()); }

void* Stream::handle() const {
  exec::flush();
  backend().give_handle(ref_);
  return ref_.handle;
}
bool Stream::query() const {
  exec::flush();
  return backend().query(ref_);
}
void Stream::synchronize() const {
  exec::flush();
  backend().synchronize(ref_);
  exec::note_wait();
}
void Stream::wait_event(const Event& event) const { event.wait(*this); }
void Stream::wait_stream(const Stream& other) const { wait_event(other.record_event()); }
Event Stream::record_event() const {
  Event event;
  event.record(*this);
  return event;
}

// ---- events

void Event::record() { record(current_stream()); }
Event::Event(bool enable_timing, bool interprocess) : timing_(enable_timing), interprocess_(interprocess) {
  ARGAND_CHECK(ValueError, !timing_ || !interprocess_, "Event: an interprocess event cannot have enable_timing");
}
EventHandle Event::handle(DeviceIndex device) {
  if (!event_)
    event_ = owned(interprocess_ ? memory_sharing().make_event(device) : backend().make_event(device, timing_));
  return event_.get();
}
std::string Event::ipc_handle() {
  ARGAND_CHECK(ValueError, interprocess_, "Event.ipc_handle: the event must be made with interprocess=True");
  return memory_sharing().event_handle(handle(checked(-1)));
}
Event Event::from_ipc_handle(DeviceIndex device, const std::string& handle) {
  Event event(false, true);
  event.event_ = owned(memory_sharing().open_event(checked(device), handle));
  return event;
}
void Event::record(const Stream& stream) {
  exec::flush();
  backend().record(handle(stream.device_index()), stream.ref());
}
void Event::record_late(const Stream& stream) {
  exec::flush();
  const exec::LateRecord late = exec::late_record.load();
  if (!late) return record(stream);
  late(handle(stream.device_index()), stream.ref());
}
void Event::wait(const Stream& stream) const {
  exec::flush();
  if (event_) backend().wait(stream.ref(), event_.get());
}
bool Event::query() const { return !event_ || backend().query(event_.get()); }
void Event::synchronize() const {
  if (event_) backend().synchronize(event_.get());
}
float Event::elapsed_time(const Event& end) const {
  ARGAND_CHECK(ValueError, timing_ && end.timing_, "Event.elapsed_time: both events must be made with enable_timing");
  ARGAND_CHECK(ValueError, event_ && end.event_, "Event.elapsed_time: both events must be recorded first");
  return backend().elapsed_time(event_.get(), end.event_.get());
}

}  // namespace argand::cuda
