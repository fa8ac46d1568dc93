#include "argand/ops/matmul/product.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/api/product_and_sums.h"
#include "argand/kernels/blocks.h"

namespace argand::ops {
namespace {

// Whether rows or columns are dense and do not overlap, as libraries of matrix products require.
bool has_dense_lines(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  const auto dense = [](int64_t lines, int64_t length, int64_t line_stride, int64_t stride) {
    return (stride == 1 || length <= 1) && (line_stride >= length || lines <= 1);
  };
  return dense(rows, columns, row_stride, column_stride) || dense(columns, rows, column_stride, row_stride);
}

// On a GPU such an operand is copied rather than multiplied by a slower kernel.
Tensor operand(const Tensor& t) {
  const auto rows = t.dim() - 2, cols = t.dim() - 1;
  if (t.is_cpu() || has_dense_lines(t.sizes()[rows], t.sizes()[cols], t.strides()[rows], t.strides()[cols])) return t;
  return exec::dense(t);
}

MatrixProduct call(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha, const Scalar& beta) {
  const auto rows = a.dim() - 2, cols = a.dim() - 1;
  MatrixProduct p{};
  p.dtype = out.dtype();
  p.m = out.sizes()[rows];
  p.n = out.sizes()[cols];
  p.k = a.sizes()[cols];
  p.a = {a.impl().data(), a.strides()[rows], a.strides()[cols]};
  p.b = {b.impl().data(), b.strides()[rows], b.strides()[cols]};
  p.c = out.impl().data();
  p.c_row_stride = p.n;
  p.alpha = alpha;
  p.beta = beta;
  return p;
}

}  // namespace

void product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha, const Scalar& beta,
             const Tensor& bias) {
  const Tensor left = operand(a), right = operand(b);
  MatrixProduct p = call(left, right, out, alpha, beta);
  if (bias.defined()) p.bias = bias.impl().data();
  blocks::matrix_product.on(out.device())(p);
}

bool product_and_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums) {
  if (out.is_cpu()) return false;
  const Tensor left = operand(a), right = operand(b);
  return blocks::product_and_sums.on(out.device())(call(left, right, out, 1, 0), sums.impl().data());
}

void batched_product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha, const Scalar& beta) {
  const Tensor left = operand(a), right = operand(b);
  MatrixProduct p = call(left, right, out, alpha, beta);
  p.batch = out.sizes()[0];
  p.a.batch_stride = left.strides()[0];
  p.b.batch_stride = right.strides()[0];
  p.c_batch_stride = out.strides()[0];
  blocks::matrix_product.on(out.device())(p);
}

void check_same_dtype(const char* op, const char* a_name, const Tensor& a, const char* b_name, const Tensor& b) {
  ARGAND_CHECK(DtypeError, a.dtype() == b.dtype(), op, ": expected ", a_name, " and ", b_name,
               " to have the same dtype, but got: ", a.dtype(), " != ", b.dtype(), " (", dtype_cpp_name(a.dtype()),
               " != ", dtype_cpp_name(b.dtype()), ")");
}

}  // namespace argand::ops
