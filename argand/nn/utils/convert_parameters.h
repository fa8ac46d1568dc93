// All parameters as one vector, and back.
#pragma once
#include <vector>

#include "argand/core/tensor.h"

namespace argand::nn::utils {

// The elements of all parameters, one after the other: [total].  DeviceError if they are not on one device.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
// Copies the elements of `vec` [total] into the parameters.  ShapeError if there are too few.
void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace argand::nn::utils
