// Scatter and Gather: a tensor cut into pieces on several devices, and pieces put together on one.  Both are recorded.
#pragma once
#include "argand/parallel/data_parallel.h"
#include "torch/autograd.h"

namespace argand::autograd {

class Scatter {
 public:
  // Pieces of `chunk_sizes` along `dim`, one for each device; as equal as can be if none are given.
  explicit Scatter(std::vector<Device> devices, std::optional<std::vector<int64_t>> chunk_sizes = std::nullopt,
                   int64_t dim = 0)
      : devices_(std::move(devices)), chunk_sizes_(std::move(chunk_sizes)), dim_(dim) {}
  variable_list apply(const variable_list& inputs) const {
    ARGAND_CHECK(ValueError, inputs.size() == 1, "Scatter: expected one input, got ", inputs.size());
    if (!chunk_sizes_) return parallel::detail::scatter(inputs[0], devices_, dim_);
    ARGAND_CHECK(ValueError, chunk_sizes_->size() == devices_.size(), "Scatter: expected a chunk size for each of ",
                 devices_.size(), " devices, got ", chunk_sizes_->size());
    variable_list pieces = inputs[0].split_with_sizes(*chunk_sizes_, dim_);
    for (size_t i = 0; i < pieces.size(); ++i) pieces[i] = pieces[i].to(devices_[i]);
    return pieces;
  }

 private:
  std::vector<Device> devices_;
  std::optional<std::vector<int64_t>> chunk_sizes_;
  int64_t dim_;
};

class Gather {
 public:
  explicit Gather(const Device& destination_device, int64_t dim = 0) : destination_(destination_device), dim_(dim) {}
  // One tensor: the inputs along `dim`, those without dimensions as one element each.
  variable_list apply(variable_list inputs) const {
    for (Tensor& t : inputs)
      if (t.dim() == 0) t = t.unsqueeze(0);
    return {parallel::detail::gather(inputs, destination_, dim_)};
  }

 private:
  Device destination_;
  int64_t dim_;
};

}  // namespace argand::autograd
