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
#include "argand/exec/node_hooks.h"
#include "argand/ops/view/become.h"
#include "bindings/dispatch.h"
#include "bindings/nodes.h"

namespace argand::python {

Tensor as_tensor_or_none(nb::handle value, const char* what) {
  if (value.is_none()) return {};
  if (!is_tensor(value.ptr())) {
    PyErr_Format(PyExc_TypeError, "%s: expected a Tensor or None, got %s", what, type_name(value.ptr()).c_str());
    throw nb::python_error();
  }
  return as_tensor(value.ptr());
}

void check_replaced(nb::handle gradient, const Tensor& by, nb::handle hook) {
  if (!by.defined()) return;
  const nb::object name = nb::getattr(hook, "__name__", nb::str("<unknown>"));
  autograd::check_replaced(as_tensor_or_none(gradient, "hook"), by, str("hook '", shown(name), "'"));
}

namespace {

using autograd::AutogradContext;
using autograd::variable_list;

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

variable_list read_tensors(const nb::tuple& values, const char* what) {
  variable_list out;
  for (const nb::handle v : values) out.push_back(as_tensor_or_none(v, what));
  return out;
}

class NodeOfFunction final : public PythonNode {
 public:
  NodeOfFunction(nb::object function, nb::object context, Context* raw)
      : function_(function), context_(std::move(context)), raw_(raw) {
    raw_->node = this;
    name_ = nb::cast<std::string>(function.attr("__name__")) + "Backward";
  }
  ~NodeOfFunction() override {
    // The context may outlive the node; `node` is read only under the interpreter's lock.
    raw_->node = nullptr;
  }
  std::string name() const override { return name_; }
  nb::object function() const override { return nb::borrow(function_.get()); }
  nb::object context_object() const override { return nb::borrow(context_.get()); }
  int visit(visitproc visitor, void* arg) const override {
    if (const int stop = function_.visit(visitor, arg)) return stop;
    return context_.visit(visitor, arg);
  }

 private:
  variable_list backward(variable_list grads) override {
    return in_python([&] {
      nb::list arguments;
      arguments.append(nb::borrow(context_.get()));
      for (Tensor& g : grads) arguments.append(nb::steal(wrap(std::move(g))));
      nb::object results = nb::handle(function_.get()).attr("_backward_function")()(*arguments);
      if (!nb::isinstance<nb::tuple>(results) && !nb::isinstance<nb::list>(results)) results = nb::make_tuple(results);
      variable_list out;
      for (const nb::handle r : results) out.push_back(as_tensor_or_none(r, name_.c_str()));
      // backward may return more Nones at the end than there are arguments.
      return out;
    });
  }

