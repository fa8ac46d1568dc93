#include "argand/nn/modules/normalization.h"

#include "argand/nn/functional/normalization.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"

namespace argand::nn {
namespace {

Tensor made_if(bool wanted, IntArrayRef sizes) { return wanted ? empty(sizes) : Tensor(); }

}  // namespace

LayerNormImpl::LayerNormImpl(LayerNormOptions o) : options(std::move(o)) { reset(); }

void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", made_if(affine, options.normalized_shape()), affine);
  bias = register_parameter("bias", made_if(affine, options.normalized_shape()), affine);
  reset_parameters();
}

void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LayerNorm(" << str(IntArrayRef(options.normalized_shape()))
         << ", eps=" << options.eps() << ", elementwise_affine=" << options.elementwise_affine() << ")";
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return argand::layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& o) : options(o) { reset(); }

void GroupNormImpl::reset() {
  ARGAND_CHECK(ValueError, options.num_groups() > 0 && options.num_channels() % options.num_groups() == 0,
               "GroupNorm: num_channels (", options.num_channels(), ") must be divisible by num_groups (",
               options.num_groups(), ")");
  const bool affine = options.affine();
  weight = register_parameter("weight", made_if(affine, {options.num_channels()}), affine);
  bias = register_parameter("bias", made_if(affine, {options.num_channels()}), affine);
  reset_parameters();
}

void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
         << ", eps=" << options.eps() << ", affine=" << options.affine() << ")";
}

Tensor GroupNormImpl::forward(const Tensor& input) {
  return argand::group_norm(input, options.num_groups(), weight, bias, options.eps());
}

RMSNormImpl::RMSNormImpl(RMSNormOptions o) : options(std::move(o)) { reset(); }

void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", made_if(affine, options.normalized_shape()), affine);
  reset_parameters();
}

void RMSNormImpl::reset_parameters() {
  if (options.elementwise_affine()) init::ones_(weight);
}

void RMSNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::RMSNorm(" << str(IntArrayRef(options.normalized_shape())) << ", eps=";
  if (options.eps())
    stream << *options.eps();
  else
    stream << "None";
  stream << ", elementwise_affine=" << options.elementwise_affine() << ")";
}

Tensor RMSNormImpl::forward(const Tensor& input) {
  return argand::rms_norm(input, options.normalized_shape(), weight, options.eps());
}

void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LocalResponseNorm(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}

Tensor LocalResponseNormImpl::forward(const Tensor& input) { return functional::local_response_norm(input, options); }

void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CrossMapLRN2d(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  ARGAND_CHECK(ShapeError, input.dim() == 4, "CrossMapLRN2d: input must be 4D, got ", input.dim(), "D");
  ARGAND_CHECK(ValueError, options.size() > 0, "CrossMapLRN2d: size must be positive, got ", options.size());
  const int64_t window = options.size() % 2 == 0 ? options.size() - 1 : options.size();
  // local_response_norm divides the sum by the window.
  const double alpha = options.alpha() * static_cast<double>(window) / static_cast<double>(options.size());
  return functional::local_response_norm(
      input, LocalResponseNormOptions(window).alpha(alpha).beta(options.beta()).k(static_cast<double>(options.k())));
}

}  // namespace argand::nn
