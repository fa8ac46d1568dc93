#include <cstddef>
#include <utility>

#include "argand/kernels/cpu/conv_simd.h"
#include "argand/kernels/cpu/vec.h"

#if defined(__x86_64__)
#define ARGAND_SIMD ARGAND_TARGET_AVX2

namespace argand::avx2 {
namespace {
constexpr int kMaxRows = 6, kDotRows = 2, kDotTaps = 5, kProductTaps = 6;
#include "argand/kernels/cpu/conv_simd.inc"
}  // namespace

const ConvKernels<float>& conv_f32() { return table<float>(); }
const ConvKernels<double>& conv_f64() { return table<double>(); }
}  // namespace argand::avx2
#endif
