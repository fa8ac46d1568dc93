// The values that nodes save for backward, for Python: `_saved_NAME` and `_raw_saved_NAME` of a node, where NAME is an
// argument of the op, or one of its results.
#include <nanobind/stl/vector.h>

#include "argand/exec/node_names.h"
#include "bindings/argument_object.h"
#include "bindings/nodes.h"

namespace argand::python {
namespace {

using autograd::Node;
using autograd::OpNode;

// A tensor that a node saves, or an argument that is not a tensor.
struct SavedTensor {
  intrusive_ptr<Node> node;
  uint32_t number = 0;
  bool result = false;

  void register_hooks(nb::callable pack, nb::callable unpack) {
    const auto hooks = saved_hooks(std::move(pack), std::move(unpack));
    if (auto* const op = dynamic_cast<OpNode*>(node.get()))
      op->pack_kept(number, result, hooks);
    else
      dynamic_cast<autograd::FunctionNode&>(*node).saved().at(number).pack(hooks);
  }
};

// Lists are tuples here, as PyTorch's.
nb::object as_object(const ArgumentValue& value) {
  nb::object object = to_object(value);
  return nb::isinstance<nb::list>(object) ? nb::object(nb::tuple(object)) : object;
}

// Names of results as the schema has them: "(Tensor values, Tensor indices)"; where it has none, "result0", "result1".
std::string result_name(const OpInfo& op, uint32_t i) {
  if (op.num_outputs == 1) return "result";
  const std::string name = op.signature.results[i].name;
  return name.empty() ? str("result", i) : name;
}

// The attributes of a node of an op: calls visit(NAME, object) with each, until it says true.  `raw`: SavedTensors in
// the place of tensors.
template <class Visit>
void each_saved(OpNode& node, bool raw, const Visit& visit) {
  const OpInfo& op = node.op();
  ArgumentValues values;
  op.args.values(node.arguments(), values);
  TensorSlots slots;
  node.tensors(slots);
  const intrusive_ptr<Node> owner(&node);
  const auto saved = [&](uint32_t number, bool result) -> nb::object {
    if (raw) return nb::cast(SavedTensor{owner, number, result});
    return nb::steal(wrap(node.kept(number, result)));
  };
  uint32_t read = 0;
  for (const TensorSlot& s : slots) read |= op.gradient_reads[s.argument];
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& [name, value] = values[i];
    const bool list = std::holds_alternative<std::vector<Tensor>>(value);
    bool is_tensor = list || std::holds_alternative<Tensor>(value);
    nb::list tensors;
    const Dims* sizes = nullptr;
    const auto get = [&] {
      for (uint32_t k = 0; k < slots.size(); ++k)
        if (static_cast<size_t>(slots[k].argument) == i) tensors.append(saved(k, false));
      return list ? nb::object(nb::tuple(tensors)) : tensors.size() ? nb::object(tensors[0]) : nb::none();
    };
    for (uint32_t k = 0; k < slots.size(); ++k) {
      if (static_cast<size_t>(slots[k].argument) != i) continue;
      is_tensor = true;
      if (const autograd::ArgumentMeta* meta = node.argument_meta(k)) sizes = &meta->sizes;
    }
    if (!is_tensor) {
      if (!raw && visit(std::string(name), [&] { return as_object(value); })) return;
      continue;
    }
    if (read >> i & 1 && visit(std::string(name), get)) return;
    if (!raw && sizes && visit(str(name, "_sym_sizes"), [&] { return as_object(ArgumentValue(*sizes)); })) return;
  }
  for (uint32_t i = 0; i < 32; ++i)
    if (op.saved_results >> i & 1 && visit(result_name(op, i), [&] { return saved(i, true); })) return;
}

nb::object raw_saved_tensors(const intrusive_ptr<Node>& node, autograd::FunctionNode& function) {
  nb::list out;
  for (uint32_t i = 0; i < function.saved().size(); ++i) out.append(nb::cast(SavedTensor{node, i, false}));
  return nb::tuple(out);
}

nb::object get_attribute(const NodeObject& self, std::string_view name) {
  nb::object found;
  const bool raw = name.starts_with("_raw_saved_");
  if (auto* const function = dynamic_cast<autograd::FunctionNode*>(self.node.get())) {
    if (name == "_raw_saved_tensors") found = raw_saved_tensors(self.node, *function);
  } else if (auto* const op = dynamic_cast<OpNode*>(self.node.get()); op && (raw || name.starts_with("_saved_"))) {
    each_saved(*op, raw, [&](const std::string& own, const auto& get) {
      if (own != name.substr(raw ? 11 : 7)) return false;
      found = get();
      return true;
    });
  }
  if (!found.is_valid())
    throw nb::attribute_error(
        str("'", autograd::class_name(*self.node), "' object has no attribute '", name, "'").c_str());
  return found;
}

std::vector<std::string> saved_names(const NodeObject& self) {
  std::vector<std::string> out;
  auto* const op = dynamic_cast<OpNode*>(self.node.get());
  if (!op) return out;
  for (const bool raw : {false, true})
    each_saved(*op, raw, [&](const std::string& name, const auto&) {
      out.push_back((raw ? "_raw_saved_" : "_saved_") + name);
      return false;
    });
  return out;
}

}  // namespace

void add_saved_tensors(nb::module_& module, nb::class_<NodeObject>& node) {
  nb::class_<SavedTensor>(module, "_SavedTensor").def("register_hooks", &SavedTensor::register_hooks);
  node.def("__getattr__", [](const NodeObject& n, const std::string& name) { return get_attribute(n, name); })
      .def("_saved_names", saved_names);
}

}  // namespace argand::python
