// Nodes of the graph for Python: their names, edges, hooks and what is kept with them.
#include "bindings/nodes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "argand/autograd/accumulate.h"
#include "argand/autograd/pass.h"
#include "argand/exec/node_hooks.h"
#include "argand/exec/node_names.h"
#include "bindings/constants.h"
#include "bindings/gil.h"

namespace argand::python {
namespace {

using autograd::Node;
using autograd::NodeExtras;

nb::tuple as_tuple(const Grads& grads) {
  nb::list out;
  for (const Tensor& g : grads) out.append(nb::steal(wrap(g)));
  return nb::tuple(out);
}

Grads as_grads(nb::handle value, const char* what) {
  if (value.is_none()) return {};
  if (is_tensor(value.ptr())) return {as_tensor(value.ptr())};
  if (!nb::isinstance<nb::tuple>(value) && !nb::isinstance<nb::list>(value)) {
    PyErr_Format(PyExc_TypeError, "%s: expected None, a Tensor or a tuple of them, got %s", what,
                 type_name(value.ptr()).c_str());
    throw nb::python_error();
  }
  Grads out;
  for (const nb::handle v : value) out.push_back(as_tensor_or_none(v, what));
  return out;
}

// Those that a hook returned, in place of `given`.
Grads replacing(const nb::tuple& given, Grads by, nb::handle hook) {
  for (size_t i = 0; i < std::min(by.size(), nb::len(given)); ++i) check_replaced(given[i], by[i], hook);
  return by;
}

struct PreHook {
  SharedRef function;
  Grads operator()(Grads grads) const {
    return in_python([&] {
      const nb::tuple given = as_tuple(grads);
      return replacing(given, as_grads(nb::handle(function.get())(given), "register_prehook"), function.get());
    });
  }
};
struct PostHook {
  SharedRef function;
  Grads operator()(const Grads& found, const Grads& grads) const {
    return in_python([&] {
      const nb::tuple before = as_tuple(found);
      const nb::object given = nb::handle(function.get())(before, as_tuple(grads));
      Grads out = as_grads(given, "register_hook");
      if (given.is_none() || out.size() == found.size()) return replacing(before, std::move(out), function.get());
      PyErr_Format(PyExc_RuntimeError,
                   "register_hook: hook has returned an incorrect number of values (got %zu, but expected %zu)",
                   out.size(), found.size());
      throw nb::python_error();
    });
  }
};

unsigned next_handle() {
  static unsigned next = 0;  // guarded by the interpreter's lock
  return next++;
}

unsigned add_prehook(const NodeObject& self, nb::object hook) {
  const unsigned handle = next_handle();
  autograd::edit_extras(*self.node, [&](NodeExtras& e) {
    e.before.push_back({handle, PreHook{SharedRef(std::move(hook))}});
  });
  return handle;
}
unsigned add_posthook(const NodeObject& self, nb::object hook) {
  const unsigned handle = next_handle();
  autograd::edit_extras(*self.node, [&](NodeExtras& e) {
    e.after.push_back({handle, PostHook{SharedRef(std::move(hook))}});
  });
  return handle;
}
void remove_hook(const NodeObject& self, unsigned handle) {
  std::vector<NodeExtras::Before> before;  // freed outside of the lock
  std::vector<NodeExtras::After> after;
  const auto take = [&](auto& from, auto& to) {
    const auto at = std::find_if(from.begin(), from.end(), [&](const auto& h) { return h.handle == handle; });
    if (at == from.end()) return;
    to.push_back(std::move(*at));
    from.erase(at);
  };
  autograd::edit_extras(*self.node, [&](NodeExtras& e) {
    take(e.before, before);
    take(e.after, after);
  });
}

// A dict that lives as long as the node.
nb::object metadata_of(Node& node) {
  NodeExtras& extras = autograd::make_extras(node);
  if (!extras.kept) extras.kept = std::make_shared<SharedRef>(nb::dict());
  return nb::borrow(static_cast<SharedRef*>(extras.kept.get())->get());
}

// ---- anomalies

// Calls Python functions when nodes are made and when nodes fail.
class Watch final : public autograd::NodeWatch {
 public:
  Watch(nb::object made, nb::object failed) : made_(std::move(made)), failed_(std::move(failed)) {}
  void made(Node& node, Node* within) override {
    in_python([&] { nb::handle(made_.get())(metadata_of(node), nb::steal(wrap(intrusive_ptr<Node>(within)))); });
  }
  void failed(Node& node) override {
    const Gil gil;
    try {
      nb::handle(failed_.get())(nb::steal(wrap(intrusive_ptr<Node>(&node))));
    } catch (nb::python_error& e) {  // what failed first goes on
      e.discard_as_unraisable("autograd's anomaly mode");
    }
  }

