#include "argand/nn/modules/activation.h"

#include "argand/nn/functional/activation.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {

namespace F = functional;

// With an in-place option, which is shown only when set: alone in the parentheses, or after others.
static const char* inplace_alone(bool inplace) { return inplace ? "inplace=true)" : ")"; }
static const char* inplace_after(bool inplace) { return inplace ? ", inplace=true)" : ")"; }

#define ARGAND_ACTIVATION(Name, function, ...)                                                                    \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "(" << __VA_ARGS__; } \
  Tensor Name##Impl::forward(Tensor input) { return F::function(std::move(input), options); }
ARGAND_ACTIVATION(ReLU, relu, inplace_alone(options.inplace()))
ARGAND_ACTIVATION(ReLU6, relu6, inplace_alone(options.inplace()))
ARGAND_ACTIVATION(SELU, selu, inplace_alone(options.inplace()))
ARGAND_ACTIVATION(LeakyReLU, leaky_relu,
                  "negative_slope=" << options.negative_slope() << inplace_after(options.inplace()))
ARGAND_ACTIVATION(ELU, elu, "alpha=" << options.alpha() << inplace_after(options.inplace()))
ARGAND_ACTIVATION(CELU, celu, "alpha=" << options.alpha() << inplace_after(options.inplace()))
ARGAND_ACTIVATION(GELU, gelu, ")")
HardtanhImpl::HardtanhImpl(const HardtanhOptions& options_) : options(options_) { HardtanhImpl::reset(); }
void HardtanhImpl::reset() {
  ARGAND_CHECK(ValueError, options.min_val() < options.max_val(), "max_val must be greater than min_val, got ",
               options.max_val(), " and ", options.min_val());
}
ARGAND_ACTIVATION(Hardtanh, hardtanh,
                  "min_val=" << options.min_val() << ", max_val=" << options.max_val()
                             << inplace_after(options.inplace()))
ARGAND_ACTIVATION(Threshold, threshold,
                  "threshold=" << options.threshold() << ", value=" << options.value()
                               << inplace_after(options.inplace()))
ARGAND_ACTIVATION(Hardshrink, hardshrink, options.lambda() << ")")
ARGAND_ACTIVATION(Softshrink, softshrink, options.lambda() << ")")
ARGAND_ACTIVATION(Softplus, softplus, "beta=" << options.beta() << ", threshold=" << options.threshold() << ")")
ARGAND_ACTIVATION(GLU, glu, "dim=" << options.dim() << ")")
#undef ARGAND_ACTIVATION

#define ARGAND_ACTIVATION(Name, expression)                                                         \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "()"; } \
  Tensor Name##Impl::forward(Tensor input) { return expression; }
ARGAND_ACTIVATION(SiLU, F::silu(input))
ARGAND_ACTIVATION(Mish, F::mish(input))
ARGAND_ACTIVATION(Sigmoid, input.sigmoid())
ARGAND_ACTIVATION(LogSigmoid, F::logsigmoid(input))
ARGAND_ACTIVATION(Tanh, input.tanh())
ARGAND_ACTIVATION(Softsign, F::softsign(input))
ARGAND_ACTIVATION(Tanhshrink, F::tanhshrink(input))
ARGAND_ACTIVATION(Hardsigmoid, F::hardsigmoid(input))
ARGAND_ACTIVATION(Hardswish, F::hardswish(input))
#undef ARGAND_ACTIVATION

#define ARGAND_ACTIVATION(Name, function)                          \
  void Name##Impl::pretty_print(std::ostream& stream) const {      \
    stream << "torch::nn::" #Name "(dim=" << options.dim() << ")"; \
  }                                                                \
  Tensor Name##Impl::forward(Tensor input) { return F::function(input, options.dim()); }
ARGAND_ACTIVATION(Softmax, softmax)
ARGAND_ACTIVATION(Softmin, softmin)
ARGAND_ACTIVATION(LogSoftmax, log_softmax)
#undef ARGAND_ACTIVATION

void Softmax2dImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Softmax2d()"; }
Tensor Softmax2dImpl::forward(Tensor input) {
  ARGAND_CHECK(ShapeError, input.dim() == 4 || input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input, got ",
               input.sizes());
  return argand::softmax(input, -3);
}

PReLUImpl::PReLUImpl(const PReLUOptions& o) : options(o) { reset(); }
void PReLUImpl::reset() { weight = register_parameter("weight", full({options.num_parameters()}, options.init())); }
void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
}
Tensor PReLUImpl::forward(const Tensor& input) { return F::prelu(input, weight); }

void RReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::RReLU(lower=" << options.lower() << ", upper=" << options.upper();
  if (options.inplace()) stream << std::boolalpha << ", inplace=" << options.inplace();
  stream << ")";
}
Tensor RReLUImpl::forward(Tensor input) {
  return F::rrelu(std::move(input), F::RReLUFuncOptions()
                                        .lower(options.lower())
                                        .upper(options.upper())
                                        .training(is_training())
                                        .inplace(options.inplace()));
}

}  // namespace argand::nn
