// Options of pooling.  The stride is the kernel size if not given.
#pragma once
#include "argand/base/arg.h"
#include "argand/nn/expanding_array.h"

namespace argand::nn {

template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride);
  ARGAND_ARG(ExpandingArray<D>, padding) = 0;
  ARGAND_ARG(bool, ceil_mode) = false;
  ARGAND_ARG(bool, count_include_pad) = true;
  ARGAND_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;  // not of AvgPool1d
};

template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride);
  ARGAND_ARG(ExpandingArray<D>, padding) = 0;
  ARGAND_ARG(ExpandingArray<D>, dilation) = 1;
  ARGAND_ARG(bool, ceil_mode) = false;
};

template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  ARGAND_ARG(double, norm_type);
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride);
  ARGAND_ARG(bool, ceil_mode) = false;
};

template <class Sizes>
struct AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(Sizes output_size) : output_size_(output_size) {}
  ARGAND_ARG(Sizes, output_size);
};
template <class Sizes>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(Sizes output_size) : output_size_(output_size) {}
  ARGAND_ARG(Sizes, output_size);
};

#define ARGAND_POOL_OPTIONS(N, AdaptiveSizes)                                 \
  using AvgPool##N##dOptions = AvgPoolOptions<N>;                             \
  using MaxPool##N##dOptions = MaxPoolOptions<N>;                             \
  using LPPool##N##dOptions = LPPoolOptions<N>;                               \
  using AdaptiveMaxPool##N##dOptions = AdaptiveMaxPoolOptions<AdaptiveSizes>; \
  using AdaptiveAvgPool##N##dOptions = AdaptiveAvgPoolOptions<AdaptiveSizes>; \
  namespace functional {                                                      \
  using AvgPool##N##dFuncOptions = AvgPool##N##dOptions;                      \
  using MaxPool##N##dFuncOptions = MaxPool##N##dOptions;                      \
  using LPPool##N##dFuncOptions = LPPool##N##dOptions;                        \
  using AdaptiveMaxPool##N##dFuncOptions = AdaptiveMaxPool##N##dOptions;      \
  using AdaptiveAvgPool##N##dFuncOptions = AdaptiveAvgPool##N##dOptions;      \
  }
ARGAND_POOL_OPTIONS(1, ExpandingArray<1>)
ARGAND_POOL_OPTIONS(2, ExpandingArrayWithOptionalElem<2>)
ARGAND_POOL_OPTIONS(3, ExpandingArrayWithOptionalElem<3>)
#undef ARGAND_POOL_OPTIONS

}  // namespace argand::nn
