// Options of Fold and Unfold: the windows of an image as columns of a matrix.
#pragma once
#include "argand/base/arg.h"
#include "argand/nn/expanding_array.h"

namespace argand::nn {

struct FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<2>, output_size);
  ARGAND_ARG(ExpandingArray<2>, kernel_size);
  ARGAND_ARG(ExpandingArray<2>, dilation) = 1;
  ARGAND_ARG(ExpandingArray<2>, padding) = 0;
  ARGAND_ARG(ExpandingArray<2>, stride) = 1;
};

struct UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  ARGAND_ARG(ExpandingArray<2>, kernel_size);
  ARGAND_ARG(ExpandingArray<2>, dilation) = 1;
  ARGAND_ARG(ExpandingArray<2>, padding) = 0;
  ARGAND_ARG(ExpandingArray<2>, stride) = 1;
};

namespace functional {
using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;
}  // namespace functional

}  // namespace argand::nn
