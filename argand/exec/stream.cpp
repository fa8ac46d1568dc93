#include "argand/exec/stream.h"

#include "argand/base/error.h"
#include "argand/exec/window.h"

namespace argand {

// ---- streams

Stream current_stream(const Device& device) {
  const Device d = with_index(device);
  return Stream(d.type(), backend_of(d.type()).current_stream(d.index()));
}
void set_stream(const Stream& stream) { backend_of(stream.device_type()).set_current_stream(stream.ref()); }
Stream stream_from_pool(const Device& device, int priority) {
  const Device d = with_index(device);
  return Stream(d.type(), backend_of(d.type()).stream_from_pool(d.index(), priority));
}
bool is_capturing() {
  Backend* const backend = loaded_accelerator();
  return backend && backend->is_capturing();
}

StreamGuard::StreamGuard(const Stream& stream) : device_(stream.device()), before_(current_stream(stream.device())) {
  set_stream(stream);
}
StreamGuard::~StreamGuard() { set_stream(before_); }

bool Stream::query() const {
  exec::flush();
  return backend_of(type_).query(ref_);
}
void Stream::synchronize() const {
  exec::flush();
  backend_of(type_).synchronize(ref_);
  exec::note_wait();
}
void Stream::wait_event(const Event& event) const { event.wait(*this); }
void Stream::wait_stream(const Stream& other) const { wait_event(other.record_event()); }
Event Stream::record_event() const {
  Event event(type_);
  event.record(*this);
  return event;
}

// ---- events

void Event::set_handle(EventHandle event) {
  event_ = {event, [type = type_](void* e) { backend_of(type).destroy_event(e); }};
}
EventHandle Event::made(DeviceIndex device) {
  if (!event_) set_handle(backend_of(type_).make_event(device, timing_));
  return handle();
}
void Event::record(const Stream& stream) {
  exec::flush();
  backend_of(type_).record(made(stream.device_index()), stream.ref());
}
void Event::record_late(const Stream& stream) {
  exec::flush();
  backend_of(type_).record_late(made(stream.device_index()), stream.ref());
}
void Event::wait(const Stream& stream) const {
  exec::flush();
  if (event_) backend_of(type_).wait(stream.ref(), handle());
}
bool Event::query() const { return !event_ || backend_of(type_).query(handle()); }
void Event::synchronize() const {
  if (event_) backend_of(type_).synchronize(handle());
}
float Event::elapsed_time(const Event& end) const {
  ARGAND_CHECK(ValueError, timing_ && end.timing_, "Event.elapsed_time: both events must be made with enable_timing");
  ARGAND_CHECK(ValueError, event_ && end.event_, "Event.elapsed_time: both events must be recorded first");
  return backend_of(type_).elapsed_time(handle(), end.handle());
}

}  // namespace argand
