// Shared parts of the ops for singular values and eigenvalues.
#pragma once
#include <algorithm>
#include <limits>

#include "argand/base/linalg_error.h"
#include "argand/exec/has_values.h"
#include "argand/ops/functions.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/operators.h"
#include "argand/ops/samples.h"

namespace argand::ops {

// For samples: vectors have other phases on a GPU, and the eigenvalues of general matrices another order
// (tests/conformance/compare.h; tests/cuda compares what they multiply back to).
inline Accuracy up_to_phases() {
  return {std::numeric_limits<double>::infinity(), "vectors are unique but for their phases", kCUDA};
}

// [..., j, k] = 1 / (x_k - x_j), and 0 where j = k.
inline Tensor reciprocal_gaps(const Tensor& x, const Tensor& gaps) {
  const Tensor one = eye(x.size(-1), x.options());
  return (1 - one) / (gaps + one);
}
inline Tensor reciprocal_gaps(const Tensor& x) { return reciprocal_gaps(x, x.unsqueeze(-2) - x.unsqueeze(-1)); }

// GradError if the loss depends on the phase of vectors: `phases`, its derivatives by the phases, must be 0.
inline void check_phases(const char* of, const char* vectors, const Tensor& phases) {
  if (!exec::has_values(phases) || phases.numel() == 0) return;
  ARGAND_CHECK(GradError, !(phases.detach().abs() > 1e-2).any().item().toBool(), of, ": The ", vectors,
               " in the complex case are specified up to multiplication by e^{i phi}. The specified loss function "
               "depends on this quantity, so it is ill-defined.");
}

// For each matrix [..., m, n], whether an element is not finite.
inline Tensor are_not_finite(const Tensor& A) { return A.isfinite().logical_not().flatten(-2).any(-1); }

// For ops that refuse elements that are not finite: fail(the number of the first matrix that has one).
template <class Fail>
void check_finite(const Tensor& A, Fail fail) {
  if (A.numel() == 0) return;
  const Tensor wrong = are_not_finite(A);
  if (!wrong.any().item().toBool()) return;
  const Tensor list = wrong.to(Device(kCPU)).contiguous();
  const bool* p = raw<bool>(list);
  fail(std::find(p, p + list.numel(), true) - p);
}

// "(Batch element 3): " if there is a batch.
inline std::string of_batch(const Tensor& A, int64_t i) { return A.dim() > 2 ? str("(Batch element ", i, "): ") : ""; }

// LinAlgError if an element of `info` is not 0.
inline void check_convergence(const char* op, const Tensor& A, const Tensor& info, const char* what) {
  const Tensor list = info.to(Device(kCPU)).contiguous();
  const int32_t* p = raw<int32_t>(list);
  for (int64_t i = 0; i < list.numel(); ++i)
    if (p[i] != 0) ARGAND_THROW(LinAlgError, op, ": ", of_batch(A, i), what);
}

}  // namespace argand::ops
