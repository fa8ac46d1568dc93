#include "argand/nn/functional/conv.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {

#define ARGAND_CONV(N)                                                                                           \
  Tensor conv##N##d(const Tensor& x, const Tensor& w, const Conv##N##dFuncOptions& o) {                          \
    if (const auto* amounts = std::get_if<ExpandingArray<N>>(&o.padding()))                                      \
      return argand::conv##N##d(x, w, o.bias(), o.stride(), *amounts, o.dilation(), o.groups());                 \
    const std::string_view padding = std::holds_alternative<enumtype::kSame>(o.padding()) ? "same" : "valid";    \
    return argand::conv##N##d(x, w, o.bias(), o.stride(), padding, o.dilation(), o.groups());                    \
  }                                                                                                              \
  Tensor conv_transpose##N##d(const Tensor& x, const Tensor& w, const ConvTranspose##N##dFuncOptions& o) {       \
    return argand::conv_transpose##N##d(x, w, o.bias(), o.stride(), o.padding(), o.output_padding(), o.groups(), \
                                        o.dilation());                                                           \
  }
ARGAND_CONV(1)
ARGAND_CONV(2)
ARGAND_CONV(3)
#undef ARGAND_CONV

}  // namespace argand::nn::functional
