#include <cstddef>
#include <utility>

#include "argand/kernels/cpu/conv_simd.h"
#include "argand/kernels/cpu/vec.h"

#if defined(__x86_64__)
#define ARGAND_SIMD ARGAND_TARGET_AVX512

namespace argand::avx512 {
namespace {
constexpr int kMaxRows = 14, kDotRows = 3, kDotTaps = 9, kProductTaps = 12;
#include "argand/kernels/cpu/conv_simd.inc"
}  // namespace

const ConvKernels<float>& conv_f32() { return table<float>(); }
const ConvKernels<double>& conv_f64() { return table<double>(); }
}  // namespace argand::avx512
#endif
