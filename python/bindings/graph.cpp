#include "bindings/graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/autograd/accumulate.h"
#include "argand/autograd/anomaly_mode.h"
#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "argand/autograd/gradcheck.h"
#include "argand/autograd/pass.h"
#include "argand/exec/node_names.h"
#include "bindings/errors.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

struct NodeObject {
  intrusive_ptr<autograd::Node> node;
};

// Calls a function of Python's from code that runs without the interpreter's lock; what it raises goes on as C++'s.
template <class F>
auto in_python(F&& f) {
  const nb::gil_scoped_acquire gil;
  try {
    return f();
  } catch (nb::python_error& e) {
    throw RaisedInPython(std::move(e));
  }
}

Tensor as_tensor_or_none(nb::handle value, const char* what) {
  if (value.is_none()) return {};
  if (!is_tensor(value.ptr())) {
    PyErr_Format(PyExc_TypeError, "%s: expected a Tensor or None, got %s", what, type_name(value.ptr()).c_str());
    throw nb::python_error();
  }
  return as_tensor(value.ptr());
}

// ---- Functions written in Python

// What forward and backward of a Function get as `ctx`.  The node owns it, or forward's caller while there is no node.
struct Context {
  autograd::FunctionNode* node = nullptr;
  nb::tuple needs_input_grad;

  AutogradContext& get() const {
    ARGAND_CHECK(GradError, node, "Function: the graph this context belongs to was freed");
    return node->context();
  }
};

variable_list read_tensors(nb::args values, const char* what) {
  variable_list out;
  for (const nb::handle v : values) out.push_back(as_tensor_or_none(v, what));
  return out;
}

class PythonNode final : public autograd::FunctionNode {
 public:
  PythonNode(nb::object function, nb::object context, Context* raw)
      : function_(function), context_(std::move(context)), raw_(raw) {
    raw_->node = this;
    name_ = nb::cast<std::string>(function.attr("__name__")) + "Backward";
  }
  ~PythonNode() override {
    // The context may outlive the node by its last reference alone; nobody else looks at this without the lock.
    raw_->node = nullptr;
  }
  std::string name() const override { return name_; }
  int visit(visitproc visitor, void* arg) const {
    if (const int stop = function_.visit(visitor, arg)) return stop;
    return context_.visit(visitor, arg);
  }

 private:
  variable_list backward(variable_list grads) override {
    return in_python([&] {
      nb::list arguments;
      arguments.append(nb::borrow(context_.get()));
      for (Tensor& g : grads) arguments.append(nb::steal(wrap(std::move(g))));
      nb::object results = nb::handle(function_.get()).attr("backward")(*arguments);
      if (!nb::isinstance<nb::tuple>(results) && !nb::isinstance<nb::list>(results)) results = nb::make_tuple(results);
      variable_list out;
      for (const nb::handle r : results) out.push_back(as_tensor_or_none(r, name_.c_str()));
      // None for arguments at the end that need no gradient may be more than there are arguments.
      return out;
    });
  }

  SharedRef function_, context_;
  Context* raw_;
  std::string name_;
};

