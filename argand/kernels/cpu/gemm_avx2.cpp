#include <cstddef>
#include <utility>

#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/vec.h"

#if defined(__x86_64__)
#define ARGAND_SIMD ARGAND_TARGET_AVX2

namespace argand::avx2 {
namespace {
constexpr int kMaxRows = 6;
#include "argand/kernels/cpu/gemm_simd.inc"
}  // namespace

const GemmKernels<float>& gemm_f32() { return table<float>(); }
const GemmKernels<double>& gemm_f64() { return table<double>(); }
}  // namespace argand::avx2
#endif
