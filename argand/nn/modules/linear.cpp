#include "argand/nn/modules/linear.h"

#include <cmath>

#include "argand/nn/functional/linear.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {

LinearImpl::LinearImpl(const LinearOptions& o) : options(o) { reset(); }

void LinearImpl::reset() {
  ARGAND_CHECK(ValueError, options.in_features() >= 0 && options.out_features() >= 0,
               "Linear: expected in_features and out_features of at least 0, got ", options.in_features(), " and ",
               options.out_features());
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_features()}) : Tensor(), options.bias());
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::_calculate_fan_in_and_fan_out(weight);
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features() << ", bias=" << options.bias() << ")";
}

Tensor LinearImpl::forward(const Tensor& input) { return argand::linear(input, weight, bias); }

BilinearImpl::BilinearImpl(const BilinearOptions& o) : options(o) { reset(); }

void BilinearImpl::reset() {
  ARGAND_CHECK(ValueError, options.in1_features() > 0 && options.in2_features() >= 0 && options.out_features() >= 0,
               "Bilinear: expected in1_features > 0, and in2_features and out_features of at least 0, got ",
               options.in1_features(), ", ", options.in2_features(), " and ", options.out_features());
  weight =
      register_parameter("weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_features()}) : Tensor(), options.bias());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Bilinear(in1_features=" << options.in1_features()
         << ", in2_features=" << options.in2_features() << ", out_features=" << options.out_features()
         << ", bias=" << options.bias() << ")";
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return functional::bilinear(input1, input2, weight, bias);
}

void IdentityImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Identity()"; }

void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Flatten(start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ")";
}
Tensor FlattenImpl::forward(const Tensor& input) { return input.flatten(options.start_dim(), options.end_dim()); }

void UnflattenImpl::pretty_print(std::ostream& stream) const {
  if (!options.dimname().empty()) {
    stream << "torch::nn::Unflatten(dim=\"" << options.dimname() << "\", unflattened_size={";
    const char* before = "";
    for (const auto& [name, size] : options.namedshape()) {
      stream << before << "{\"" << name << "\", " << size << '}';
      before = ", ";
    }
    stream << "})";
    return;
  }
  stream << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
  for (size_t i = 0; i < options.sizes().size(); ++i) stream << (i ? ", " : "") << options.sizes()[i];
  stream << "})";
}
Tensor UnflattenImpl::forward(const Tensor& input) {
  ARGAND_CHECK(NotImplementedError, options.dimname().empty(), "Unflatten: dimension '", options.dimname(),
               "' is given by name; tensors have no names of dimensions here, use its number");
  return input.unflatten(options.dim(), options.sizes());
}

}  // namespace argand::nn
