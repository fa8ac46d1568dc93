// Shared parts of the ops for singular values and eigenvalues.
#pragma once
#include "argand/base/linalg_error.h"
#include "argand/ops/functions.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/operators.h"

namespace argand::ops {

// The type in which a matrix of T is decomposed (decompose.h).
template <class T>
using wide_t = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;

// Copies a row-major matrix [m, n], or its adjoint, to columns.  Returns whether all elements are finite.
template <class T>
bool load_columns(const T* from, int64_t m, int64_t n, bool adjoint, std::vector<wide_t<T>>& to) {
  to.resize(static_cast<size_t>(m * n));
  bool finite = true;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const auto x = static_cast<wide_t<T>>(from[i * n + j]);
      finite &= std::isfinite(real_part(x)) && std::isfinite(std::abs(x));
      to[static_cast<size_t>(adjoint ? i * n + j : j * m + i)] = adjoint ? conjugated(x) : x;
    }
  return finite;
}
// Copies columns of n elements to a row-major [n, width].
template <class T, class W>
void store_columns(const std::vector<W>& from, int64_t n, int64_t width, T* to) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) to[i * width + j] = static_cast<T>(from[static_cast<size_t>(j * n + i)]);
}

// [..., j, k] = 1 / (x_k - x_j), and 0 where j = k.
inline Tensor reciprocal_gaps(const Tensor& x, const Tensor& gaps) {
  const Tensor one = eye(x.size(-1), x.options());
  return (1 - one) / (gaps + one);
}
inline Tensor reciprocal_gaps(const Tensor& x) { return reciprocal_gaps(x, x.unsqueeze(-2) - x.unsqueeze(-1)); }

// GradError if the loss depends on the phase of vectors: `phases`, its derivatives by the phases, must be 0.
inline void check_phases(const char* of, const char* vectors, const Tensor& phases) {
  if (phases.is_meta() || phases.numel() == 0) return;
  ARGAND_CHECK(GradError, !(phases.detach().abs() > 1e-2).any().item().toBool(), of, ": The ", vectors,
               " in the complex case are specified up to multiplication by e^{i phi}. The specified loss function "
               "depends on this quantity, so it is ill-defined.");
}

// LinAlgError if an element of `failed` is not 0, which means success.
inline void check_failures(const char* op, const std::vector<int32_t>& failed, bool batch, const char* const what[]) {
  for (size_t i = 0; i < failed.size(); ++i)
    if (failed[i] != 0)
      ARGAND_THROW(LinAlgError, op, ": ", batch ? str("(Batch element ", i, "): ") : "", what[failed[i] - 1]);
}

}  // namespace argand::ops
