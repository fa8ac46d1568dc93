// The tile interpreter: runs a pointwise program over tiles that stay in cache.  In a tile, a value is a contiguous run
// of kTile elements of its dtype.
#pragma once
#include "argand/kernels/program.h"

namespace argand::cpu {

inline constexpr int64_t kTile = 1024;        // elements of one tile
inline constexpr int64_t kTileGrain = 32768;  // elements one thread takes at a time: a multiple of kTile

// Runs the program over all of `sizes`, in parallel where large.  Operands that are written must not overlap others
// except when they are bound with the same address and strides.
void run_tiles(PointwiseProgram& program);

// Converts n contiguous elements from one dtype to another, as C++ converts (to bool: x != 0; complex to real: real
// part).
void convert_elements(const void* from, ScalarType from_type, void* to, ScalarType to_type, int64_t n);

}  // namespace argand::cpu
