// Guard mode: canaries on both sides of a block find writes out of bounds, poison finds reads of memory that was never
// written or already freed (0xFF... is a NaN in every floating point type).
#pragma once
#include <string>

#include "argand/runtime/cuda/block_pool.h"

namespace argand::cuda {

inline constexpr size_t kCanaryBytes = 512;  // as large as the alignment of blocks

// Writes the canaries of a block in use and poisons what is between them.
void write_guards(DeviceMemory& device, const Block& block, StreamHandle stream);

// The damage, naming the holder; empty if there is none.  Waits for the device.
std::string find_damage(DeviceMemory& device, const Block& block);

void poison(DeviceMemory& device, const Block& block, StreamHandle stream);

}  // namespace argand::cuda