nb::object apply(nb::object function, nb::args arguments) {
  nb::object context_object = nb::cast(new Context, nb::rv_policy::take_ownership);
  Context* const context = nb::cast<Context*>(context_object);
  const intrusive_ptr<PythonNode> node(new PythonNode(function, context_object, context));
  variable_list inputs;
  std::vector<bool> is_input;
  nb::list needs;
  bool records = false;
  for (const nb::handle a : arguments) {
    const bool tensor = is_tensor(a.ptr());
    is_input.push_back(tensor);
    const bool wants = tensor && as_tensor(a.ptr()).requires_grad();
    records |= wants && GradMode::is_enabled();
    needs.append(wants);
    if (tensor) inputs.push_back(as_tensor(a.ptr()));
  }
  context->needs_input_grad = nb::tuple(needs);
  if (records) node->connect(inputs);
  nb::object result;
  {
    const NoGradGuard no_grad;
    if (nb::cast<bool>(function.attr("_splits_context")())) {
      result = function.attr("forward")(*arguments);
      function.attr("setup_context")(context_object, nb::tuple(arguments), result);
    } else {
      result = function.attr("forward")(context_object, *arguments);
    }
  }
  // Results that are no tensors pass through.
  const bool many = nb::isinstance<nb::tuple>(result) || nb::isinstance<nb::list>(result);
  const nb::list all = many ? nb::list(result) : nb::list(nb::make_tuple(result));
  variable_list outputs;
  for (const nb::handle r : all)
    if (is_tensor(r.ptr())) outputs.push_back(as_tensor(r.ptr()));
  node->record(inputs, is_input, outputs, records);
  size_t next = 0;
  nb::list out;
  for (const nb::handle r : all) out.append(is_tensor(r.ptr()) ? nb::steal(wrap(outputs[next++])) : nb::borrow(r));
  return many ? nb::object(nb::tuple(out)) : nb::object(out[0]);
}

void add_functions(nb::module_& module) {
  nb::class_<Context>(module, "FunctionCtx", nb::dynamic_attr())
      .def("save_for_backward",
           [](Context& c, nb::args tensors) { c.get().save_for_backward(read_tensors(tensors, "save_for_backward")); })
      .def("mark_dirty", [](Context& c, nb::args tensors) { c.get().mark_dirty(read_tensors(tensors, "mark_dirty")); })
      .def("mark_non_differentiable",
           [](Context& c, nb::args tensors) {
             c.get().mark_non_differentiable(read_tensors(tensors, "mark_non_differentiable"));
           })
      .def("set_materialize_grads", [](Context& c, bool value) { c.get().set_materialize_grads(value); })
      .def_prop_ro("saved_tensors",
                   [](Context& c) {
                     nb::list out;
                     for (Tensor& t : c.get().get_saved_variables()) out.append(nb::steal(wrap(std::move(t))));
                     return nb::tuple(out);
                   })
      .def_ro("needs_input_grad", &Context::needs_input_grad);
  module.def("_apply_function", apply);
}

// ---- nodes and hooks

struct TensorHook {
  SharedRef function;
  Tensor operator()(Tensor grad) const {
    return in_python([&] {
      const nb::object result = nb::handle(function.get())(nb::steal(wrap(std::move(grad))));
      return as_tensor_or_none(result, "hook");
    });
  }
};

struct LeafHook {
  SharedRef function;
  void operator()(const Tensor& leaf) const {
    in_python([&] { nb::handle(function.get())(nb::steal(wrap(leaf))); });
  }
};

class PythonSavedHooks final : public autograd::SavedTensorHooks {
 public:
  PythonSavedHooks(nb::object pack, nb::object unpack) : pack_(std::move(pack)), unpack_(std::move(unpack)) {}
  std::shared_ptr<void> pack(const Tensor& t) override {
    return in_python([&] {
      const nb::object given = nb::steal(wrap(t));
      return std::make_shared<SharedRef>(nb::handle(pack_.get())(given));
    });
  }
  Tensor unpack(const std::shared_ptr<void>& packed) override {
    return in_python([&] {
      const nb::object result = nb::handle(unpack_.get())(nb::borrow(static_cast<SharedRef*>(packed.get())->get()));
      if (is_tensor(result.ptr())) return as_tensor(result.ptr());
      PyErr_Format(PyExc_TypeError,
                   "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s",
                   type_name(result.ptr()).c_str());
      throw nb::python_error();
    });
  }

 private:
  SharedRef pack_, unpack_;
};

int visit_hooks(const std::vector<autograd::Node::Hook>& hooks, visitproc visitor, void* arg) {
  for (const autograd::Node::Hook& hook : hooks) {
    int stop = 0;
    if (const auto* own = hook.call.target<TensorHook>()) {
      stop = own->function.visit(visitor, arg);
    } else if (const auto* after = hook.call.target<autograd::AfterAccumulation>()) {
      if (const auto* leafs = after->hook.target<LeafHook>()) stop = leafs->function.visit(visitor, arg);
    }
    if (stop) return stop;
  }
  return 0;
}

