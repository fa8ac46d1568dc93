// A process may end while other threads of it still use a device.  exit() takes the device's libraries down under them:
// what they call next fails with an error that is not theirs, or crashes.
#pragma once

namespace argand {

// To be called after something of such a library that exit() takes down was made: exit() comes here before it comes to
// that.
void watch_process_end();
// After exit() was called, threads other than that which called it stay in here, unless they are in calls.
void stop_if_process_ends();

// While a thread is in calls of such a library, its loading included: exit() waits for their end, and if they do not
// end soon the process ends at once, without destructors.
class DeviceCalls {
 public:
  DeviceCalls();
  ~DeviceCalls();
  DeviceCalls(const DeviceCalls&) = delete;
  DeviceCalls& operator=(const DeviceCalls&) = delete;
};

}  // namespace argand
