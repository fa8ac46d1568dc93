#include "argand/autograd/forward_rules.h"

#include "argand/ops/conv/args.h"
#include "argand/ops/functions.h"
#include "argand/ops/matmul/args.h"
#include "argand/ops/operators.h"

namespace argand {

namespace ops {
extern OpInfo Linear_info, ConvolutionNd_info;
}  // namespace ops

namespace autograd {
namespace {

// The tangent of layer(input, weight, bias), which is linear in the input and in the weight, and adds the bias.
template <class Args, class Layer>
Tensor of_layer(const Args& a, const Args& t, const Layer& layer) {
  if (!t.weight.defined()) return layer(t.input, a.weight, t.bias);
  const Tensor of_weight = layer(a.input, t.weight, t.bias);
  return t.input.defined() ? of_weight + layer(t.input, a.weight, Tensor()) : of_weight;
}

Tensor tangent(const ops::LinearArgs& a, const ops::LinearArgs& t, const Tensor& result) {
  if (!t.input.defined() && !t.weight.defined()) return t.bias.expand(result.sizes()).clone();
  return of_layer(a, t, [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); });
}

Tensor tangent(const ops::ConvolutionNdArgs& a, const ops::ConvolutionNdArgs& t, const Tensor& result) {
  if (!t.input.defined() && !t.weight.defined()) {
    Dims sizes(result.sizes().size() - 1, 1);
    sizes[0] = t.bias.numel();
    return t.bias.view(sizes).expand(result.sizes()).clone();
  }
  return of_layer(a, t, [&](const Tensor& x, const Tensor& w, const Tensor& b) {
    return _convolution_nd(x, w, b, a.stride, a.padding, a.dilation, a.groups);
  });
}

template <class Args>
Tensor rule(const void* args, std::span<const Tensor> tangents, const Tensor& result) {
  const auto& a = *static_cast<const Args*>(args);
  Args t = a;
  t.each_tensor([&, i = size_t{0}](Tensor& each, int) mutable { each = tangents[i++]; });
  return tangent(a, t, result);
}

}  // namespace

ForwardRule forward_rule(const OpInfo& op) {
  if (&op == &ops::Linear_info) return rule<ops::LinearArgs>;
  if (&op == &ops::ConvolutionNd_info) return rule<ops::ConvolutionNdArgs>;
  return nullptr;
}

}  // namespace autograd
}  // namespace argand
