#include "argand/optim/by_name.h"

#include <algorithm>

#include "argand/optim/adadelta.h"
#include "argand/optim/adagrad.h"
#include "argand/optim/adam.h"
#include "argand/optim/adamax.h"
#include "argand/optim/nadam.h"
#include "argand/optim/radam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"

namespace argand::optim {
namespace {

using Groups = std::vector<OptimizerParamGroup>;
using Numbers = std::span<const NamedNumber>;

template <class O, class Options>
std::unique_ptr<Optimizer> make(const Groups& groups, Numbers numbers) {
  Options options = [] {
    if constexpr (std::is_default_constructible_v<Options>)
      return Options();
    else
      return Options(1e-3);  // PyTorch's default of SGD
  }();
  set_numbers(options, numbers);
  return std::make_unique<O>(groups, options);
}

struct Named {
  const char* name;
  std::unique_ptr<Optimizer> (*make)(const Groups&, Numbers);
};
constexpr Named kOptimizers[] = {
    {"SGD", make<SGD, SGDOptions>},
    {"Adam", make<Adam, AdamOptions>},
    {"AdamW", make<AdamW, AdamWOptions>},
    {"RMSprop", make<RMSprop, RMSpropOptions>},
    {"Adagrad", make<Adagrad, AdagradOptions>},
    {"Adadelta", make<Adadelta, AdadeltaOptions>},
    {"Adamax", make<Adamax, AdamaxOptions>},
    {"NAdam", make<NAdam, NAdamOptions>},
    {"RAdam", make<RAdam, RAdamOptions>},
};

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

const std::vector<std::string>& optimizer_names() {
  static const auto& names = *new std::vector<std::string>([] {
    std::vector<std::string> all;
    for (const Named& o : kOptimizers) all.emplace_back(o.name);
    return all;
  }());
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const Groups& groups, Numbers numbers) {
  for (const Named& o : kOptimizers)
    if (name == o.name) return o.make(groups, numbers);
  ARGAND_THROW(ValueError, "there is no optimizer '", name, "'; expected one of ", joined(optimizer_names()));
}

void set_numbers(OptimizerOptions& options, Numbers numbers) {
  std::vector<std::string> known;
  options.each_number([&](const char* name, double&) { known.emplace_back(name); });
  for (const NamedNumber& number : numbers)
    ARGAND_CHECK(ValueError, std::find(known.begin(), known.end(), number.first) != known.end(),
                 "this optimizer has no option '", number.first, "'; it has ", joined(known));
  options.each_number([&](const char* name, double& value) {
    for (const NamedNumber& number : numbers)
      if (number.first == name) value = number.second;
  });
}

}  // namespace argand::optim
