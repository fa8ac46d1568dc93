#include "argand/nn/utils/convert_parameters.h"

#include "argand/ops/functions.h"

namespace argand::nn::utils {

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> parts;
  for (const Tensor& p : parameters) {
    ARGAND_CHECK(DeviceError, p.device() == parameters[0].device(),
                 "Found two parameters on different devices, this is currently not supported.");
    parts.push_back(p.reshape({-1}));
  }
  return cat(parts);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  int64_t total = 0;
  for (const Tensor& p : parameters) total += p.numel();
  ARGAND_CHECK(ShapeError, vec.dim() == 1 && vec.numel() >= total, "vector_to_parameters: expected a vector of ", total,
               " elements, got ", vec.sizes());
  int64_t at = 0;
  for (const Tensor& p : parameters) {
    // A copy: an optimizer's in-place step must not reach the vector.
    p.set_data(vec.detach().narrow(0, at, p.numel()).clone().view(p.sizes()));
    at += p.numel();
  }
}

}  // namespace argand::nn::utils
