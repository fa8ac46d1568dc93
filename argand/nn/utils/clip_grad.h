// Limits on the gradients of parameters, in place.  Parameters without a gradient are passed over.
#pragma once
#include <vector>

#include "argand/core/tensor.h"

namespace argand::nn::utils {

// Scales all gradients by one factor so that their norm, as of one vector, is at most max_norm; returns what it was.
// norm_type may be infinity.  ValueError if it was NaN or infinite and error_if_nonfinite, before anything is scaled.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2, bool error_if_nonfinite = false);

// Brings every element of the gradients into [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace argand::nn::utils
