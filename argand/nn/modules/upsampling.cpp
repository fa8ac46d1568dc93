#include "argand/nn/modules/upsampling.h"

#include "argand/nn/functional/upsampling.h"

namespace argand::nn {
namespace {

template <class E>
void print_list(std::ostream& stream, const std::vector<E>& values) {
  stream << "[";
  for (size_t i = 0; i < values.size(); ++i) stream << (i ? ", " : "") << values[i];
  stream << "]";
}

}  // namespace

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Upsample(";
  if (options.scale_factor())
    print_list(stream << "scale_factor=", *options.scale_factor());
  else if (options.size())
    print_list(stream << "size=", *options.size());
  stream << ", mode=" << enumtype::get_enum_name(options.mode()) << ")";
}

Tensor UpsampleImpl::forward(const Tensor& input) {
  const auto mode = std::visit([](auto m) { return functional::InterpolateFuncOptions::mode_t(m); }, options.mode());
  return functional::interpolate(input, functional::InterpolateFuncOptions()
                                            .size(options.size())
                                            .scale_factor(options.scale_factor())
                                            .mode(mode)
                                            .align_corners(options.align_corners()));
}

}  // namespace argand::nn
