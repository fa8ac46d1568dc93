// Optimizers by the names of their classes in PyTorch, with options by the names that each_number() gives them: for
// fronts that know both at run time only.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argand/optim/optimizer.h"

namespace argand::optim {

using NamedNumber = std::pair<std::string_view, double>;

// The names: "SGD", "Adam", "AdamW", ...
const std::vector<std::string>& optimizer_names();
// `name` with these groups, whose options are `numbers`; the rest are PyTorch's defaults.  ValueError for another name,
// an option that this optimizer does not have, or a number that it refuses.
std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const std::vector<OptimizerParamGroup>& groups,
                                          std::span<const NamedNumber> numbers = {});
// Changes numbers of the options; if one has no such name, a ValueError lists those that there are.
void set_numbers(OptimizerOptions& options, std::span<const NamedNumber> numbers);

}  // namespace argand::optim
