#include "argand/ops/matmul/product.h"

#include "argand/core/dispatch.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/cpu/gemm.h"

namespace argand::ops {
namespace {

template <class T>
GemmArgs<T> gemm_args(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha, const Scalar& beta) {
  const auto rows = a.dim() - 2, cols = a.dim() - 1;
  GemmArgs<T> g{};
  g.m = out.sizes()[rows];
  g.n = out.sizes()[cols];
  g.k = a.sizes()[cols];
  g.a = {raw<T>(a), a.strides()[rows], a.strides()[cols]};
  g.b = {raw<T>(b), b.strides()[rows], b.strides()[cols]};
  g.c = raw<T>(out);
  g.c_row_stride = g.n;
  g.alpha = alpha.to<GemmMath<T>>();
  g.beta = beta.to<GemmMath<T>>();
  return g;
}

}  // namespace

void product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha, const Scalar& beta,
             const Tensor& bias) {
  dispatch<kAllTypes>(out.dtype(), "mm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    GemmArgs<T> g = gemm_args<T>(a, b, out, alpha, beta);
    if (bias.defined()) g.bias = raw<T>(bias);
    gemm(g);
  });
}

void batched_product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha, const Scalar& beta) {
  dispatch<kAllTypes>(out.dtype(), "bmm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    gemm_batched(out.sizes()[0], gemm_args<T>(a, b, out, alpha, beta), a.strides()[0], b.strides()[0],
                 out.strides()[0]);
  });
}

void check_same_dtype(const char* op, const char* a_name, const Tensor& a, const char* b_name, const Tensor& b) {
  ARGAND_CHECK(DtypeError, a.dtype() == b.dtype(), op, ": expected ", a_name, " and ", b_name,
               " to have the same dtype, but got ", a.dtype(), " and ", b.dtype());
}

}  // namespace argand::ops
