// The requests of a loader to its data set, one per batch; source-compatible with LibTorch's torch::data::samplers.
#pragma once
#include <optional>
#include <vector>

#include "argand/base/error.h"

namespace argand::serialize {
class InputArchive;
class OutputArchive;
}  // namespace argand::serialize

namespace argand::data::samplers {

template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  // A new pass begins, over `new_size` examples if given, else as many as before.
  virtual void reset(std::optional<size_t> new_size) = 0;
  // The request for the next batch of at most `batch_size` examples; nothing at the end of the pass.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  // The sampler's position in the pass.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

}  // namespace argand::data::samplers
