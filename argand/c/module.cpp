#include "argand/c/value.h"
#include "argand/models/models.h"

using namespace argand;
using namespace argand::c;

struct argand_module {
  std::shared_ptr<models::ConvNet> net;
};

namespace {

models::ConvNet& net_of(const argand_module* module, const char* function) {
  return *needed(module, function, "module").net;
}

}  // namespace

argand_error* argand_module_new(const char* name, const char* weights, int64_t num_classes, argand_module** result) {
  return guarded([&] {
    const char* const function = "argand_module_new";
    needed(name, function, "name");
    argand_module*& out = needed(result, function, "result");
    std::optional<int64_t> classes;
    if (num_classes != 0) classes = num_classes;
    out = new argand_module{models::make_model(name, weights ? weights : "", classes)};
  });
}

void argand_module_free(argand_module* module) { delete module; }

argand_error* argand_module_forward(argand_module* module, const argand_value* inputs, size_t num_inputs,
                                    argand_value* results, size_t capacity, size_t* count) {
  return guarded([&] {
    const char* const function = "argand_module_forward";
    models::ConvNet& net = net_of(module, function);
    needed(results, capacity, function, "results");
    const std::vector<ArgumentValue> given = to_arguments(inputs, num_inputs, function, "inputs");
    ARGAND_CHECK(ValueError, given.size() == 1 && std::holds_alternative<Tensor>(given[0]), function, ": ", net.name(),
                 " takes one tensor, got ", given.size(), given.size() == 1 ? " value of another kind" : " values");
    const ArgumentValue made[] = {net.forward(std::get<Tensor>(given[0]))};
    write_results(made, results, capacity, count, function);
  });
}

argand_error* argand_module_train(argand_module* module, bool on) {
  return guarded([&] { net_of(module, "argand_module_train").train(on); });
}

argand_error* argand_module_is_training(argand_module* module, bool* result) {
  return guarded([&] {
    const char* const function = "argand_module_is_training";
    needed(result, function, "result") = net_of(module, function).is_training();
  });
}

argand_error* argand_module_to(argand_module* module, argand_dtype dtype, argand_device device) {
  return guarded([&] {
    const char* const function = "argand_module_to";
    models::ConvNet& net = net_of(module, function);
    const bool has_dtype = dtype != ARGAND_DTYPE_NONE, has_device = device.type != ARGAND_DEVICE_NONE;
    const ScalarType type = has_dtype ? to_dtype(dtype, function) : kFloat;
    const Device place = has_device ? to_device(device, function) : Device(kCPU);
    if (has_dtype && has_device)
      net.to(place, type);
    else if (has_dtype)
      net.to(type);
    else if (has_device)
      net.to(place);
  });
}

argand_error* argand_module_fuse(argand_module* module) {
  return guarded([&] { net_of(module, "argand_module_fuse").fuse(); });
}

argand_error* argand_module_parameters(argand_module* module, argand_state_dict** result) {
  return guarded([&] {
    const char* const function = "argand_module_parameters";
    const StateDict parameters = net_of(module, function).named_parameters();
    give(result, function, parameters, io::Metadata());
  });
}

argand_error* argand_module_state_dict(argand_module* module, argand_state_dict** result) {
  return guarded([&] {
    const char* const function = "argand_module_state_dict";
    const StateDict state = net_of(module, function).state_dict();
    give(result, function, state, io::Metadata());
  });
}

argand_error* argand_module_load_state_dict(argand_module* module, argand_state_dict* state, bool strict) {
  return guarded([&] {
    const char* const function = "argand_module_load_state_dict";
    net_of(module, function).load_state_dict(needed(state, function, "state").tensors, strict);
  });
}
