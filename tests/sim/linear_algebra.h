// The blocks of linear algebra on pretended devices: the CPU's loops.
#pragma once
#include <vector>

#include "argand/core/device.h"

namespace argand::sim {

// `note` is called with the memory that a block reads and writes.
using NoteWork = void (*)(const std::vector<const void*>& reads, const std::vector<const void*>& writes);
void register_linear_algebra(DeviceType type, NoteWork note);

}  // namespace argand::sim
