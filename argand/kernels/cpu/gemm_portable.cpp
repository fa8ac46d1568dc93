#include <cstddef>
#include <utility>

#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/vec.h"

#define ARGAND_SIMD

namespace argand::portable {
namespace {
constexpr int kMaxRows = 4;
#include "argand/kernels/cpu/gemm_simd.inc"
}  // namespace

const GemmKernels<float>& gemm_f32() { return table<float>(); }
const GemmKernels<double>& gemm_f64() { return table<double>(); }
}  // namespace argand::portable
