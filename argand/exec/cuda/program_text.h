// A pointwise program as the text of one CUDA kernel.
//
// The text depends on the ops, how they are connected, the dtypes and how each operand is accessed; sizes, strides,
// addresses and numbers are the kernel's arguments.  So a program compiles once per form: another learning rate or
// batch size compiles nothing.
#pragma once
#include <string>

#include "argand/base/small_vector.h"
#include "argand/kernels/program.h"

namespace argand::exec {

// How a kernel reads or writes a value.
enum class Walk : uint8_t {
  kRegister,  // not at all
  kNumber,    // an argument
  kLinear,    // element i of the program is element i of the memory
  kStrided,   // by strides
};

// The properties on which a kernel's text depends, apart from the program's bodies and dtypes.
struct KernelForm {
  int width;                   // elements a thread handles at a time, neighbours along the last dimension
  int ndim;                    // dimensions to tell apart; 0: all values are linear; kAnyDims: given at the launch
  bool wide;                   // 64-bit indices
  SmallVector<Walk, 16> walk;  // per value
  SmallVector<bool, 16> inner_moves;  // strided: whether the last stride is 1 (else 0; with width 1 anything)
};
inline constexpr int kAnyDims = -1, kMostDims = 8;

// Programs of fewer elements whose operands are strided share one kernel for all numbers of dimensions and kinds of
// strides: compiling one for each would take longer than it saves.
inline constexpr int64_t kSpecialElements = 1 << 18;

// `program` is collapsed.
KernelForm form_of(const PointwiseProgram& program);

// Bytes that differ between programs whose kernels differ; quicker than the text.
using KernelKey = SmallVector<char, 256>;
KernelKey kernel_key(const PointwiseProgram& program, const KernelForm& form);

// The kernel is in a namespace that may be renamed, so that one text can hold several.
inline constexpr const char* kGroup = "pointwise_group";
inline constexpr const char* kKernelName = "argand::pointwise_group::pointwise";
inline constexpr int kKernelThreads = 256;
std::string kernel_text(const PointwiseProgram& program, const KernelForm& form);

// The one argument of the kernel, as bytes.
SmallVector<char, 512> kernel_arguments(const PointwiseProgram& program, const KernelForm& form);

}  // namespace argand::exec