// See Note [Cycles through C++].
int visit_node(const autograd::Node& node, visitproc visitor, void* arg) {
  if (node.use_count() != 1) return 0;
  if (const int stop = visit_hooks(node.hooks(), visitor, arg)) return stop;
  const auto* const function = dynamic_cast<const PythonNode*>(&node);
  return function ? function->visit(visitor, arg) : 0;
}

int traverse_node(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (NoGil::in_use() || !nb::inst_ready(self)) return 0;
  const auto& node = nb::inst_ptr<NodeObject>(self)->node;
  return node ? visit_node(*node, visit, arg) : 0;
}
int clear_node(PyObject* self) {
  const auto last = std::move(nb::inst_ptr<NodeObject>(self)->node);
  return 0;
}
PyType_Slot node_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_node)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_node)},
                            {0, nullptr}};

nb::object next_functions(const NodeObject& self) {
  nb::list out;
  for (const autograd::Edge& edge : self.node->next_edges())
    out.append(nb::make_tuple(nb::steal(wrap(edge.function)), edge.input_nr));
  return nb::tuple(out);
}

// A class for each kind of node, as programs know them: type(grad_fn).__name__ is "MulBackward0".
nb::handle class_of(const autograd::Node& node) {
  static auto& classes = *new std::unordered_map<std::string, nb::object>;
  std::string name = autograd::class_name(node);
  nb::object& found = classes[name];
  if (!found.is_valid()) {
    nb::dict body;
    body["__slots__"] = nb::tuple();
    body["__module__"] = "argand.autograd";
    found = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(name, nb::make_tuple(nb::type<NodeObject>()), body);
  }
  return found;
}

// The leaf at the end of a graph; other nodes have no such attribute.
nb::object variable(const NodeObject& self) {
  const auto* const end = dynamic_cast<const autograd::AccumulateGrad*>(self.node.get());
  if (!end)
    throw nb::attribute_error(
        str("'", autograd::class_name(*self.node), "' object has no attribute 'variable'").c_str());
  return nb::steal(wrap(end->leaf()));
}

void add_nodes(nb::module_& module) {
  nb::class_<NodeObject>(module, "Node", nb::type_slots(node_slots), "A function of the backward graph.")
      .def("name", [](const NodeObject& n) { return autograd::traced_name(*n.node); })
      .def_prop_ro("next_functions", next_functions)
      .def_prop_ro("variable", variable)
      .def("__eq__",
           [](const NodeObject& a, nb::object b) {
             return nb::isinstance<NodeObject>(b) && nb::cast<NodeObject&>(b).node == a.node;
           })
      .def("__hash__", [](const NodeObject& n) { return reinterpret_cast<intptr_t>(n.node.get()) >> 4; })
      .def("__repr__", [](const NodeObject& n) {
        return nb::steal<nb::str>(
            PyUnicode_FromFormat("<%s object at %p>", autograd::class_name(*n.node).c_str(), n.node.get()));
      });
  module.def("_register_hook", [](const Tensor& tensor, nb::object hook) {
    return tensor.register_hook(TensorHook{SharedRef(std::move(hook))});
  });
  module.def("_register_post_accumulate_grad_hook", [](const Tensor& leaf, nb::object hook) {
    return autograd::add_post_accumulate_hook(leaf, LeafHook{SharedRef(std::move(hook))});
  });
  module.def("_push_saved_tensors_hooks", [](nb::object pack, nb::object unpack) {
    autograd::SavedTensorHooks::push(std::make_shared<PythonSavedHooks>(std::move(pack), std::move(unpack)));
  });
  module.def("_pop_saved_tensors_hooks", &autograd::SavedTensorHooks::pop);
  module.def("_disable_saved_tensors_hooks", &autograd::SavedTensorHooks::disable, nb::arg().none());
  module.def("_gradient_wanted", [](const Tensor& t) { return autograd::Pass::reaches(gradient_edge(t)); });
  module.def("_backward_pass", &autograd::Pass::current);
  module.def("_backward_takes_inputs", &autograd::Pass::takes_inputs);
  module.def("_bump_version", [](const Tensor& t) { t.impl().bump_version(); });
  module.def("_remove_hook", [](const Tensor& tensor, unsigned handle) { tensor.remove_hook(handle); });
}

