// Limits on the gradients of parameters, in place.  Parameters without a gradient are passed over.
#pragma once
#include <vector>

#include "argand/core/tensor.h"

namespace argand::nn::utils {

// Scales all gradients by one factor so that their norm, taken as one vector, is at most max_norm; returns the norm
// before. norm_type may be infinity.  ValueError if the norm is NaN or infinite and error_if_nonfinite; then nothing is
// scaled.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2, bool error_if_nonfinite = false);

// Clamps every element of the gradients to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace argand::nn::utils
