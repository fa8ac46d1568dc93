#include "argand/nn/functional/activation.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {

Tensor relu(Tensor x, const ReLUFuncOptions& o) { return o.inplace() ? x.relu_() : x.relu(); }
Tensor relu6(Tensor x, const ReLU6FuncOptions& o) {
  return functional::hardtanh(std::move(x), HardtanhOptions().min_val(0).max_val(6).inplace(o.inplace()));
}
Tensor leaky_relu(Tensor x, const LeakyReLUFuncOptions& o) {
  return o.inplace() ? argand::leaky_relu_(x, o.negative_slope()) : argand::leaky_relu(x, o.negative_slope());
}
Tensor rrelu(Tensor x, const RReLUFuncOptions& o) {
  // In place, backward must find what x was before.
  const Tensor from = o.inplace() ? x.clone() : x, out = argand::rrelu(from, o.lower(), o.upper(), o.training());
  return o.inplace() ? x.copy_(out) : out;
}
Tensor prelu(const Tensor& x, const Tensor& weight) { return argand::prelu(x, weight); }
Tensor elu(Tensor x, const ELUFuncOptions& o) {
  return o.inplace() ? argand::elu_(x, o.alpha()) : argand::elu(x, o.alpha());
}
Tensor selu(Tensor x, const SELUFuncOptions& o) { return o.inplace() ? argand::selu_(x) : argand::selu(x); }
Tensor celu(Tensor x, const CELUFuncOptions& o) {
  return o.inplace() ? argand::celu_(x, o.alpha()) : argand::celu(x, o.alpha());
}
Tensor gelu(const Tensor& x, const GELUFuncOptions& o) { return argand::gelu(x, o.approximate()); }
Tensor silu(const Tensor& x) { return argand::silu(x); }
Tensor mish(const Tensor& x) { return argand::mish(x); }
Tensor hardtanh(Tensor x, const HardtanhFuncOptions& o) {
  ARGAND_CHECK(ValueError, o.min_val() <= o.max_val(), "hardtanh: min_val cannot be greater than max_val, got ",
               o.min_val(), " and ", o.max_val());
  return o.inplace() ? argand::hardtanh_(x, o.min_val(), o.max_val()) : argand::hardtanh(x, o.min_val(), o.max_val());
}
Tensor hardsigmoid(Tensor x, bool inplace) { return inplace ? argand::hardsigmoid_(x) : argand::hardsigmoid(x); }
Tensor hardswish(Tensor x, bool inplace) { return inplace ? argand::hardswish_(x) : argand::hardswish(x); }
Tensor hardshrink(const Tensor& x, const HardshrinkFuncOptions& o) { return argand::hardshrink(x, o.lambda()); }
Tensor softshrink(const Tensor& x, const SoftshrinkFuncOptions& o) { return argand::softshrink(x, o.lambda()); }
Tensor tanhshrink(const Tensor& x) { return x - x.tanh(); }
Tensor softplus(const Tensor& x, const SoftplusFuncOptions& o) { return argand::softplus(x, o.beta(), o.threshold()); }
Tensor softsign(const Tensor& x) { return x / (x.abs() + 1); }
Tensor logsigmoid(const Tensor& x) { return argand::log_sigmoid(x); }
Tensor threshold(Tensor x, const ThresholdFuncOptions& o) {
  return o.inplace() ? argand::threshold_(x, o.threshold(), o.value()) : argand::threshold(x, o.threshold(), o.value());
}
Tensor glu(const Tensor& x, const GLUFuncOptions& o) {
  ARGAND_CHECK(ShapeError, x.dim() != 0, "glu does not support scalars because halving size must be even");
  return argand::glu(x, o.dim());
}
Tensor softmax(const Tensor& x, const SoftmaxFuncOptions& o) { return argand::softmax(x, o.dim(), o.dtype()); }
Tensor softmin(const Tensor& x, const SoftminFuncOptions& o) { return argand::softmax(-x, o.dim(), o.dtype()); }
Tensor log_softmax(const Tensor& x, const LogSoftmaxFuncOptions& o) {
  return argand::log_softmax(x, o.dim(), o.dtype());
}
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& o) {
  const Tensor noise = -empty_like(logits, TensorOptions(), MemoryFormat::Contiguous).exponential_().log();
  const Tensor soft = ((logits + noise) / o.tau()).softmax(o.dim());
  if (!o.hard()) return soft;
  const Tensor place = std::get<1>(soft.max(o.dim(), /*keepdim=*/true));
  const Tensor one_hot = zeros_like(logits, TensorOptions(), MemoryFormat::Contiguous).scatter_(o.dim(), place, 1.0);
  return one_hot - soft.detach() + soft;
}

}  // namespace argand::nn::functional
