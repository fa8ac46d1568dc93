#include "tools/argand/optimizers.h"

#include "argand/optim/adam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"

namespace argand::cli {

const std::vector<std::string>& optimizers() {
  static const std::vector<std::string> names{"adam", "adamw", "sgd", "rmsprop"};
  return names;
}

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, double lr, std::vector<Tensor> parameters) {
  if (name == "adam") return std::make_unique<optim::Adam>(std::move(parameters), optim::AdamOptions(lr));
  if (name == "adamw") return std::make_unique<optim::AdamW>(std::move(parameters), optim::AdamWOptions(lr));
  if (name == "rmsprop") return std::make_unique<optim::RMSprop>(std::move(parameters), optim::RMSpropOptions(lr));
  return std::make_unique<optim::SGD>(std::move(parameters), optim::SGDOptions(lr).momentum(0.9));
}

}  // namespace argand::cli
