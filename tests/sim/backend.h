// Pretended devices: a backend of a few hundred lines that the library knows nothing of.  Their memory is not the CPU's
// (tests/sim/memory.h), they have streams and events whose order is checked (tests/sim/order.h), and a handful of
// blocks; every other op runs on the CPU.
//
// Registered as kCUDA, they let programs that use several GPUs compute what they should on a machine without one.
#pragma once
#include <string>
#include <vector>

#include "argand/runtime/backend.h"

namespace argand::sim {

inline constexpr int kDevices = 3;

// Once in a process, before anything asks for a device.  Devices of type kPrivateUse1 are called "sim".
void register_devices(DeviceType type);

// What was used without being ordered, since the last call.
std::vector<std::string> take_races();

// Failures that are planted: allocations of device memory and launches of programs are counted together, and the one
// with this number (from 1) fails, once or with all that follow; 0: none does.  Returns how many there were since the
// last call.
enum class Failing { kOnce, kFromThenOn };
int plant_failure(int number, Failing how = Failing::kOnce);
// Calls about the current device and stream of this thread throw, as those of a real one do while the process ends.
void refuse_calls(bool on);
// Larger blocks of device memory than this cannot be had.
void set_largest_block(size_t nbytes);

}  // namespace argand::sim
