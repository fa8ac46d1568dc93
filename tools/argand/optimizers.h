// The optimizers that `--optimizer` knows.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/optim/optimizer.h"

namespace argand::cli {

const std::vector<std::string>& optimizers();
// `name` is one of them; sgd has momentum 0.9, all else is as PyTorch has it.
std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, double lr, std::vector<Tensor> parameters);

}  // namespace argand::cli
