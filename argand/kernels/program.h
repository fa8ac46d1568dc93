// A pointwise program: a chain of steps over values of one shape.  The issue window makes it; the CPU runs it tile by
// tile (cpu/tile.h), a GPU as one kernel compiled from the text of the bodies.
//
// A program works on *values*.  A value may be bound to memory (an operand) that is read before the first step, written
// after the last, or both; it may be one number.  A step applies a body to values; inputs are converted to the step's
// compute type and the result is rounded to the dtype of its value, so a fused chain gives the same bits as its steps
// run one by one.  Values that are not bound exist only in cache or registers.
#pragma once
#include <vector>

#include "argand/base/small_vector.h"
#include "argand/core/dtype.h"

namespace argand {

inline constexpr int kMaxStepInputs = 6;
inline constexpr int kMaxStepScalars = 4;

// Which compute types a body is compiled for.  float16 and bfloat16 compute in float32, all integers in int64.
inline constexpr int kNumComputeTypes = 6;
constexpr int compute_index(ScalarType t) {
  switch (t) {
    case kFloat:
      return 0;
    case kDouble:
      return 1;
    case kBool:
      return 3;
    case kComplexFloat:
      return 4;
    case kComplexDouble:
      return 5;
    default:
      return 2;
  }
}
constexpr ScalarType compute_type(ScalarType t) { return is_integral(t) ? kLong : op_math_type(t); }

namespace cpu {
// out[i] = f(ins[0][i], ins[1][i], ..., scalars...) for n elements of the compute type.  `out` may equal an input.
using LoopFn = void (*)(void* out, const void* const* ins, const void* scalars, int64_t n);
}  // namespace cpu

// Bodies that some kernels compute in a way of their own, and all others.
enum class BodyKind : int8_t { kOther, kIdentity, kRelu, kThresholdBackward };

// The body of a step: an expression over operands and scalar attributes, as text and as compiled loops.
struct PointwiseBody {
  int num_inputs;    // operands
  int num_scalars;   // attributes, given to the body after the operands
  const char* name;  // of the op, for messages
  const char* params;
  const char* text;
  cpu::LoopFn loops[kNumComputeTypes];  // null: not for this type
  BodyKind kind = BodyKind::kOther;
  // "airy" if the text calls functions of kernels/math/airy.h: kernels/math.h has those that most texts need, and half
  // of the time of compiling a small kernel is spent on parsing headers.
  const char* math_header = nullptr;
};

struct ProgramValue {
  ScalarType dtype;
  void* memory = nullptr;  // address of the element at index (0, ..., 0); null: has none
  Dims strides;            // in elements, one per dimension of the program; 0 where broadcast
  bool load = false;       // read from memory before the first step
  bool store = false;      // written to memory when its step has run
  bool number = false;     // one element of host memory, in a program that runs on another device
  bool dies = false;       // the memory is not read after the program
};

struct ProgramStep {
  const PointwiseBody* body = nullptr;
  ScalarType compute;  // the type in which the body computes
  SmallVector<int, kMaxStepInputs> ins;
  int out = 0;
  alignas(16) char scalars[kMaxStepScalars * 16];  // packed values of the compute type
};

struct PointwiseProgram {
  Dims sizes;
  std::vector<ProgramValue> values;
  std::vector<ProgramStep> steps;
  // may_move is set by the maker of the program: the result of its only step may take the place of the first operand,
  // whose memory is not read again.  moved is set by the device that runs it: this was done.
  bool may_move = false, moved = false;
};

// Orders dimensions so that the first stored value is accessed in order, then merges neighbouring dimensions that every
// operand accesses as one.
void collapse(PointwiseProgram& program);

}  // namespace argand
