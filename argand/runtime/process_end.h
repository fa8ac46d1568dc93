// A process may end while other threads of it still use a device.  exit() takes the device's libraries down under them:
// what they call next fails with an error that is not theirs, or crashes.
//
// Note [The end of a process]
// Before exit() takes anything down it waits until no other thread is in a call of such a library, however long that
// is: a line on stderr says so after a while.  From then on the other threads wait where they would enter a call, and
// the process ends without them.  Nothing here ends the process by itself.  A thread that still waits 5 s later
// may be one that a destructor of the program joins, so its call fails with a DeviceError.
#pragma once
#include <new>

namespace argand {

// After exit() was called, threads other than that which called it stay in here, unless they are in calls; after a
// while DeviceError.
void stop_if_process_ends();

// While a thread is in calls of such a library.  Begin one before any lock is taken that other threads need, since this
// is where a thread stays when the process ends.
class DeviceCalls {
 public:
  DeviceCalls();
  // For what must not throw: then the calls go on to a library that may be gone.  CUDA's runtime and driver answer that
  // with an error; do not use it for others.
  explicit DeviceCalls(std::nothrow_t) noexcept;
  ~DeviceCalls();
  DeviceCalls(const DeviceCalls&) = delete;
  DeviceCalls& operator=(const DeviceCalls&) = delete;
};

// While a thread is in calls in which such a library may make globals that exit() destroys: its loading, its first
// call, each compilation.
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
