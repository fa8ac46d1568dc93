// Times of events of a device on the host's clock.
#pragma once
#include <chrono>

#include "argand/exec/stream.h"

namespace argand::tracing {

using Clock = std::chrono::steady_clock;

// Times of one device agree with each other to a microsecond, with the host's to about ten.
class DeviceClock {
 public:
  // For an accelerator, it waits for the current stream.  For another device, this is the host's clock alone.
  explicit DeviceClock(const Device& device) : device_(device) {
    if (!device_.is_accelerator()) return;
    reference_.record(current_stream(device_));
    reference_.synchronize();
    begun_ = Clock::now();
  }
  const Device& device() const { return device_; }
  // When the clock was made.
  Clock::time_point begun() const { return begun_; }
  // Microseconds from then to an event of the device, which was made with timing; waits for it.
  double us_of(const Event& e) const {
    e.synchronize();
    return 1000.0 * static_cast<double>(reference_.elapsed_time(e));
  }

 private:
  Device device_;
  Event reference_{device_.type(), true};  // at `begun_` on the device
  Clock::time_point begun_ = Clock::now();
};

}  // namespace argand::tracing
