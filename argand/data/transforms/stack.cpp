#include "argand/data/transforms/stack.h"

#include "argand/ops/functions.h"

namespace argand::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  for (Example<>& e : examples) {
    data.push_back(std::move(e.data));
    targets.push_back(std::move(e.target));
  }
  return {stack(data), stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  for (TensorExample& e : examples) data.push_back(std::move(e.data));
  return stack(data);
}

}  // namespace argand::data::transforms
