// Indices in random order, a permutation of the default generator's for each pass.
#pragma once
#include "argand/core/tensor.h"
#include "argand/data/samplers/base.h"

namespace argand::data::samplers {

class RandomSampler : public Sampler<> {
 public:
  // Draws a permutation, as reset() does again: random streams are LibTorch's.
  explicit RandomSampler(int64_t size, Dtype index_dtype = kLong);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return static_cast<size_t>(index_); }

 private:
  Tensor indices_;
  int64_t index_ = 0;
};

}  // namespace argand::data::samplers
