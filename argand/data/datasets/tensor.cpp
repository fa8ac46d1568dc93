#include "argand/data/datasets/tensor.h"

#include "argand/ops/functions.h"

namespace argand::data::datasets {

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : tensor(stack(tensors)) {}

}  // namespace argand::data::datasets
