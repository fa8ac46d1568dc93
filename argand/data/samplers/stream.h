// For data sets that give the next so many examples: requests are batch sizes.
#pragma once
#include "argand/data/samplers/base.h"
#include "argand/data/samplers/custom_batch_request.h"

namespace argand::data::samplers {

class BatchSize : public CustomBatchRequest {
 public:
  BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }

 private:
  size_t size_;
};

class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t examples_retrieved_so_far_ = 0, epoch_size_;
};

}  // namespace argand::data::samplers
