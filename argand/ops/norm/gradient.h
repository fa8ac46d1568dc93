// The gradients of normalisations that kernels do not compute, written in ops.
//
// All of them are y = z * weight + bias with z = (x - mean) * rstd, and differ in what the statistics are over and in
// what the weights belong to.  Their backward gives, with h = g * weight,
//   grad_x      = rstd * (h - E[h] - z * E[h * z]), E over the elements that share statistics
//   grad_weight = sum of g * z and grad_bias = sum of g, over the elements that share weights.
// As an op it takes mean and rstd as arguments of their own: its gradient says what it owes to each, and the forward op
// hands what its results mean and rstd owe to x.  So gradients of any order add up.
#pragma once
#include "argand/ops/define.h"

namespace argand::ops {

// A shape in which everything broadcasts.
struct NormShape {
  Dims elements, statistics, weights;
  Dims over;     // dimensions that statistics are over
  Dims samples;  // dimensions along which weights repeat
};

struct NormTensors {
  Tensor grad_out, input, mean, rstd, weight;  // mean undefined: RMS norm; weight undefined: 1
  bool fixed_statistics = false;               // they do not come from x: grad_x = rstd * h
};

// What the gradients `u` of grad_x, `v` of grad_weight and `s` of grad_bias (each may be undefined) mean for the
// arguments of backward, in the shapes of NormShape.
struct NormGradients {
  Tensor grad_out, input, mean, rstd, weight;
};
NormGradients norm_backward_gradient(const NormShape& shape, const NormTensors& t, const Tensor& u, const Tensor& v,
                                     const Tensor& s);

// What the gradients of the results mean and rstd (each may be undefined) add to that of x, of which `sizes` are the
// sizes; undefined if nothing.
Tensor norm_statistics_gradient(const NormShape& shape, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                const Tensor& grad_mean, const Tensor& grad_rstd, IntArrayRef sizes);

}  // namespace argand::ops
