#include "argand/nn/modules/conv.h"

#include <cmath>

#include "argand/nn/functional/conv.h"
#include "argand/nn/functional/padding.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

// Weights and bias start uniform in +-1/sqrt(fan_in), as torch's.
void reset_weight_and_bias(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::_calculate_fan_in_and_fan_out(weight);
  if (fan_in == 0) return;
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

template <class Options>
void check_channels(const char* name, const Options& o) {
  ARGAND_CHECK(ValueError, o.in_channels() > 0 && o.groups() > 0 && o.out_channels() > 0, name,
               ": in_channels, groups and out_channels must be a positive integer.");
  ARGAND_CHECK(ValueError, o.in_channels() % o.groups() == 0, name, ": in_channels (", o.in_channels(),
               ") must be divisible by groups (", o.groups(), ")");
  ARGAND_CHECK(ValueError, o.out_channels() % o.groups() == 0, name, ": out_channels (", o.out_channels(),
               ") must be divisible by groups (", o.groups(), ")");
}

template <size_t D>
Dims weight_sizes(int64_t first, int64_t second, const ExpandingArray<D>& kernel) {
  Dims sizes{first, second};
  for (const int64_t k : *kernel) sizes.push_back(k);
  return sizes;
}

// Padding before and after each dimension, last dimension first, as F::pad takes it.
template <size_t D>
std::vector<int64_t> padding_amounts(const ConvOptions<D>& o) {
  std::vector<int64_t> out;
  for (size_t i = D; i-- > 0;) {
    int64_t before = 0, after = 0;
    if (const auto* p = std::get_if<ExpandingArray<D>>(&o.padding())) {
      before = after = (*p)[i];
    } else if (std::holds_alternative<enumtype::kSame>(o.padding())) {
      const int64_t total = o.dilation()[i] * (o.kernel_size()[i] - 1);
      before = total / 2;
      after = total - before;
    }
    out.push_back(before);
    out.push_back(after);
  }
  return out;
}

template <size_t D>
bool any_differs(const ExpandingArray<D>& a, int64_t usual) {
  for (const int64_t v : *a)
    if (v != usual) return true;
  return false;
}

template <size_t D>
void print_padding(std::ostream& stream, const ConvOptions<D>& o) {
  if (const auto* p = std::get_if<ExpandingArray<D>>(&o.padding())) {
    if (any_differs(*p, 0)) stream << ", padding=" << *p;
  } else {
    stream << ", padding=" << (std::holds_alternative<enumtype::kValid>(o.padding()) ? "'valid'" : "'same'");
  }
}

template <class Options>
void print_rest(std::ostream& stream, const Options& o) {
  if (o.groups() != 1) stream << ", groups=" << o.groups();
  if (!o.bias()) stream << ", bias=" << std::boolalpha << false;
  if (!std::holds_alternative<enumtype::kZeros>(o.padding_mode()))
    stream << ", padding_mode=" << enumtype::get_enum_name(o.padding_mode());
  stream << ")";
}

}  // namespace

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(ConvOptions<D> o) : options(std::move(o)) {
  reset();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset() {
  check_channels("Conv", options);
  ARGAND_CHECK(
      ValueError, !std::holds_alternative<enumtype::kSame>(options.padding()) || !any_differs(options.stride(), 1),
      "Conv: padding='same' is not supported for strided convolutions, got stride ", IntArrayRef(*options.stride()));
  weight = this->register_parameter(
      "weight",
      empty(weight_sizes(options.out_channels(), options.in_channels() / options.groups(), options.kernel_size())));
  bias = this->register_parameter("bias", options.bias() ? empty({options.out_channels()}) : Tensor(), options.bias());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset_parameters() {
  reset_weight_and_bias(weight, bias);
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Conv" << D << "d(" << options.in_channels() << ", " << options.out_channels()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
  print_padding(stream, options);
  if (any_differs(options.dilation(), 1)) stream << ", dilation=" << options.dilation();
  print_rest(stream, options);
}

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::forward(const Tensor& input) {
  auto o = functional::ConvFuncOptions<D>()
               .bias(bias)
               .stride(options.stride())
               .dilation(options.dilation())
               .groups(options.groups());
  if (std::holds_alternative<enumtype::kZeros>(options.padding_mode()))
    return functional::conv(input, weight, o.padding(options.padding()));
  const Tensor padded =
      functional::pad_like(input, padding_amounts(options), enumtype::get_enum_name(options.padding_mode()));
  return functional::conv(padded, weight, o);
}

template <size_t D, class Derived>
ConvTransposeNdImpl<D, Derived>::ConvTransposeNdImpl(ConvTransposeOptions<D> o) : options(std::move(o)) {
  reset();
}

template <size_t D, class Derived>
void ConvTransposeNdImpl<D, Derived>::reset() {
  check_channels("ConvTranspose", options);
  weight = this->register_parameter(
      "weight",
      empty(weight_sizes(options.in_channels(), options.out_channels() / options.groups(), options.kernel_size())));
  bias = this->register_parameter("bias", options.bias() ? empty({options.out_channels()}) : Tensor(), options.bias());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvTransposeNdImpl<D, Derived>::reset_parameters() {
  reset_weight_and_bias(weight, bias);
}

template <size_t D, class Derived>
void ConvTransposeNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ConvTranspose" << D << "d(" << options.in_channels() << ", " << options.out_channels()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
  if (any_differs(options.padding(), 0)) stream << ", padding=" << options.padding();
  if (any_differs(options.dilation(), 1)) stream << ", dilation=" << options.dilation();
  if (any_differs(options.output_padding(), 0)) stream << ", output_padding=" << options.output_padding();
  print_rest(stream, options);
}

template <size_t D, class Derived>
Tensor ConvTransposeNdImpl<D, Derived>::forward(const Tensor& input, const std::optional<IntArrayRef>& output_size) {
  ARGAND_CHECK(ValueError, std::holds_alternative<enumtype::kZeros>(options.padding_mode()),
               "ConvTranspose: only kZeros padding mode is supported");
  ExpandingArray<D> extra = options.output_padding();
  if (output_size) {
    const IntArrayRef wanted = output_size->slice(output_size->size() >= D ? output_size->size() - D : 0);
    ARGAND_CHECK(ShapeError, wanted.size() == D, "ConvTranspose: expected output_size with ", D, " spatial sizes, got ",
                 *output_size);
    for (size_t i = 0; i < D; ++i) {
      const int64_t least = (input.size(input.dim() - static_cast<int64_t>(D - i)) - 1) * options.stride()[i] -
                            2 * options.padding()[i] + options.dilation()[i] * (options.kernel_size()[i] - 1) + 1;
      const int64_t most = least + options.stride()[i] - 1;
      ARGAND_CHECK(ValueError, wanted[i] >= least && wanted[i] <= most, "ConvTranspose: requested an output size of ",
                   wanted, ", but valid sizes range from ", least, " to ", most, " in dimension ", i);
      extra[i] = wanted[i] - least;
    }
  }
  return functional::conv_transpose(input, weight,
                                    functional::ConvTransposeFuncOptions<D>()
                                        .bias(bias)
                                        .stride(options.stride())
                                        .padding(options.padding())
                                        .output_padding(extra)
                                        .groups(options.groups())
                                        .dilation(options.dilation()));
}

template class ConvNdImpl<1, Conv1dImpl>;
template class ConvNdImpl<2, Conv2dImpl>;
template class ConvNdImpl<3, Conv3dImpl>;
template class ConvTransposeNdImpl<1, ConvTranspose1dImpl>;
template class ConvTransposeNdImpl<2, ConvTranspose2dImpl>;
template class ConvTransposeNdImpl<3, ConvTranspose3dImpl>;

}  // namespace argand::nn
