// Options of grid_sample.
#pragma once
#include <optional>
#include <variant>

#include "argand/base/arg.h"
#include "argand/nn/enums.h"

namespace argand::nn::functional {

struct GridSampleFuncOptions {
  using mode_t = std::variant<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = std::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  ARGAND_ARG(mode_t, mode) = kBilinear;
  ARGAND_ARG(padding_mode_t, padding_mode) = kZeros;  // the values outside of the input
  // Whether -1 and 1 are the centres of the first and last elements, not their outer edges.
  ARGAND_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

}  // namespace argand::nn::functional
