// argand::optim for Python: the update rules are C++'s; parameter groups and their numbers are Python's, which may
// change them between steps (lr_scheduler).
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/optim/by_name.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using optim::Optimizer;

// By hand, as it is done before each step: without the copies that casters of nested vectors make.
void append(std::vector<Tensor>& params, nb::handle group) {
  for (const nb::handle p : group) {
    if (!is_tensor(p.ptr())) {
      PyErr_Format(PyExc_TypeError, "_Optimizer: expected a Tensor as a parameter, got %s", type_name(p.ptr()).c_str());
      throw nb::python_error();
    }
    params.push_back(as_tensor(p.ptr()));
  }
}

// Python owns the parameters.  The rule holds them only during a call, so that it is not a second owner of a parameter
// whose hook holds the optimizer (Note [Cycles through C++]).
class WithParameters {
 public:
  WithParameters(Optimizer& optimizer, nb::list groups) : optimizer_(optimizer) {
    ARGAND_CHECK(ValueError, groups.size() == optimizer.param_groups().size(), "_Optimizer: expected ",
                 optimizer.param_groups().size(), " groups of parameters, got ", groups.size());
    release(optimizer);  // of a call that failed
    for (size_t i = 0; i < groups.size(); ++i) append(optimizer.param_groups()[i].params(), groups[i]);
  }
  ~WithParameters() { release(optimizer_); }
  WithParameters(const WithParameters&) = delete;
  WithParameters& operator=(const WithParameters&) = delete;
  static void release(Optimizer& optimizer) {
    for (optim::OptimizerParamGroup& group : optimizer.param_groups()) group.params().clear();
  }

 private:
  Optimizer& optimizer_;
};

// Sets the numbers of a group from a dict; None and names the optimizer does not have are left alone.
void set_numbers(Optimizer& optimizer, size_t group, nb::dict numbers) {
  optimizer.param_groups().at(group).options().each_number([&](const char* name, double& value) {
    if (!numbers.contains(name)) return;
    const nb::object given = numbers[name];
    if (is_tensor(given.ptr()))
      value = as_tensor(given.ptr()).item().toDouble();
    else if (!given.is_none())
      value = nb::cast<double>(given);
  });
}

nb::dict numbers_of(Optimizer& optimizer, size_t group) {
  nb::dict out;
  optimizer.param_groups().at(group).options().each_number([&](const char* name, double& value) { out[name] = value; });
  return out;
}

// The state of a parameter: its tensors, and "step" where the optimizer counts.  None before the first step.
nb::object state_of(Optimizer& optimizer, const Tensor& param) {
  const auto found = optimizer.state().find(param.unsafeGetTensorImpl());
  if (found == optimizer.state().end()) return nb::none();
  nb::dict out;
  found->second->each_tensor([&](const char* name, Tensor& t, bool) {
    if (t.defined()) out[name] = nb::steal(wrap(t));
  });
  out["step"] = found->second->step_count();
  return out;
}

}  // namespace

void add_optimizers(nb::module_& module) {
  nb::class_<Optimizer>(module, "_Optimizer")
      .def("add_groups",
           [](Optimizer& o, nb::list groups) {
             for (const nb::handle group : groups) {
               std::vector<Tensor> params;
               append(params, group);
               o.add_param_group(optim::OptimizerParamGroup(std::move(params)));
             }
             WithParameters::release(o);
           })
      .def("set_numbers", set_numbers)
      .def("numbers", numbers_of)
      .def("state", state_of)
      .def("step",
           [](Optimizer& o, nb::list groups) {
             const WithParameters with(o, groups);
             const NoGil no_gil;
             o.step();
           })
      .def("state_dict",
           [](Optimizer& o, nb::list groups) {
             const WithParameters with(o, groups);
             nb::dict out;
             for (const auto& item : o.state_dict()) out[item.key().c_str()] = nb::steal(wrap(item.value()));
             return out;
           })
      .def("load_state_dict", [](Optimizer& o, nb::dict state, nb::list groups) {
        const WithParameters with(o, groups);
        StateDict in;
        for (const auto& [key, value] : state) in.insert(nb::cast<std::string>(key), nb::cast<Tensor>(value));
        o.load_state_dict(in);
      });
  module.def(
      "_make_optimizer", [](const std::string& name) { return optim::make_optimizer(name, {}).release(); },
      nb::rv_policy::take_ownership);
}

}  // namespace argand::python
