// Options of max unpooling and of fractional max pooling.
#pragma once
#include <optional>
#include <vector>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"
#include "argand/nn/expanding_array.h"

namespace argand::nn {

template <size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride);
  ARGAND_ARG(ExpandingArray<D>, padding) = 0;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

// Either the size of the result or its ratio to that of the input, in (0, 1).
template <size_t D>
struct FractionalMaxPoolOptions {
  using Ratios = ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  ARGAND_ARG(std::optional<Ratios>, output_ratio) = std::nullopt;
  ARGAND_ARG(Tensor, _random_samples) = Tensor();  // [N, C, D] in [0, 1); drawn if not given
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

namespace functional {

template <size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride);
  ARGAND_ARG(ExpandingArray<D>, padding) = 0;
  ARGAND_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;

}  // namespace functional
}  // namespace argand::nn
