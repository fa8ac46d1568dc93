// Many tensors as one vector, as programs send gradients through a network, and back.
#pragma once
#include "torch/types.h"

namespace torch::utils {

inline Tensor flatten_dense_tensors(TensorList tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& t : tensors) flat.push_back(t.contiguous().view({-1}));
  return at::cat(flat);
}

// Views of `flat` shaped as `tensors`; empty ones are new, so that they share no memory.
inline std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors) {
  std::vector<Tensor> out;
  int64_t begin = 0;
  for (const Tensor& t : tensors) {
    out.push_back(t.numel() == 0 ? at::empty({0}, flat.options()) : flat.narrow(0, begin, t.numel()).view(t.sizes()));
    begin += t.numel();
  }
  return out;
}

}  // namespace torch::utils
