// Where an instruction runs: a device, and the stream that was current there at the call.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::exec {

struct Place {
  Device device;
  void* stream = nullptr;
  explicit Place(const Device& d) : device(d) {
    if (d.is_accelerator()) stream = backend_of(d.type()).current_stream(d.index()).handle;
  }
  friend bool operator==(const Place& a, const Place& b) { return a.device == b.device && a.stream == b.stream; }
};

// Makes a place the calling thread's current one for a scope.
class PlaceScope {
 public:
  explicit PlaceScope(const Place& place) : device_(place.device) {
    if (!place.device.is_accelerator()) return;
    backend_ = &backend_of(place.device.type());
    before_ = backend_->current_stream(place.device.index());
    if (before_.handle != place.stream) backend_->set_current_stream({place.device.index(), place.stream});
  }
  ~PlaceScope() {
    if (backend_) backend_->set_current_stream(before_);
  }
  PlaceScope(const PlaceScope&) = delete;
  PlaceScope& operator=(const PlaceScope&) = delete;

 private:
  DeviceScope device_;
  Backend* backend_ = nullptr;
  StreamRef before_;
};

}  // namespace argand::exec
