// The gradients of normalisations that kernels do not compute, written in ops.
//
// All of them are y = z * weight + bias with z = (x - mean) * rstd, and differ in what the statistics are over and in
// what the weights belong to.  Their backward gives, with h = g * weight,
//   grad_x      = rstd * (h - E[h] - z * E[h * z]), E over the elements that share statistics
//   grad_weight = sum of g * z and grad_bias = sum of g, over the elements that share weights.
// The backward op takes mean and rstd as separate arguments: its gradient covers each of them, and the forward op
// passes the gradients of its results mean and rstd on to x.  So gradients of any order add up.
#pragma once
#include "argand/ops/define.h"

namespace argand::ops {

// A shape in which everything broadcasts.
struct NormShape {
  Dims elements, statistics, weights;
  Dims over;     // the dimensions over which statistics are taken
  Dims samples;  // dimensions along which weights repeat
};

struct NormTensors {
  Tensor grad_out, input, mean, rstd, weight;  // mean undefined: RMS norm; weight undefined: 1
  bool fixed_statistics = false;               // they do not depend on x: grad_x = rstd * h
};

// From the gradients `u` of grad_x, `v` of grad_weight and `s` of grad_bias (each may be undefined), the gradients of
// the arguments of backward, in the shapes of NormShape.
struct NormGradients {
  Tensor grad_out, input, mean, rstd, weight;
};
NormGradients norm_backward_gradient(const NormShape& shape, const NormTensors& t, const Tensor& u, const Tensor& v,
                                     const Tensor& s);

// The contribution of the gradients of the results mean and rstd (each may be undefined) to that of x, whose sizes are
// `sizes`; undefined if there is none.
Tensor norm_statistics_gradient(const NormShape& shape, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                const Tensor& grad_mean, const Tensor& grad_rstd, IntArrayRef sizes);

}  // namespace argand::ops
