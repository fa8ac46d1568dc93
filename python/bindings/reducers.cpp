// What DistributedDataParallel is made of: gradients in buckets, on their way while backward runs.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "argand/parallel/reducer.h"
#include "argand/parallel/replica.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/process_groups.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using parallel::GradBucket;
using parallel::Reducer;

std::unique_ptr<Reducer> make(const std::vector<Tensor>& parameters, GroupHandle& group,
                              const std::vector<size_t>& bucket_bytes, bool static_graph) {
  return std::make_unique<Reducer>(parameters, group.shared(), parallel::ReducerOptions{bucket_bytes, static_graph});
}

// hook(bucket) returns a function of no arguments that waits for the tensor.
parallel::CommHook from_python(nb::object hook) {
  if (hook.is_none()) return {};
  return [hook = SharedRef(std::move(hook))](const GradBucket& bucket) -> std::function<Tensor()> {
    const Gil gil;
    try {
      SharedRef wait(nb::handle(hook.get())(nb::cast(bucket)));
      return [wait] {
        const Gil inner;
        try {
          const nb::object result = nb::handle(wait.get())();
          ARGAND_CHECK(ValueError, is_tensor(result.ptr()), "comm hook: expected a Future of a tensor, got one of ",
                       type_name(result.ptr()));
          return as_tensor(result.ptr());
        } catch (nb::python_error& error) {
          throw RaisedInPython(std::move(error));
        }
      };
    } catch (nb::python_error& error) {
      throw RaisedInPython(std::move(error));
    }
  };
}

void check_same_parameters(GroupHandle& group, std::string site, const std::vector<std::string>& names,
                           const std::vector<Tensor>& tensors) {
  OrderedDict<std::string, Tensor> parameters;
  for (size_t i = 0; i < names.size(); ++i) parameters.insert(names[i], tensors.at(i));
  const NoGil no_gil;
  parallel::set_call_site(std::move(site));
  parallel::check_same_parameters(*group.shared(), parameters);
}

void broadcast_buffers(GroupHandle& group, std::string site, const std::vector<Tensor>& buffers, int root) {
  const NoGil no_gil;
  parallel::set_call_site(std::move(site));
  parallel::broadcast_buffers(*group.shared(), buffers, root);
}

}  // namespace

void add_reducers(nb::module_& module) {
  nb::class_<GradBucket>(module, "_GradBucket")
      .def_ro("index", &GradBucket::index)
      .def_ro("is_last", &GradBucket::is_last)
      .def_ro("buffer", &GradBucket::buffer)
      .def_ro("gradients", &GradBucket::gradients)
      .def_ro("parameters", &GradBucket::parameters);
  using NoLock = nb::call_guard<NoGil>;
  nb::class_<Reducer>(module, "_Reducer")
      .def(nb::new_(&make), nb::arg("parameters"), nb::arg("group"), nb::arg("bucket_bytes"), nb::arg("static_graph"))
      .def("set_enabled", &Reducer::set_enabled, NoLock())
      .def("set_divisor", &Reducer::set_divisor, NoLock())
      .def("set_hook",
           [](Reducer& reducer, nb::object hook) {
             parallel::CommHook f = from_python(std::move(hook));
             const NoGil no_gil;
             reducer.set_hook(std::move(f));
           })
      .def("buckets", &Reducer::buckets)
      .def("unused", &Reducer::unused, NoLock())
      .def("shadow", &Reducer::shadow, NoLock());
  module.def("_check_same_parameters", &check_same_parameters);
  module.def("_broadcast_buffers", &broadcast_buffers);
}

}  // namespace argand::python
