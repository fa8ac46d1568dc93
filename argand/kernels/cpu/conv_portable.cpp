#include <cstddef>
#include <utility>

#include "argand/kernels/cpu/conv_simd.h"
#include "argand/kernels/cpu/vec.h"

#define ARGAND_SIMD

namespace argand::portable {
namespace {
constexpr int kMaxRows = 4, kDotRows = 2, kDotTaps = 4, kProductTaps = 4;
#include "argand/kernels/cpu/conv_simd.inc"
}  // namespace

const ConvKernels<float>& conv_f32() { return table<float>(); }
const ConvKernels<double>& conv_f64() { return table<double>(); }
}  // namespace argand::portable
