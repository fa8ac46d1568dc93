#include "argand/nn/utils/clip_grad.h"

#include <cmath>

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"

namespace argand::nn::utils {
namespace {

std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> out;
  for (const Tensor& p : parameters)
    if (p.grad().defined()) out.push_back(p.grad());
  return out;
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return 0;
  std::vector<Tensor> norms;
  for (const Tensor& g : grads) norms.push_back(linalg_vector_norm(g, norm_type).to(grads[0].device(), kDouble));
  const auto total = linalg_vector_norm(stack(norms), norm_type).item<double>();
  ARGAND_CHECK(ValueError, !error_if_nonfinite || std::isfinite(total), "The total norm of order ", norm_type,
               " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and "
               "scale the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  const double factor = max_norm / (total + 1e-6);
  if (!(factor >= 1))  // NaN is not
    for (const Tensor& g : grads) g.mul_(factor);
  return total;
}
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& g : gradients(parameters)) g.clamp_(-clip_value, clip_value);
}
void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{parameter}, clip_value);
}

}  // namespace argand::nn::utils
