#include "argand/c/module.h"

#include "argand/c/ivalue.h"
#include "argand/c/value.h"

using namespace argand;
using namespace argand::c;

namespace {

AnyModule& module_of(const argand_module* module, const char* function) {
  return *needed(module, function, "module").module;
}

std::unordered_map<std::string, IValue> named_values(const argand_named_value* named, size_t count,
                                                     const char* function) {
  std::unordered_map<std::string, IValue> out;
  for (const argand_named_value& n : needed(named, count, function, "named")) {
    const std::string name = &needed(n.name, function, "the name of an argument");
    ARGAND_CHECK(ValueError, out.emplace(name, to_ivalue(n.value, function)).second, function, ": the argument '", name,
                 "' is given twice");
  }
  return out;
}

argand_error* give_state(const argand_module* module, StateDict (AnyModule::*get)() const, argand_state_dict** result,
                         const char* function) {
  return guarded([&] {
    const StateDict tensors = (module_of(module, function).*get)();
    give(result, function, tensors, io::Metadata());
  });
}

}  // namespace

void argand_module_free(argand_module* module) { delete module; }

argand_error* argand_module_type_name(argand_module* module, char** name) {
  return guarded(
      [&] { give_text(name, "argand_module_type_name", module_of(module, "argand_module_type_name").type_name()); });
}

argand_error* argand_module_call(argand_module* module, const char* method, const argand_value* arguments,
                                 size_t num_arguments, const argand_named_value* named, size_t num_named,
                                 argand_value* result) {
  return guarded([&] {
    const char* const function = "argand_module_call";
    AnyModule& m = module_of(module, function);
    needed(result, function, "result");
    const IValue made =
        m.call(&needed(method, function, "method"), to_ivalues(arguments, num_arguments, function, "arguments"),
               named_values(named, num_named, function));
    *result = to_value(made);
  });
}

argand_error* argand_module_forward(argand_module* module, const argand_value* inputs, size_t num_inputs,
                                    argand_value* results, size_t capacity, size_t* count) {
  return guarded([&] {
    const char* const function = "argand_module_forward";
    AnyModule& m = module_of(module, function);
    needed(results, capacity, function, "results");
    const IValue made = m.call("forward", to_ivalues(inputs, num_inputs, function, "inputs"), {});
    if (capacity > 0) results[0] = to_value(made);
    if (count) *count = 1;
  });
}

argand_error* argand_module_signature(argand_module* module, const char* method, char** signature) {
  return guarded([&] {
    const char* const function = "argand_module_signature";
    give_text(signature, function, module_of(module, function).signature(&needed(method, function, "method")));
  });
}

argand_error* argand_module_names(argand_module* module, argand_module_part part, argand_value* names) {
  return guarded([&] {
    const char* const function = "argand_module_names";
    const AnyModule& m = module_of(module, function);
    needed(names, function, "names");
    ARGAND_CHECK(ValueError, part >= ARGAND_METHODS && part <= ARGAND_CHILDREN, function,
                 ": a module has no part of number ", part);
    const std::vector<std::string> found = m.names(part);
    *names = to_value(IValue(found));
  });
}

argand_error* argand_module_get(argand_module* module, const char* name, argand_value* result) {
  return guarded([&] {
    const char* const function = "argand_module_get";
    const AnyModule& m = module_of(module, function);
    needed(result, function, "result");
    *result = to_value(m.get(&needed(name, function, "name")));
  });
}

argand_error* argand_module_set(argand_module* module, const char* name, const argand_value* value) {
  return guarded([&] {
    const char* const function = "argand_module_set";
    AnyModule& m = module_of(module, function);
    m.set(&needed(name, function, "name"), to_ivalue(needed(value, function, "value"), function));
  });
}

argand_error* argand_module_child(argand_module* module, const char* name, argand_module** result) {
  return guarded([&] {
    const char* const function = "argand_module_child";
    const AnyModule& m = module_of(module, function);
    give(result, function, m.child(&needed(name, function, "name")));
  });
}

argand_error* argand_module_train(argand_module* module, bool on) {
  return guarded([&] { module_of(module, "argand_module_train").train(on); });
}

argand_error* argand_module_is_training(argand_module* module, bool* result) {
  return guarded([&] {
    const char* const function = "argand_module_is_training";
    needed(result, function, "result") = module_of(module, function).is_training();
  });
}

argand_error* argand_module_to(argand_module* module, argand_dtype dtype, argand_device device) {
  return guarded([&] {
    const char* const function = "argand_module_to";
    AnyModule& m = module_of(module, function);
    std::optional<ScalarType> type;
    if (dtype != ARGAND_DTYPE_NONE) type = to_dtype(dtype, function);
    std::optional<Device> place;
    if (device.type != ARGAND_DEVICE_NONE) place = to_device(device, function);
    m.to(place, type);
  });
}

argand_error* argand_module_fuse(argand_module* module) {
  return guarded([&] { module_of(module, "argand_module_fuse").fuse(); });
}

argand_error* argand_module_parameters(argand_module* module, argand_state_dict** result) {
  return give_state(module, &AnyModule::parameters, result, "argand_module_parameters");
}

argand_error* argand_module_buffers(argand_module* module, argand_state_dict** result) {
  return give_state(module, &AnyModule::buffers, result, "argand_module_buffers");
}

argand_error* argand_module_state_dict(argand_module* module, argand_state_dict** result) {
  return give_state(module, &AnyModule::state_dict, result, "argand_module_state_dict");
}

argand_error* argand_module_load_state_dict(argand_module* module, argand_state_dict* state, bool strict) {
  return guarded([&] {
    const char* const function = "argand_module_load_state_dict";
    module_of(module, function).load_state_dict(needed(state, function, "state").tensors, strict);
  });
}
