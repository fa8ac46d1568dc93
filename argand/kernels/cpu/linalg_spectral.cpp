// Singular values and eigenvalues of batches, computed in double precision (linalg_decompose.h).
#include <algorithm>

#include "argand/kernels/cpu/linalg_decompose.h"
#include "argand/kernels/cpu/linalg_scalar.h"
#include "argand/kernels/cpu/linear_algebra.h"

namespace argand::cpu {
namespace {

using linalg::conjugated, linalg::each_matrix, linalg::kElements, linalg::real_of_t, linalg::wide_t;

template <class T>
std::vector<wide_t<T>> widened(const T* from, int64_t n) {
  return std::vector<wide_t<T>>(from, from + n);
}
template <class W, class T>
void narrow(const std::vector<W>& from, T* to) {
  std::transform(from.begin(), from.end(), to, [](const W& x) { return static_cast<T>(x); });
}

// The lower triangle that the library of loops reads: that of A, or of its conjugate, which is A's upper one turned.
template <class T>
std::vector<wide_t<T>> lower_triangle(const T* from, int64_t n, bool upper) {
  std::vector<wide_t<T>> a(static_cast<size_t>(n * n));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i)
      a[static_cast<size_t>(j * n + i)] =
          upper ? conjugated(static_cast<wide_t<T>>(from[i * n + j])) : static_cast<wide_t<T>>(from[j * n + i]);
  return a;
}

}  // namespace

void decompose_hermitian(const HermitianCall& c) {
  dispatch<kElements>(c.type, "decompose_hermitian", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = real_of_t<T>;
    T* a = static_cast<T*>(c.a);
    R* values = static_cast<R*>(c.values);
    each_matrix(c.batch, 8 * c.n * c.n * c.n, [&](int64_t b) {
      T* matrix = a + b * c.n * c.n;
      linalg::Hermitian<wide_t<T>> to;
      const bool converged = linalg::decompose_hermitian(lower_triangle(matrix, c.n, c.upper), c.n, c.vectors, to);
      c.info[b] = converged ? 0 : 1;
      narrow(to.values, values + b * c.n);
      if (c.vectors) narrow(to.vectors, matrix);
    });
  });
}

void decompose_singular(const SingularCall& c) {
  dispatch<kElements>(c.type, "decompose_singular", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = real_of_t<T>;
    const T* a = static_cast<const T*>(c.a);
    T *u = static_cast<T*>(c.u), *v = static_cast<T*>(c.v);
    R* s = static_cast<R*>(c.s);
    each_matrix(c.batch, 16 * c.m * c.n * c.n, [&](int64_t b) {
      linalg::Singular<wide_t<T>> to;
      const bool converged =
          linalg::decompose_singular(widened(a + b * c.m * c.n, c.m * c.n), c.m, c.n, u != nullptr, c.width, to);
      c.info[b] = converged ? 0 : 1;
      narrow(to.s, s + b * c.n);
      if (!u) return;
      narrow(to.u, u + b * c.m * c.width);
      narrow(to.v, v + b * c.n * c.n);
    });
  });
}

void decompose_general(const GeneralCall& c) {
  dispatch<kElements>(c.type, "decompose_general", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* a = static_cast<const T*>(c.a);
    auto* values = static_cast<std::complex<real_of_t<T>>*>(c.values);
    T* vectors = static_cast<T*>(c.vectors);
    each_matrix(c.batch, 16 * c.n * c.n * c.n, [&](int64_t b) {
      linalg::General to;
      const bool converged =
          linalg::decompose_general(widened(a + b * c.n * c.n, c.n * c.n), c.n, vectors != nullptr, to);
      c.info[b] = converged ? 0 : 1;
      if (!converged) return;
      narrow(to.values, values + b * c.n);
      if (!vectors) return;
      T* out = vectors + b * c.n * c.n;
      for (int64_t k = 0; k < c.n; ++k) {
        const std::complex<double>* vector = to.vectors.data() + k * c.n;
        const bool second = to.values[static_cast<size_t>(k)].imag() < 0;  // of a pair
        for (int64_t i = 0; i < c.n; ++i) {
          if constexpr (is_complex_v<T>)
            out[k * c.n + i] = static_cast<T>(vector[i]);
          else
            out[k * c.n + i] = static_cast<T>(second ? -vector[i].imag() : vector[i].real());
        }
      }
    });
  });
}

}  // namespace argand::cpu
