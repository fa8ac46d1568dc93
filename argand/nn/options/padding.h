// Options of padding: amounts before and after each dimension, the last dimension first.
#pragma once
#include <variant>
#include <vector>

#include "argand/base/arg.h"
#include "argand/nn/enums.h"
#include "argand/nn/expanding_array.h"

namespace argand::nn {

#define ARGAND_PAD(Name)                                                   \
  template <size_t D>                                                      \
  struct Name##PadOptions {                                                \
    Name##PadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {} \
    ARGAND_ARG(ExpandingArray<D * 2>, padding);                            \
  };                                                                       \
  using Name##Pad1dOptions = Name##PadOptions<1>;                          \
  using Name##Pad2dOptions = Name##PadOptions<2>;                          \
  using Name##Pad3dOptions = Name##PadOptions<3>
ARGAND_PAD(Reflection);
ARGAND_PAD(Replication);
ARGAND_PAD(Zero);
#undef ARGAND_PAD

template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  ARGAND_ARG(ExpandingArray<D * 2>, padding);
  ARGAND_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

namespace functional {

struct PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  ARGAND_ARG(std::vector<int64_t>, pad);
  ARGAND_ARG(mode_t, mode) = kConstant;
  ARGAND_ARG(double, value) = 0;
};

}  // namespace functional
}  // namespace argand::nn
