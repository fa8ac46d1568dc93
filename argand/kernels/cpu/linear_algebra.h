// Dense linear algebra by loops: kernels/api/linear_algebra.h.
#pragma once
#include "argand/kernels/api/linear_algebra.h"

namespace argand::cpu {

RunCholesky factor_cholesky;
RunLu factor_lu;
RunLuSolve solve_lu;
RunLdl factor_ldl;
RunLdlSolve solve_ldl;
RunTriangleSolve solve_triangle;
RunRowOrder row_order;
RunQr factor_qr;
RunReflections reflections_product;
RunHermitian decompose_hermitian;
RunSingular decompose_singular;
RunGeneral decompose_general;

}  // namespace argand::cpu
