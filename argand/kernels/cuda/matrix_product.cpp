#include <algorithm>
#include <optional>

#include "argand/core/dispatch.h"
#include "argand/kernels/api/product_and_sums.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/small_product.h"
#include "argand/runtime/cuda/cublaslt.h"

namespace argand::cuda {
namespace {

constexpr const char *kHeader = "argand/kernels/cuda/matrix_product.cuh",
                     *kComplexHeader = "argand/kernels/cuda/complex_product.cuh";
constexpr int64_t kTile = 64;
constexpr unsigned kThreads = 256;
constexpr int64_t kMaxBatch = 65535;  // blocks along z

template <class Number>
void launch_own(const MatrixProduct& p, const char* header, const char* number, Number alpha, Number beta) {
  const StridedProduct s{p.m,
                         p.n,
                         p.k,
                         p.a.row_stride,
                         p.a.column_stride,
                         p.a.batch_stride,
                         p.b.row_stride,
                         p.b.column_stride,
                         p.b.batch_stride,
                         p.c_row_stride,
                         p.c_batch_stride};
  const int64_t tiles = (p.m + kTile - 1) / kTile * ((p.n + kTile - 1) / kTile);
  launch(kernel_instance(header, "matrix_product", code_type(p.dtype), number),
         {.blocks = blocks_for(tiles, 1), .threads = kThreads, .blocks_z = static_cast<unsigned>(p.batch)}, p.a.data,
         p.b.data, p.c, p.bias, s, alpha, beta);
}

// Every type, any strides.
void own_product(const MatrixProduct& p) {
  const auto run = [&](const char* header, const char* number, auto alpha, auto beta) {
    launch_own(p, header, number, alpha, beta);
  };
  switch (p.dtype) {
    case kHalf:
    case kBFloat16:
    case kFloat:
      return run(kHeader, "float", p.alpha.to<float>(), p.beta.to<float>());
    case kDouble:
      return run(kHeader, "double", p.alpha.to<double>(), p.beta.to<double>());
    case kComplexFloat:
      return run(kComplexHeader, "Complex<float>", p.alpha.to<std::complex<float>>(), p.beta.to<std::complex<float>>());
    case kComplexDouble:
      return run(kComplexHeader, "Complex<double>", p.alpha.to<std::complex<double>>(),
                 p.beta.to<std::complex<double>>());
    case kBool:
      return run(kHeader, "long long", int64_t{p.alpha.to<bool>()}, int64_t{p.beta.to<bool>()});
    default:
      return run(kHeader, "long long", p.alpha.to<int64_t>(), p.beta.to<int64_t>());
  }
}

std::optional<LtMatrix> as_library_matrix(const MatrixProduct::Operand& o, int64_t rows, int64_t columns) {
  // With a single line, the distance to the next does not matter.
  const auto fits = [](int64_t lines, int64_t length, int64_t line_stride, int64_t stride) {
    return (stride == 1 || length == 1) && (line_stride >= length || lines == 1);
  };
  if (fits(rows, columns, o.row_stride, o.column_stride))
    return LtMatrix{o.data, false, rows == 1 ? columns : o.row_stride, o.batch_stride};
  if (fits(columns, rows, o.column_stride, o.row_stride))
    return LtMatrix{o.data, true, columns == 1 ? rows : o.column_stride, o.batch_stride};
  return std::nullopt;
}

// Every row of C becomes the bias.
void fill_with_bias(const MatrixProduct& p) {
  const char* header = is_complex(p.dtype) ? kComplexHeader : kHeader;
  launch(kernel_instance(header, "fill_rows", code_type(p.dtype)), {blocks_for(p.m * p.n, kThreads), kThreads}, p.bias,
         p.c, p.m, p.n, p.c_row_stride);
}

std::optional<LtProduct> as_library_product(const MatrixProduct& p) {
  const auto a = as_library_matrix(p.a, p.m, p.k), b = as_library_matrix(p.b, p.k, p.n);
  if (!a || !b) return std::nullopt;
  return LtProduct{p.dtype,          p.m,   p.n, p.k, *a, *b, p.c, p.c_row_stride, static_cast<int>(p.batch),
                   p.c_batch_stride, p.bias};
}

bool library_product(const MatrixProduct& p) {
  auto call = as_library_product(p);
  if (!call) return false;
  if (cublaslt_product(*call, p.alpha, p.beta)) return true;
  if (!p.bias || !p.beta.equal(0) || p.batch != 1) return false;
  call->bias = nullptr;
  fill_with_bias(p);
  return cublaslt_product(*call, p.alpha, 1);
}

// For products in which a launch is costly; in larger ones the sums cost little, and the library has more kernels
// without them.
bool product_and_sums(const MatrixProduct& p, void* sums) {
  constexpr int64_t kMost = 1 << 26;  // multiplications
  const bool has_elements = p.m > 0 && p.n > 0 && p.k > 0;
  if (!has_elements || is_complex(p.dtype) || p.m > kMost / p.n / p.k) return false;
  if (small_product(p, sums)) return true;
  auto call = as_library_product(p);
  if (!call) return false;
  call->a_sums = sums;
  return cublaslt_product(*call, p.alpha, p.beta);
}

void matrix_product(const MatrixProduct& p) {
  if (p.m == 0 || p.n == 0) return;
  const auto element = static_cast<int64_t>(element_size(p.dtype));
  for (int64_t i = 0; i < p.batch; i += kMaxBatch) {
    MatrixProduct part = p;
    part.batch = std::min(kMaxBatch, p.batch - i);
    part.a.data = static_cast<const char*>(p.a.data) + i * p.a.batch_stride * element;
    part.b.data = static_cast<const char*>(p.b.data) + i * p.b.batch_stride * element;
    part.c = static_cast<char*>(p.c) + i * p.c_batch_stride * element;
    // As in BLAS: with alpha 0, A and B are not read, so their NaNs have no effect.
    if (p.alpha == 0) part.k = 0;
    if (small_product(part, nullptr)) continue;
    const bool by_library = contains(kFloatingTypes | kComplexTypes, p.dtype) && part.k > 0;
    if (by_library && library_product(part)) continue;
    own_product(part);
  }
}

const bool registered =
    (blocks::matrix_product.set(kCUDA, matrix_product), blocks::product_and_sums.set(kCUDA, product_and_sums), true);

}  // namespace
}  // namespace argand::cuda
