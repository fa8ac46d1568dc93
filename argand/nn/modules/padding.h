// Padding as modules: see functional/padding.h.
#pragma once
#include "argand/nn/options/padding.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

#define ARGAND_PAD(Name, D)                                                                                      \
  class Name##Pad##D##dImpl : public Cloneable<Name##Pad##D##dImpl> {                                            \
   public:                                                                                                       \
    Name##Pad##D##dImpl(ExpandingArray<D * 2> padding) : Name##Pad##D##dImpl(Name##Pad##D##dOptions(padding)) {} \
    explicit Name##Pad##D##dImpl(const Name##Pad##D##dOptions& options_) : options(options_) {}                  \
    void reset() override {}                                                                                     \
    void pretty_print(std::ostream& stream) const override;                                                      \
    Tensor forward(const Tensor& input);                                                                         \
    Name##Pad##D##dOptions options;                                                                              \
  };                                                                                                             \
  ARGAND_LIBRARY_MODULE(Name##Pad##D##d)
ARGAND_PAD(Reflection, 1);
ARGAND_PAD(Reflection, 2);
ARGAND_PAD(Reflection, 3);
ARGAND_PAD(Replication, 1);
ARGAND_PAD(Replication, 2);
ARGAND_PAD(Replication, 3);
ARGAND_PAD(Zero, 1);
ARGAND_PAD(Zero, 2);
ARGAND_PAD(Zero, 3);
#undef ARGAND_PAD

#define ARGAND_PAD(D)                                                                               \
  class ConstantPad##D##dImpl : public Cloneable<ConstantPad##D##dImpl> {                           \
   public:                                                                                          \
    ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value)                              \
        : ConstantPad##D##dImpl(ConstantPad##D##dOptions(padding, value)) {}                        \
    explicit ConstantPad##D##dImpl(const ConstantPad##D##dOptions& options_) : options(options_) {} \
    void reset() override {}                                                                        \
    void pretty_print(std::ostream& stream) const override;                                         \
    Tensor forward(const Tensor& input);                                                            \
    ConstantPad##D##dOptions options;                                                               \
  };                                                                                                \
  ARGAND_LIBRARY_MODULE(ConstantPad##D##d)
ARGAND_PAD(1);
ARGAND_PAD(2);
ARGAND_PAD(3);
#undef ARGAND_PAD

}  // namespace argand::nn
