// torch::special: functions of torch under the names of scipy.special.
#pragma once
#include "torch/types.h"

namespace torch::special {

inline Tensor digamma(const Tensor& self) { return at::digamma(self); }
inline Tensor erf(const Tensor& self) { return at::erf(self); }
inline Tensor erfc(const Tensor& self) { return at::erfc(self); }
inline Tensor erfinv(const Tensor& self) { return at::erfinv(self); }
inline Tensor exp2(const Tensor& self) { return at::exp2(self); }
inline Tensor expit(const Tensor& self) { return at::sigmoid(self); }
inline Tensor expm1(const Tensor& self) { return at::expm1(self); }
inline Tensor gammaln(const Tensor& self) { return at::lgamma(self); }
inline Tensor i0(const Tensor& self) { return at::i0(self); }
inline Tensor i1(const Tensor& self) { return at::special_i1(self); }
inline Tensor log1p(const Tensor& self) { return at::log1p(self); }
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return at::log_softmax(self, dim, dtype);
}
inline Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt) { return at::logit(self, eps); }
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim = false) {
  return at::logsumexp(self, dims, keepdim);
}
inline Tensor polygamma(int64_t n, const Tensor& self) { return at::polygamma(n, self); }
inline Tensor psi(const Tensor& self) { return at::digamma(self); }
inline Tensor sinc(const Tensor& self) { return at::sinc(self); }
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return at::softmax(self, dim, dtype);
}
inline Tensor xlogy(const Tensor& self, const Tensor& other) { return at::xlogy(self, other); }

}  // namespace torch::special
