// Activations as functions; with inplace(true) the argument itself is changed.
#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/activation.h"

namespace argand::nn::functional {

Tensor relu(Tensor input, const ReLUFuncOptions& options = {});             // max(x, 0)
Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});           // min(max(x, 0), 6)
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});  // x, or slope x below 0
Tensor prelu(const Tensor& input, const Tensor& weight);                    // x, or weight x below 0
Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});           // x, or a random slope x below 0
Tensor elu(Tensor input, const ELUFuncOptions& options = {});               // x, or alpha (exp(x) - 1) below 0
Tensor selu(Tensor input, const SELUFuncOptions& options = {});
Tensor celu(Tensor input, const CELUFuncOptions& options = {});
Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});  // x Phi(x)
Tensor silu(const Tensor& input);                                       // x sigmoid(x)
Tensor mish(const Tensor& input);                                       // x tanh(softplus(x))
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
Tensor hardsigmoid(Tensor input, bool inplace = false);
Tensor hardswish(Tensor input, bool inplace = false);
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
Tensor tanhshrink(const Tensor& input);                                         // x - tanh(x)
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});  // log(1 + exp(beta x)) / beta
Tensor softsign(const Tensor& input);                                           // x / (1 + |x|)
Tensor logsigmoid(const Tensor& input);
Tensor threshold(Tensor input, const ThresholdFuncOptions& options);  // x, or value up to threshold
Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});  // first half times sigmoid of the second
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);  // softmax(-x)
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
// A sample of the Gumbel-softmax distribution; one-hot if hard, with the gradient of the soft one (Jang et al. 2017).
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});

}  // namespace argand::nn::functional