// ---- backward

void add_engine(nb::module_& module) {
  module.def(
      "_backward",
      [](std::vector<Tensor> roots, std::vector<Tensor> gradients, std::optional<bool> retain, bool create,
         std::vector<Tensor> inputs) {
        const NoGil no_gil;
        autograd::backward(roots, gradients, retain, create, inputs);
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  module.def(
      "_grad",
      [](std::vector<Tensor> outputs, std::vector<Tensor> inputs, std::vector<Tensor> gradients,
         std::optional<bool> retain, bool create, bool allow_unused) {
        std::vector<Tensor> out;
        {
          const NoGil no_gil;
          Grads grads = autograd::grad(outputs, inputs, gradients, retain, create, allow_unused);
          for (Tensor& g : grads) out.push_back(std::move(g));
        }
        nb::list list;
        for (Tensor& g : out) list.append(nb::steal(wrap(std::move(g))));
        return nb::tuple(list);
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  using Check =
      bool (*)(const autograd::CheckedFunction&, const std::vector<Tensor>&, const autograd::GradcheckOptions&);
  const auto checker = [](Check check) {
    return [check](nb::object function, std::vector<Tensor> inputs, double eps, double atol, double rtol, bool fast) {
      const auto call = [&](const std::vector<Tensor>& given) {
        return in_python([&] {
          nb::list tensors;
          for (const Tensor& t : given) tensors.append(nb::steal(wrap(t)));
          return nb::cast<std::vector<Tensor>>(function(tensors));
        });
      };
      const NoGil no_gil;
      return check(call, inputs, {.eps = eps, .atol = atol, .rtol = rtol, .fast_mode = fast});
    };
  };
  module.def("_gradcheck", checker(autograd::gradcheck));
  module.def("_is_anomaly_enabled", [] { return autograd::AnomalyMode::is_enabled(); });
  module.def("_set_anomaly_enabled", [](bool on) { autograd::AnomalyMode::set_enabled(on); });
  module.def("is_grad_enabled", [] { return GradMode::is_enabled(); });
  module.def("_set_grad_enabled", [](bool on) { GradMode::set_enabled(on); });
  module.def("is_inference_mode_enabled", [] { return InferenceMode::is_enabled(); });
  nb::class_<InferenceMode>(module, "_InferenceMode").def(nb::init<bool>());
}

}  // namespace

int visit_owned(const Tensor& tensor, visitproc visitor, void* arg) {
  if (tensor.use_count() != 1 || NoGil::in_use()) return 0;
  AutogradMeta* const meta = autograd_meta_or_null(tensor);
  if (!meta) return 0;
  if (const int stop = visit_hooks(meta->leaf_hooks, visitor, arg)) return stop;
  if (const int stop = visit_owned(meta->grad(), visitor, arg)) return stop;
  return meta->grad_fn ? visit_node(*meta->grad_fn, visitor, arg) : 0;
}

PyObject* wrap(const intrusive_ptr<autograd::Node>& node) {
  if (!node) return Py_NewRef(Py_None);
  return guarded([&] {
    nb::object object = nb::inst_alloc(class_of(*node));
    new (nb::inst_ptr<NodeObject>(object)) NodeObject{node};
    nb::inst_mark_ready(object);
    return object.release().ptr();
  });
}

void add_graph(nb::module_& module) {
  add_nodes(module);
  add_functions(module);
  add_engine(module);
}

}  // namespace argand::python
