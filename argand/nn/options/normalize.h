// Options of functional::normalize.
#pragma once
#include <cstdint>
#include <optional>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"

namespace argand::nn::functional {

struct NormalizeFuncOptions {
  ARGAND_ARG(double, p) = 2;
  ARGAND_ARG(int64_t, dim) = 1;
  ARGAND_ARG(double, eps) = 1e-12;                        // the least norm to divide by
  ARGAND_ARG(std::optional<Tensor>, out) = std::nullopt;  // where the result goes; no gradient then
};

}  // namespace argand::nn::functional
