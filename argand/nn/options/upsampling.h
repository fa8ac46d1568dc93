// Options of Upsample and functional::interpolate: the size of the result, or scale factors.
#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "argand/base/arg.h"
#include "argand/nn/enums.h"

namespace argand::nn {

struct UpsampleOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                              enumtype::kTrilinear>;
  ARGAND_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  ARGAND_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  ARGAND_ARG(mode_t, mode) = kNearest;
  ARGAND_ARG(std::optional<bool>, align_corners) = std::nullopt;  // first and last elements of both coincide
};

namespace functional {

struct InterpolateFuncOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                              enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;
  ARGAND_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  ARGAND_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  ARGAND_ARG(mode_t, mode) = kNearest;
  ARGAND_ARG(std::optional<bool>, align_corners) = std::nullopt;
  ARGAND_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;  // from the rounded-down size
  ARGAND_ARG(bool, antialias) = false;                                     // bilinear and bicubic, to smaller sizes
};

}  // namespace functional
}  // namespace argand::nn
