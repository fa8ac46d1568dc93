// Transforms of MapDataset's batches; source-compatible with LibTorch's torch::data::transforms.
#pragma once
#include <vector>

#include "argand/data/example.h"

namespace argand::data::transforms {

// A whole batch into another.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;
  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

// Each example of a batch by itself.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;
  virtual Output apply(Input input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> inputs) override {
    std::vector<Output> outputs;
    outputs.reserve(inputs.size());
    for (Input& input : inputs) outputs.push_back(apply(std::move(input)));
    return outputs;
  }
};

// The examples of a batch into one.
template <class T, class Batch = std::vector<T>>
using Collation = BatchTransform<Batch, T>;

}  // namespace argand::data::transforms
