// QR by Householder's reflections.
#include <algorithm>

#include "argand/kernels/cpu/linalg_reflections.h"
#include "argand/kernels/cpu/linear_algebra.h"

namespace argand::cpu {

using linalg::each_matrix, linalg::kElements;

void factor_qr(const QrCall& c) {
  const int64_t k = std::min(c.m, c.n);
  dispatch<kElements>(c.type, "factor_qr", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *a = static_cast<T*>(c.a), *tau = static_cast<T*>(c.tau);
    each_matrix(c.batch, c.m * c.n * k, [&](int64_t b) {
      const std::vector<T> factors = linalg::factor_qr(a + b * c.m * c.n, c.m, c.n);
      std::copy(factors.begin(), factors.end(), tau + b * k);
    });
  });
}

void reflections_product(const ReflectionsCall& c) {
  dispatch<kElements>(c.type, "reflections_product", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* a = static_cast<T*>(c.a);
    const T* tau = static_cast<const T*>(c.tau);
    each_matrix(c.batch, c.m * c.columns * c.count, [&](int64_t b) {
      T* matrix = a + b * c.m * c.columns;
      const std::vector<T> factors(tau + b * c.count, tau + (b + 1) * c.count);
      const std::vector<T> q = linalg::unroll(matrix, factors, c.m, c.columns);
      std::copy(q.begin(), q.end(), matrix);
    });
  });
}

}  // namespace argand::cpu
