// gemm for float and double: the loops around the kernels of gemm_simd.h.
#pragma once
#include "argand/kernels/cpu/gemm.h"

namespace argand::detail {

// REQUIRES m, n, k >= 1.
template <class T>
void blocked_gemm(const GemmArgs<T>& args);

extern template void blocked_gemm<float>(const GemmArgs<float>&);
extern template void blocked_gemm<double>(const GemmArgs<double>&);

}  // namespace argand::detail