  SharedRef function_, context_;
  Context* raw_;
  std::string name_;
};

// The tensors that save_for_forward was given.
variable_list saved_for_forward(const nb::object& context) {
  const nb::object given = context.attr("saved_for_forward");
  return given.is_none() ? variable_list() : read_tensors(nb::tuple(given), "save_for_forward");
}

// The result of a call of a Function.  The context can be used as long as the node is there.
struct Applied {
  nb::object result, context;
  intrusive_ptr<autograd::Node> node;
};

Applied apply(nb::object function, nb::args arguments) {
  nb::object context_object = nb::cast(new Context, nb::rv_policy::take_ownership);
  Context* const context = nb::cast<Context*>(context_object);
  const intrusive_ptr<NodeOfFunction> node(new NodeOfFunction(function, context_object, context));
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
  const bool splits = nb::cast<bool>(function.attr("_splits_context")());
  {
    const NoGradGuard no_grad;
    if (splits) {
      result = function.attr("forward")(*arguments);
      function.attr("setup_context")(context_object, nb::tuple(arguments), result);
    } else {
      result = function.attr("forward")(context_object, *arguments);
    }
  }
  // Results that are no tensors pass through; backward gets None in their places.
  const bool many = nb::isinstance<nb::tuple>(result) || nb::isinstance<nb::list>(result);
  const nb::list all = many ? nb::list(result) : nb::list(nb::make_tuple(result));
  variable_list outputs;
  for (const nb::handle r : all) outputs.push_back(is_tensor(r.ptr()) ? as_tensor(r.ptr()) : Tensor());
  if (splits) node->check_saved(inputs, outputs, saved_for_forward(context_object));
  node->record(inputs, is_input, outputs, records);
  size_t next = 0;
  nb::list out;
  for (const nb::handle r : all) {
    Tensor& output = outputs[next++];
    // An input that forward returned as it came: its class may say what a view of it is.
    const bool is_view_of_own_class =
        !records && output.defined() && !output.is_same(as_tensor(r.ptr())) && Py_TYPE(r.ptr()) != tensor_type;
    if (is_view_of_own_class) {
      const NoGradGuard no_grad;
      out.append(r.attr("view_as")(r));
      continue;
    }
    out.append(output.defined() ? nb::steal(wrap(std::move(output))) : nb::borrow(r));
  }
  return {many ? nb::object(nb::tuple(out)) : nb::object(out[0]), context_object, node};
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
      .def("_set_materialize_non_diff_grads",
           [](Context& c, bool value) { c.get().set_materialize_non_diff_grads(value); })
      .def("_node", [](Context& c) { return nb::steal(wrap(intrusive_ptr<autograd::Node>(c.node))); })
      .def_prop_ro("saved_tensors",
                   [](Context& c) {
                     nb::list out;
                     for (Tensor& t : c.get().get_saved_variables()) out.append(nb::steal(wrap(std::move(t))));
                     return nb::tuple(out);
                   })
      .def_ro("needs_input_grad", &Context::needs_input_grad);
  module.def("_apply_function", [](nb::object f, nb::args arguments) { return apply(f, arguments).result; });
  module.def("_apply_function_with_context", [](nb::object f, nb::args arguments) {
    Applied applied = apply(f, arguments);
    return nb::make_tuple(applied.result, applied.context, nb::steal(wrap(applied.node)));
  });
}

// ---- nodes and hooks

struct TensorHook {
  SharedRef function;
  Tensor operator()(Tensor grad) const {
    return in_python([&] {
      const nb::object given = nb::steal(wrap(std::move(grad)));
      const nb::object result = nb::handle(function.get())(given);
      Tensor by = as_tensor_or_none(result, "hook");
      check_replaced(given, by, function.get());
      return by;
    });
  }
};

struct LeafHook {
  SharedRef function;
  void operator()(const Tensor& leaf) const {
    in_python([&] {
      if (nb::handle(function.get())(nb::steal(wrap(leaf))).is_none()) return;
      PyErr_SetString(PyExc_RuntimeError, "Tensor post accumulate grad hooks should return None.");
      throw nb::python_error();
    });
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

}  // namespace

std::shared_ptr<autograd::SavedTensorHooks> saved_hooks(nb::object pack, nb::object unpack) {
  return std::make_shared<PythonSavedHooks>(std::move(pack), std::move(unpack));
}

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

namespace {

// The hooks that the program registered for a tensor, by their handles; None if there are none.
nb::object hooks_of(const Tensor& tensor) {
  const AutogradMeta* meta = autograd_meta_or_null(tensor);
  if (!meta || !tensor.requires_grad()) return nb::none();
  nb::dict found;
  const auto add = [&](const autograd::Node::Hook& hook) {
    if (const auto* own = hook.call.target<TensorHook>())
      found[nb::int_(hook.handle)] = nb::borrow(own->function.get());
  };
  if (tensor.is_leaf()) {
    for (const autograd::Node::Hook& hook : meta->leaf_hooks) add(hook);
  } else {
    const autograd::Edge edge = gradient_edge(tensor);
    for (const autograd::Node::Hook& hook : edge.function->hooks())
      if (hook.input_nr == edge.input_nr) add(hook);
  }
  return found.size() ? nb::object(found) : nb::none();
}

void add_hooks(nb::module_& module) {
  module.def("_hooks_of", hooks_of);
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
  module.def("_become_strided", [](const Tensor& self, const Tensor& view) { ops::become("as_strided", self, view); });
  module.def("_bump_version", [](const Tensor& t) { t.impl().bump_version(); });
  module.def("_remove_hook", [](const Tensor& tensor, unsigned handle) { tensor.remove_hook(handle); });
}

// ---- backward

// Tensors and GradientEdges.
autograd::Endpoints endpoints(nb::handle values) {
  autograd::Endpoints out;
  for (const nb::handle v : values) {
    if (is_tensor(v.ptr())) {
      out.emplace_back(as_tensor(v.ptr()));
      continue;
    }
    if (!nb::hasattr(v, "node") || !nb::isinstance<NodeObject>(v.attr("node"))) {
      PyErr_Format(PyExc_TypeError, "autograd: expected a Tensor or a GradientEdge, got %s",
                   type_name(v.ptr()).c_str());
      throw nb::python_error();
    }
    const intrusive_ptr<autograd::Node> node = nb::cast<NodeObject&>(v.attr("node")).node;
    const auto nr = nb::cast<uint32_t>(v.attr("output_nr"));
    ARGAND_CHECK(IndexError, nr < node->num_inputs(), "GradientEdge: ", node->name(), " has ", node->num_inputs(),
                 " results, got output_nr ", nr);
    out.emplace_back(autograd::Edge{node, nr});
  }
  return out;
}

std::vector<Tensor> tensors_or_none(nb::handle values) {
  std::vector<Tensor> out;
  for (const nb::handle v : values) out.push_back(as_tensor_or_none(v, "gradients"));
  return out;
}

void add_engine(nb::module_& module) {
  module.def(
      "_backward",
      [](nb::object roots, nb::object gradients, std::optional<bool> retain, bool create, nb::object inputs) {
        const autograd::Endpoints from = endpoints(roots), to = endpoints(inputs);
        const std::vector<Tensor> given = tensors_or_none(gradients);
        const NoGil no_gil;
        autograd::backward_from(from, given, retain, create, to);
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  module.def(
      "_grad",
      [](nb::object outputs, nb::object inputs, nb::object gradients, std::optional<bool> retain, bool create,
         bool allow_unused) {
        const autograd::Endpoints from = endpoints(outputs), to = endpoints(inputs);
        const std::vector<Tensor> given = tensors_or_none(gradients);
        Grads out;
        {
          const NoGil no_gil;
          out = autograd::grad_of(from, to, given, retain, create, allow_unused);
        }
        nb::list list;
        for (Tensor& g : out) list.append(nb::steal(wrap(std::move(g))));
        return nb::tuple(list);
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  module.def("_is_multithreading_enabled", &autograd::is_multithreading_enabled);
  module.def("_set_multithreading_enabled", &autograd::set_multithreading_enabled);
  // f is called when the backward that is under way on this thread is over.
  module.def("_after_backward", [](nb::callable f) {
    autograd::after_backward([f = SharedRef(std::move(f))](bool well) {
      if (well) in_python([&] { nb::handle(f.get())(); });
    });
  });
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
      return check(call, inputs, {.eps = eps, .atol = atol, .rtol = rtol, .fast_mode = fast, .allow_single = true});
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
  if (PyObject* const kept = kept_object(tensor.impl()))
    if (const int stop = visitor(kept, arg)) return stop;
  AutogradMeta* const meta = autograd_meta_or_null(tensor);
  if (!meta) return 0;
  if (const int stop = visit_hooks(meta->leaf_hooks, visitor, arg)) return stop;
  if (const int stop = visit_owned(meta->grad(), visitor, arg)) return stop;
  return meta->grad_fn ? visit_node(*meta->grad_fn, visitor, arg) : 0;
}

void add_graph(nb::module_& module) {
  add_nodes(module);
  add_hooks(module);
  add_functions(module);
  add_engine(module);
}

}  // namespace argand::python
