// Options of convolutions and transposed convolutions.
#pragma once
#include <variant>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"
#include "argand/nn/enums.h"
#include "argand/nn/expanding_array.h"

namespace argand::nn {

using ConvPaddingMode = std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;

template <size_t D>
struct ConvOptions {
  using padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(std::move(kernel_size)) {}
  ConvOptions<D>& padding(std::initializer_list<int64_t> values) {
    padding_ = ExpandingArray<D>(values);
    return *this;
  }
  ARGAND_ARG(int64_t, in_channels);
  ARGAND_ARG(int64_t, out_channels);
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride) = 1;
  ARGAND_ARG(padding_t, padding) = ExpandingArray<D>(0);
  ARGAND_ARG(ExpandingArray<D>, dilation) = 1;
  ARGAND_ARG(int64_t, groups) = 1;
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(ConvPaddingMode, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <size_t D>
struct ConvTransposeOptions {
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(std::move(kernel_size)) {}
  ARGAND_ARG(int64_t, in_channels);
  ARGAND_ARG(int64_t, out_channels);
  ARGAND_ARG(ExpandingArray<D>, kernel_size);
  ARGAND_ARG(ExpandingArray<D>, stride) = 1;
  ARGAND_ARG(ExpandingArray<D>, padding) = 0;
  ARGAND_ARG(ExpandingArray<D>, output_padding) = 0;
  ARGAND_ARG(int64_t, groups) = 1;
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(ExpandingArray<D>, dilation) = 1;
  ARGAND_ARG(ConvPaddingMode, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

template <size_t D>
struct ConvFuncOptions {
  using padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;
  ConvFuncOptions<D>& padding(std::initializer_list<int64_t> values) {
    padding_ = ExpandingArray<D>(values);
    return *this;
  }
  ARGAND_ARG(Tensor, bias);
  ARGAND_ARG(ExpandingArray<D>, stride) = 1;
  ARGAND_ARG(padding_t, padding) = ExpandingArray<D>(0);
  ARGAND_ARG(ExpandingArray<D>, dilation) = 1;
  ARGAND_ARG(int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

template <size_t D>
struct ConvTransposeFuncOptions {
  ARGAND_ARG(Tensor, bias);
  ARGAND_ARG(ExpandingArray<D>, stride) = 1;
  ARGAND_ARG(ExpandingArray<D>, padding) = 0;
  ARGAND_ARG(ExpandingArray<D>, output_padding) = 0;
  ARGAND_ARG(int64_t, groups) = 1;
  ARGAND_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

}  // namespace functional
}  // namespace argand::nn
