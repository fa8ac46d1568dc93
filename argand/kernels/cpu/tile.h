// The tile interpreter: runs a chain of pointwise steps over blocks that stay in cache.
//
// A program works on *values*.  A value is, per tile, a contiguous run of kTile elements of one dtype; it may be bound
// to memory (an operand) that is read before the first step, written after the last, or both.  A step applies a loop to
// values; inputs are converted to the step's compute type and the result is rounded to the dtype of its value, so a
// fused chain gives the same bits as its steps run one by one.  Values not bound to memory exist only in cache.
#pragma once
#include <vector>

#include "argand/base/small_vector.h"
#include "argand/core/dtype.h"

namespace argand::cpu {

// out[i] = f(ins[0][i], ins[1][i], ..., params...) for n elements of the compute type.  `out` may equal an input.
using LoopFn = void (*)(void* out, const void* const* ins, const void* params, int64_t n);

inline constexpr int64_t kTile = 1024;        // elements of one tile
inline constexpr int64_t kTileGrain = 32768;  // elements one thread takes at a time: a multiple of kTile
inline constexpr int kMaxStepInputs = 6;
inline constexpr int kMaxStepParams = 4;

struct TileValue {
  ScalarType dtype;
  void* memory = nullptr;  // address of the element at index (0, ..., 0); null: lives in cache only
  Dims strides;            // in elements, one per dimension of the program; 0 where broadcast
  bool load = false;       // read from memory at the start of a tile
  bool store = false;      // written to memory when its step has run
};

struct TileStep {
  LoopFn loop = nullptr;
  ScalarType compute;  // type of the loop's elements
  SmallVector<int, kMaxStepInputs> ins;
  int out = 0;
  alignas(16) char params[kMaxStepParams * 16];  // packed values of the compute type
};

struct TileProgram {
  Dims sizes;
  std::vector<TileValue> values;
  std::vector<TileStep> steps;
};

// Runs the program over all of `sizes`, in parallel where large.  Operands that are written must not overlap others
// except when they are bound with the same address and strides.
void run_tiles(TileProgram program);

// Converts n contiguous elements from one dtype to another, as C++ converts (to bool: x != 0; complex to real: real
// part).
void convert_elements(const void* from, ScalarType from_type, void* to, ScalarType to_type, int64_t n);

}  // namespace argand::cpu
