// A process may end while some of its threads still use a device.  exit() destroys the globals of the device's
// libraries: later calls of those threads fail with a misleading error, or crash.
//
// Note [The end of a process]
// Before exit() destroys anything, it waits without a limit until no other thread is in a call of such a library: a
// line on stderr says so after a while.  From then on other threads wait where they would enter a call, and the process
// ends without them.  Nothing here ends the process by itself.  A thread that still waits 5 s later
// may be one that a destructor of the program joins, so its call fails with a DeviceError.
#pragma once
#include <new>

namespace argand {

// After exit() was called, other threads than its caller wait here, unless they are in calls.  After a while they get a
// DeviceError.
void stop_if_process_ends();

// A scope in which a thread makes calls of such a library.  Begin it before taking any lock that other threads need,
// because a thread waits here when the process ends.
class DeviceCalls {
 public:
  DeviceCalls();
  // For code that must not throw: its calls may reach a library whose globals are gone.  CUDA's runtime and driver then
  // return an error; do not use it for other libraries.
  explicit DeviceCalls(std::nothrow_t) noexcept;
  ~DeviceCalls();
  DeviceCalls(const DeviceCalls&) = delete;
  DeviceCalls& operator=(const DeviceCalls&) = delete;
};

// A scope of calls in which such a library may make globals that exit() destroys: its loading, its first call, each
// compilation.
class CallsThatMakeGlobals {
 public:
  CallsThatMakeGlobals();
  ~CallsThatMakeGlobals();
  CallsThatMakeGlobals(const CallsThatMakeGlobals&) = delete;
  CallsThatMakeGlobals& operator=(const CallsThatMakeGlobals&) = delete;

 private:
  const DeviceCalls calls_;
};

}  // namespace argand
