// Examples stacked along a new first dimension.
#pragma once
#include "argand/data/transforms/base.h"

namespace argand::data::transforms {

template <class T = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace argand::data::transforms
