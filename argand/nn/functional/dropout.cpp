#include "argand/nn/functional/dropout.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {
namespace {

void check_probability(double p) {
  ARGAND_CHECK(ValueError, p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

// Ones with probability 1 - p, else zeros: one for each channel of [N, C, ...], or for each element.
Tensor draw(const Tensor& input, double p, bool channels) {
  Dims sizes(input.sizes());
  if (channels) {
    ARGAND_CHECK(ShapeError, input.dim() >= 2, "feature dropout: expected at least 2 dimensions, got ", input.sizes());
    for (size_t d = 2; d < sizes.size(); ++d) sizes[d] = 1;
  }
  return empty(sizes, input.options()).bernoulli_(1 - p);
}

Tensor finish(Tensor& input, const Tensor& scale, const Tensor& shift, bool inplace) {
  if (inplace) {
    input.mul_(scale);
    if (shift.defined()) input.add_(shift);
    return input;
  }
  const Tensor out = input * scale;
  return shift.defined() ? out + shift : out;
}

Tensor drop(Tensor& input, double p, bool training, bool inplace, bool channels) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  const Tensor scale = p == 1 ? zeros({}, input.options()) : draw(input, p, channels).div_(1 - p);
  return finish(input, scale, Tensor(), inplace);
}

// "Self-Normalizing Neural Networks" (Klambauer et al. 2017): dropped elements take the value SELU tends to at minus
// infinity, then an affine map restores mean 0 and variance 1.
Tensor drop_alpha(Tensor& input, double p, bool training, bool inplace, bool channels) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  if (p == 1) return finish(input, zeros({}, input.options()), Tensor(), inplace);
  constexpr double kLimit = 1.7580993408473766;  // scale * alpha of SELU
  const double a = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  const Tensor kept = draw(input, p, channels);
  const Tensor shift = kept.sub(1).mul_(kLimit * a).add_(kLimit * a * p);
  return finish(input, kept.mul(a), shift, inplace);
}

}  // namespace

Tensor dropout(Tensor input, const DropoutFuncOptions& o) {
  return drop(input, o.p(), o.training(), o.inplace(), false);
}
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& o) {
  return drop(input, o.p(), o.training(), o.inplace(), true);
}
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& o) {
  return drop(input, o.p(), o.training(), o.inplace(), true);
}
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& o) {
  return drop_alpha(input, o.p(), o.training(), o.inplace(), false);
}
Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& o) {
  return drop_alpha(input, o.p(), o.training(), o.inplace(), true);
}

}  // namespace argand::nn::functional
