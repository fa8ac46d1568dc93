// Streams and events of accelerators, for code that works with any of them.  argand::cuda (exec/cuda.h) adds what CUDA
// has beyond that.
//
// Work is issued asynchronously, in order per stream; what the issue window still holds is issued before anything here
// that orders or waits.
#pragma once
#include <memory>

#include "argand/runtime/backend.h"

namespace argand {

class Event;

// A queue of work.  Copies of the handle mean the same queue.
class Stream {
 public:
  Stream(DeviceType type, const StreamRef& ref) : type_(type), ref_(ref) {}
  DeviceType device_type() const { return type_; }
  DeviceIndex device_index() const { return ref_.device; }
  Device device() const { return Device(type_, ref_.device); }
  const StreamRef& ref() const { return ref_; }

  bool query() const;        // whether all work is done
  void synchronize() const;  // waits for it; throws errors that kernels reported
  // Work given to this stream from now on starts after the work that the event (the other stream) covers now.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;
  Event record_event() const;
  friend bool operator==(const Stream& a, const Stream& b) { return a.type_ == b.type_ && a.ref_ == b.ref_; }

 private:
  DeviceType type_;
  StreamRef ref_;
};

// The stream on which the calling thread gives work to the device, and its replacement by another.
Stream current_stream(const Device& device);
void set_stream(const Stream& stream);
// The next stream of the device's pool; lower numbers of `priority` go first.
Stream stream_from_pool(const Device& device, int priority = 0);
// Whether the work of the calling thread's current stream is recorded into a graph; false without an accelerator.
bool is_capturing();

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
  // Nothing is asked of the device until the event is recorded.
  explicit Event(DeviceType type, bool enable_timing = false) : type_(type), timing_(enable_timing) {}
  void record(const Stream& stream);
  // The same, but it is issued together with the next work of the stream, and issues no delayed work.  `stream` is the
  // calling thread's current one.
  void record_late(const Stream& stream);
  void wait(const Stream& stream) const;
  bool query() const;        // true too if it was never recorded
  void synchronize() const;  // waits; throws errors that kernels reported
  // Milliseconds between two recorded events made with timing.
  float elapsed_time(const Event& end) const;

 protected:
  EventHandle handle() const { return event_.get(); }  // null before there is one
  void set_handle(EventHandle event);                  // owns it

 private:
  EventHandle made(DeviceIndex device);

  DeviceType type_;
  bool timing_;
  std::shared_ptr<void> event_;
};

}  // namespace argand