 private:
  SharedRef made_, failed_;
};

// None removes the watch.  Its object is never freed, as a thread may still be using it.
void watch_nodes(nb::object made, nb::object failed) {
  static Watch* known = nullptr;
  if (!made.is_none() && !known) known = new Watch(std::move(made), std::move(failed));
  autograd::NodeWatch::current.store(made.is_none() ? nullptr : known, std::memory_order_release);
}

// ---- the object

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (NoGil::in_use() || !nb::inst_ready(self)) return 0;
  const auto& node = nb::inst_ptr<NodeObject>(self)->node;
  return node ? visit_node(*node, visit, arg) : 0;
}
int clear(PyObject* self) {
  nb::inst_ptr<NodeObject>(self)->forget();
  return 0;
}
PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

nb::object next_functions(const NodeObject& self) {
  nb::list out;
  for (const autograd::Edge& edge : self.node->next_edges())
    out.append(nb::make_tuple(nb::steal(wrap(edge.function)), edge.input_nr));
  return nb::tuple(out);
}

// A class for each kind of node, as programs know them: type(grad_fn).__name__ is "MulBackward0".
nb::object class_named(std::string name) {
  static auto& classes = *new std::unordered_map<std::string, nb::object>;
  nb::object& found = classes[name];
  if (!found.is_valid()) {
    nb::dict body;
    body["__slots__"] = nb::tuple();
    body["__module__"] = "argand.autograd";
    found = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(name, nb::make_tuple(nb::type<NodeObject>()), body);
  }
  return found;
}
nb::object class_of(const Node& node) {
  if (const auto* const own = dynamic_cast<const PythonNode*>(&node)) return own->function().attr("_backward_cls");
  return class_named(autograd::class_name(node));
}

// The leaf of an AccumulateGrad node; other nodes do not have this attribute.
nb::object variable(const NodeObject& self) {
  const auto* const end = dynamic_cast<const autograd::AccumulateGrad*>(self.node.get());
  if (!end)
    throw nb::attribute_error(
        str("'", autograd::class_name(*self.node), "' object has no attribute 'variable'").c_str());
  return nb::steal(wrap(end->leaf()));
}

nb::object input_metadata(const NodeObject& self) {
  nb::list out;
  for (size_t i = 0; i < self.node->num_inputs(); ++i) {
    const autograd::GradMeta& meta = self.node->input_meta(i);
    out.append(
        nb::make_tuple(nb::steal(wrap_size(meta.sizes)), nb::steal(wrap(meta.dtype)), nb::steal(wrap(meta.device))));
  }
  return nb::tuple(out);
}

nb::object call(const NodeObject& self, nb::args gradients) {
  Grads given;
  for (const nb::handle g : gradients) given.push_back(as_tensor_or_none(g, self.node->name().c_str()));
  if (given.size() != self.node->num_inputs()) {
    PyErr_Format(PyExc_TypeError, "%s: expected %zu arguments, got %zu instead", self.node->name().c_str(),
                 self.node->num_inputs(), given.size());
    throw nb::python_error();
  }
  Grads found;
  {
    const NoGil no_gil;
    found = self.node->apply(std::move(given));
  }
  return found.size() == 1 ? nb::steal(wrap(std::move(found[0]))) : nb::object(as_tuple(found));
}

nb::object context_of(const NodeObject& self) {
  const auto* const own = dynamic_cast<const PythonNode*>(self.node.get());
  return own ? own->context_object() : nb::none();
}

bool will_execute(nb::handle node) {
  if (!nb::isinstance<NodeObject>(node)) {
    PyErr_Format(PyExc_RuntimeError, "_will_engine_execute_node expects an grad_fn, but got %s",
                 type_name(node.ptr()).c_str());
    throw nb::python_error();
  }
  return autograd::Pass::executes(*nb::cast<NodeObject&>(node).node);
}

nb::object execution_order() {
  nb::list out;
  for (const auto& node : autograd::Pass::execution_order()) out.append(nb::steal(wrap(node)));
  return out;
}

}  // namespace

