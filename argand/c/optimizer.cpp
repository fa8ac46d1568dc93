#include "argand/c/handles.h"
#include "argand/optim/by_name.h"

using namespace argand;
using namespace argand::c;

struct argand_optimizer {
  std::string name;
  std::unique_ptr<optim::Optimizer> optimizer;
};

namespace {

std::vector<optim::NamedNumber> numbers_of(const argand_number* options, size_t count, const char* function) {
  std::vector<optim::NamedNumber> out;
  for (const argand_number& o : needed(options, count, function, "options"))
    out.emplace_back(&needed(o.name, function, "the name of an option"), o.value);
  return out;
}

std::vector<optim::NamedNumber> numbers_of(const optim::OptimizerOptions& options) {
  std::vector<optim::NamedNumber> out;
  options.clone()->each_number([&](const char* name, double& value) { out.emplace_back(name, value); });
  return out;
}

optim::Optimizer& optimizer_of(const argand_optimizer* optimizer, const char* function) {
  return *needed(optimizer, function, "optimizer").optimizer;
}

optim::OptimizerOptions& group_of(const argand_optimizer* optimizer, size_t group, const char* function) {
  auto& groups = optimizer_of(optimizer, function).param_groups();
  ARGAND_CHECK(IndexError, group < groups.size(), function, ": there are ", groups.size(), " groups, got ", group);
  return groups[group].options();
}

// `from` with these numbers; what the optimizer's constructor refuses is an error here.
std::unique_ptr<optim::OptimizerOptions> changed(const argand_optimizer& optimizer, const optim::OptimizerOptions& from,
                                                 const std::vector<optim::NamedNumber>& numbers) {
  std::unique_ptr<optim::OptimizerOptions> options = from.clone();
  optim::set_numbers(*options, numbers);
  optim::make_optimizer(optimizer.name, {}, numbers_of(*options));
  return options;
}

void make(const char* name, std::vector<Tensor> parameters, const argand_number* options, size_t num_options,
          argand_optimizer** result, const char* function) {
  argand_optimizer*& out = needed(result, function, "result");
  auto made = std::make_unique<argand_optimizer>();
  made->name = &needed(name, function, "name");
  made->optimizer = optim::make_optimizer(made->name, {optim::OptimizerParamGroup(std::move(parameters))},
                                          numbers_of(options, num_options, function));
  out = made.release();
}

}  // namespace

argand_error* argand_optimizer_new(const char* name, argand_tensor* const* parameters, size_t num_parameters,
                                   const argand_number* options, size_t num_options, argand_optimizer** result) {
  return guarded([&] {
    const char* const function = "argand_optimizer_new";
    make(name, tensors_of(parameters, num_parameters, function, "parameters"), options, num_options, result, function);
  });
}

argand_error* argand_optimizer_new_for(const char* name, argand_state_dict* parameters, const argand_number* options,
                                       size_t num_options, argand_optimizer** result) {
  return guarded([&] {
    const char* const function = "argand_optimizer_new_for";
    std::vector<Tensor> all;
    for (const auto& item : needed(parameters, function, "parameters").tensors) all.push_back(item.value());
    make(name, std::move(all), options, num_options, result, function);
  });
}

void argand_optimizer_free(argand_optimizer* optimizer) { delete optimizer; }

argand_error* argand_optimizer_add_group(argand_optimizer* optimizer, argand_tensor* const* parameters,
                                         size_t num_parameters, const argand_number* options, size_t num_options) {
  return guarded([&] {
    const char* const function = "argand_optimizer_add_group";
    optim::Optimizer& o = optimizer_of(optimizer, function);
    auto own = changed(*optimizer, group_of(optimizer, 0, function), numbers_of(options, num_options, function));
    optim::OptimizerParamGroup group(tensors_of(parameters, num_parameters, function, "parameters"));
    o.add_param_group(group);
    o.param_groups().back().set_options(std::move(own));
  });
}

argand_error* argand_optimizer_num_groups(argand_optimizer* optimizer, size_t* count) {
  return guarded([&] {
    const char* const function = "argand_optimizer_num_groups";
    needed(count, function, "count") = optimizer_of(optimizer, function).param_groups().size();
  });
}

argand_error* argand_optimizer_zero_grad(argand_optimizer* optimizer, bool set_to_none) {
  return guarded([&] { optimizer_of(optimizer, "argand_optimizer_zero_grad").zero_grad(set_to_none); });
}

argand_error* argand_optimizer_step(argand_optimizer* optimizer) {
  return guarded([&] { optimizer_of(optimizer, "argand_optimizer_step").step(); });
}

argand_error* argand_optimizer_get(argand_optimizer* optimizer, size_t group, const char* option, double* value) {
  return guarded([&] {
    const char* const function = "argand_optimizer_get";
    const std::string_view name = &needed(option, function, "option");
    optim::OptimizerOptions& options = group_of(optimizer, group, function);
    double& out = needed(value, function, "value");
    const optim::NamedNumber same{name, 0};
    for (const auto& [known, number] : numbers_of(options))
      if (known == name) {
        out = number;
        return;
      }
    optim::set_numbers(*options.clone(), {&same, 1});  // throws, and lists the options that there are
  });
}

argand_error* argand_optimizer_set(argand_optimizer* optimizer, size_t group, const char* option, double value) {
  return guarded([&] {
    const char* const function = "argand_optimizer_set";
    const std::string_view name = &needed(option, function, "option");
    optim::OptimizerOptions& options = group_of(optimizer, group, function);
    optimizer_of(optimizer, function)
        .param_groups()[group]
        .set_options(changed(*optimizer, options, {optim::NamedNumber{name, value}}));
  });
}

argand_error* argand_optimizer_state_dict(argand_optimizer* optimizer, argand_state_dict** result) {
  return guarded([&] {
    const char* const function = "argand_optimizer_state_dict";
    const StateDict state = optimizer_of(optimizer, function).state_dict();
    give(result, function, state, io::Metadata());
  });
}

argand_error* argand_optimizer_load_state_dict(argand_optimizer* optimizer, argand_state_dict* state) {
  return guarded([&] {
    const char* const function = "argand_optimizer_load_state_dict";
    optimizer_of(optimizer, function).load_state_dict(needed(state, function, "state").tensors);
  });
}
