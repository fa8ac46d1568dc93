// The order in which a loader visits examples.
#pragma once
#include <vector>

#include "argand/core/generator.h"

namespace argand::data {

class Sampler {
 public:
  virtual ~Sampler() = default;
  // The indices of one pass over `size` examples, in any number; called at the start of each.
  virtual std::vector<int64_t> next_order(int64_t size) = 0;
};

class SequentialSampler final : public Sampler {
 public:
  std::vector<int64_t> next_order(int64_t size) override;
};

// A random permutation for each pass, drawn from the generator (the default CPU generator if none is given).
class RandomSampler final : public Sampler {
 public:
  explicit RandomSampler(Generator generator = {}) : generator_(std::move(generator)) {}
  std::vector<int64_t> next_order(int64_t size) override;

 private:
  Generator generator_;
};

}  // namespace argand::data