void NodeObject::forget() {
  if (!node) return;
  const auto last = std::move(node);
  if (last->extras()) last->extras()->front_object = nullptr;
}

int visit_node(const Node& node, visitproc visitor, void* arg) {
  if (node.use_count() != 1) return 0;
  if (const int stop = visit_hooks(node.hooks(), visitor, arg)) return stop;
  if (const NodeExtras* const extras = node.extras()) {
    for (const auto& h : extras->before)
      if (const auto* own = h.call.target<PreHook>())
        if (const int stop = own->function.visit(visitor, arg)) return stop;
    for (const auto& h : extras->after)
      if (const auto* own = h.call.target<PostHook>())
        if (const int stop = own->function.visit(visitor, arg)) return stop;
    if (extras->kept)
      if (const int stop = static_cast<SharedRef*>(extras->kept.get())->visit(visitor, arg)) return stop;
  }
  const auto* const function = dynamic_cast<const PythonNode*>(&node);
  return function ? function->visit(visitor, arg) : 0;
}

PyObject* wrap(const intrusive_ptr<Node>& node) {
  if (!node) return Py_NewRef(Py_None);
  NodeExtras& extras = autograd::make_extras(*node);
  if (extras.front_object) return Py_NewRef(static_cast<PyObject*>(extras.front_object));
  return guarded([&] {
    nb::object object = nb::inst_alloc(class_of(*node));
    new (nb::inst_ptr<NodeObject>(object)) NodeObject(node);
    nb::inst_mark_ready(object);
    extras.front_object = object.ptr();
    return object.release().ptr();
  });
}

void add_nodes(nb::module_& module) {
  nb::class_<NodeObject> node(module, "Node", nb::type_slots(slots), "A function of the backward graph.");
  node.def("name", [](const NodeObject& n) { return autograd::traced_name(*n.node); })
      .def_prop_ro("next_functions", next_functions)
      .def_prop_ro("variable", variable)
      .def_prop_ro("metadata", [](const NodeObject& n) { return metadata_of(*n.node); })
      .def_prop_ro("requires_grad",
                   [](const NodeObject& n) {
                     const auto& edges = n.node->next_edges();
                     return std::any_of(edges.begin(), edges.end(), [](const auto& e) { return e.is_valid(); });
                   })
      .def_prop_ro("_context", context_of)
      .def("_input_metas", input_metadata)
      .def("_sequence_nr", [](const NodeObject& n) { return n.node->sequence_nr(); })
      .def("_set_sequence_nr", [](const NodeObject& n, uint64_t nr) { n.node->set_sequence_nr(nr); })
      .def("_add_prehook", add_prehook)
      .def("_add_posthook", add_posthook)
      .def("_remove_hook", remove_hook)
      .def("__call__", call)
      .def("__eq__",
           [](const NodeObject& a, nb::object b) {
             return nb::isinstance<NodeObject>(b) && nb::cast<NodeObject&>(b).node == a.node;
           })
      .def("__hash__", [](const NodeObject& n) { return reinterpret_cast<intptr_t>(n.node.get()) >> 4; })
      .def("__repr__", [](const NodeObject& n) {
        return nb::steal<nb::str>(
            PyUnicode_FromFormat("<%s object at %p>", autograd::class_name(*n.node).c_str(), n.node.get()));
      });
  add_saved_tensors(module, node);
  module.def("_node_class", class_named);
  module.def("_is_watched", [] { return autograd::NodeWatch::current.load() != nullptr; });
  module.def("_watch_nodes", watch_nodes, nb::arg().none(), nb::arg().none());
  module.def("_current_autograd_node", [] { return nb::steal(wrap(intrusive_ptr<Node>(autograd::running_node()))); });
  module.def("_will_engine_execute_node", will_execute);
  module.def("_current_graph_task_execution_order", execution_order);
  module.def("_backward_keeps_graph", &autograd::Pass::keeps_graph);
}

}  // namespace argand::python
