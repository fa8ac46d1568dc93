#include "argand/nn/modules/padding.h"

#include "argand/nn/functional/padding.h"

namespace argand::nn {
namespace {

template <size_t N>
Tensor pad(const Tensor& input, const ExpandingArray<N>& amounts, functional::PadFuncOptions::mode_t mode,
           double value = 0) {
  return functional::pad(input, functional::PadFuncOptions({amounts.begin(), amounts.end()}).mode(mode).value(value));
}

}  // namespace

#define ARGAND_PAD(Name, D, mode)                                                    \
  void Name##Pad##D##dImpl::pretty_print(std::ostream& stream) const {               \
    stream << "torch::nn::" #Name "Pad" #D "d(padding=" << options.padding() << ")"; \
  }                                                                                  \
  Tensor Name##Pad##D##dImpl::forward(const Tensor& input) { return pad(input, options.padding(), mode); }
ARGAND_PAD(Reflection, 1, kReflect)
ARGAND_PAD(Reflection, 2, kReflect)
ARGAND_PAD(Reflection, 3, kReflect)
ARGAND_PAD(Replication, 1, kReplicate)
ARGAND_PAD(Replication, 2, kReplicate)
ARGAND_PAD(Replication, 3, kReplicate)
ARGAND_PAD(Zero, 1, kConstant)
ARGAND_PAD(Zero, 2, kConstant)
ARGAND_PAD(Zero, 3, kConstant)
#undef ARGAND_PAD

#define ARGAND_PAD(D)                                                                                                \
  void ConstantPad##D##dImpl::pretty_print(std::ostream& stream) const {                                             \
    stream << "torch::nn::ConstantPad" #D "d(padding=" << options.padding() << ", value=" << options.value() << ")"; \
  }                                                                                                                  \
  Tensor ConstantPad##D##dImpl::forward(const Tensor& input) {                                                       \
    return pad(input, options.padding(), kConstant, options.value());                                                \
  }
ARGAND_PAD(1)
ARGAND_PAD(2)
ARGAND_PAD(3)
#undef ARGAND_PAD

}  // namespace argand::nn
