// Transforms that are functions: Lambda of an example, BatchLambda of a batch.
#pragma once
#include <functional>

#include "argand/data/transforms/base.h"

namespace argand::data::transforms {

template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  Output apply_batch(Input input_batch) override { return function_(std::move(input_batch)); }

 private:
  FunctionType function_;
};

template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

// The examples of a batch into one, by a function.
template <class T, class Batch = std::vector<T>>
using Collate = BatchLambda<Batch, T>;

}  // namespace argand::data::transforms
