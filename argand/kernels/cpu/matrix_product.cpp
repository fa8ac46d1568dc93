#include "argand/kernels/cpu/matrix_product.h"

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/gemm.h"

namespace argand::cpu {

void matrix_product(const MatrixProduct& p) {
  dispatch<kAllTypes>(p.dtype, "mm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    GemmArgs<T> g{};
    g.m = p.m;
    g.n = p.n;
    g.k = p.k;
    g.a = {static_cast<const T*>(p.a.data), p.a.row_stride, p.a.column_stride};
    g.b = {static_cast<const T*>(p.b.data), p.b.row_stride, p.b.column_stride};
    g.c = static_cast<T*>(p.c);
    g.c_row_stride = p.c_row_stride;
    g.alpha = p.alpha.to<GemmMath<T>>();
    g.beta = p.beta.to<GemmMath<T>>();
    g.bias = static_cast<const T*>(p.bias);
    if (p.batch == 1)
      gemm(g);
    else
      gemm_batched(p.batch, g, p.a.batch_stride, p.b.batch_stride, p.c_batch_stride);
  });
}

}  // namespace argand::cpu
