#include "argand/nn/init.h"

#include <cmath>
#include <numbers>

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::init {

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  ARGAND_CHECK(ShapeError, tensor.dim() >= 2,
               "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got ", tensor.sizes());
  int64_t taps = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) taps *= tensor.size(d);
  return {tensor.size(1) * taps, tensor.size(0) * taps};
}

Tensor constant_(Tensor tensor, Scalar value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor matrix) {
  const NoGradGuard no_grad;
  ARGAND_CHECK(ShapeError, matrix.dim() == 2, "Only tensors with 2 dimensions are supported, got ", matrix.sizes());
  return matrix.copy_(eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor dirac_(Tensor tensor) {
  const NoGradGuard no_grad;
  ARGAND_CHECK(ShapeError, tensor.dim() >= 3 && tensor.dim() <= 5,
               "Only tensors with 3, 4, or 5 dimensions are supported, got ", tensor.sizes());
  tensor.zero_();
  for (int64_t i = 0; i < std::min(tensor.size(0), tensor.size(1)); ++i) {
    Tensor tap = tensor[i][i];
    while (tap.dim() > 0) tap = tap[tap.size(0) / 2];
    tap.fill_(1);
  }
  return tensor;
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}
Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

// Uses the inverse of the normal distribution: a uniform draw between the two tails, mapped back.
Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  const NoGradGuard no_grad;
  const auto cdf = [&](double x) { return (1 + std::erf((x - mean) / std / std::numbers::sqrt2)) / 2; };
  tensor.uniform_(2 * cdf(a) - 1, 2 * cdf(b) - 1);
  tensor.erfinv_();
  tensor.mul_(std * std::numbers::sqrt2).add_(mean);
  return tensor.clamp_(a, b);
}

// The Q of the QR decomposition with R's diagonal positive: Gram-Schmidt, twice against rounding, in float64.
static Tensor orthonormal_columns(const Tensor& matrix) {
  const Tensor from = matrix.to(kDouble), q = argand::zeros_like(from);
  for (int64_t j = 0; j < from.size(1); ++j) {
    Tensor column = from.select(1, j);
    const Tensor before = q.narrow(1, 0, j);
    for (int pass = 0; pass < 2; ++pass) column = column - before.mv(before.t().mv(column));
    q.select(1, j).copy_(column / column.norm());
  }
  return q;
}

Tensor orthogonal_(Tensor tensor, double gain) {
  const NoGradGuard no_grad;
  ARGAND_CHECK(ShapeError, tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
  if (tensor.numel() == 0) return tensor;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  const Tensor random = argand::randn({rows, columns}, tensor.options());
  const Tensor q = rows < columns ? orthonormal_columns(random.t()).t() : orthonormal_columns(random);
  return tensor.copy_(q.reshape(tensor.sizes())).mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  const NoGradGuard no_grad;
  ARGAND_CHECK(ShapeError, tensor.dim() == 2, "Only tensors with 2 dimensions are supported");
  const int64_t rows = tensor.size(0), zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < tensor.size(1); ++column)
    tensor.select(1, column).index_fill_(0, argand::randperm(rows, tensor.device()).narrow(0, 0, zeros), 0);
  return tensor;
}

static double kaiming_std(const Tensor& tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  const int64_t fan = std::holds_alternative<enumtype::kFanIn>(mode) ? in : out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  return init::normal_(tensor, 0, kaiming_std(tensor, a, mode, nonlinearity));
}
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return init::uniform_(tensor, -bound, bound);
}

static double xavier_std(const Tensor& tensor, double gain) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(in + out));
}
Tensor xavier_normal_(Tensor tensor, double gain) { return init::normal_(tensor, 0, xavier_std(tensor, gain)); }
Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return init::uniform_(tensor, -bound, bound);
}

}  // namespace argand::nn::init
