// GPUs that are only pretended: their memory is the host's and ops run on the CPU, so programs that use several devices
// and streams compute what they should on a machine that has none.
//
// Work is done at once, but its order is checked as if it were not: every access to device memory must come after the
// last write to it (and a write after the last reads) by the order of one stream, or by events.
#pragma once
#include <string>
#include <vector>

#include "argand/runtime/backend.h"

namespace argand::testing {

inline constexpr int kPretendedGpus = 3;

// Once in a process, before anything asks for a device.
void register_pretended_gpus();

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

}  // namespace argand::testing
