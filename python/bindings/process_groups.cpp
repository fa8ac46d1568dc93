// argand::parallel's groups for Python: torch.distributed is made of them.
#include "bindings/process_groups.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/parallel/backends.h"
#include "argand/parallel/call_timeout.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using parallel::CollectiveReduce;
using parallel::ProcessGroup;
using parallel::ReduceOp;
using parallel::Work;
using Tensors = std::vector<Tensor>;
using Milliseconds = std::chrono::milliseconds;

using HandlePtr = std::shared_ptr<GroupHandle>;

// Waits for the work; false after `milliseconds` (negative: no limit).  Ctrl-C ends the wait.
bool wait(Work& work, int64_t milliseconds) {
  const NoGil no_gil;
  if (milliseconds >= 0) return work.wait_for(Milliseconds(milliseconds));
  work.wait();
  return true;
}

void raise_failure(Work& work) {
  if (const std::exception_ptr error = work.exception()) std::rethrow_exception(error);
}

void when_done(Work& work, nb::object callback) {
  work.when_done([f = SharedRef(std::move(callback))] {
    if (!Py_IsInitialized()) return;
    const Gil gil;
    if (PyObject* const result = PyObject_CallNoArgs(f.get())) return Py_DECREF(result);
    PyErr_WriteUnraisable(f.get());
  });
}

HandlePtr make(const std::shared_ptr<parallel::Store>& store, int rank, int size, const std::string& backend,
               const std::string& device_backend, int64_t timeout_ms) {
  parallel::GroupOptions options;
  options.backend = backend;
  options.device_backend = device_backend;
  options.timeout = Milliseconds(timeout_ms);
  const NoGil no_gil;
  return std::make_shared<GroupHandle>(parallel::make_process_group(store, rank, size, options));
}

HandlePtr make_launched(const std::string& backend, int64_t timeout_ms) {
  parallel::GroupOptions options;
  options.backend = backend;
  options.timeout = Milliseconds(timeout_ms);
  const NoGil no_gil;
  return std::make_shared<GroupHandle>(parallel::make_launched_process_group(options));
}

// Sets the call site (the program's line) and the timeout of a call; a negative timeout means the group's.
class Caller {
 public:
  Caller(std::string site, int64_t timeout_ms)
      : timeout_(timeout_ms < 0 ? std::nullopt : std::optional(Milliseconds(timeout_ms))) {
    parallel::set_call_site(std::move(site));
  }

 private:
  const NoGil no_gil_;
  const parallel::CallTimeout timeout_;
};

nb::object subgroup(GroupHandle& group, std::string site, const std::vector<int>& ranks,
                    const std::string& device_backend, int64_t timeout_ms, const std::string& name) {
  parallel::GroupOptions options;
  options.device_backend = device_backend;
  options.timeout = Milliseconds(timeout_ms);
  std::shared_ptr<ProcessGroup> made;
  {
    const Caller caller(std::move(site), -1);
    made = group->subgroup(ranks, options, name);
  }
  return made ? nb::cast(std::make_shared<GroupHandle>(std::move(made))) : nb::none();
}

// A binding of a method of ProcessGroup, whose first arguments are Caller's.
template <auto method, class... Args>
auto collective() {
  return [](GroupHandle& group, std::string site, int64_t timeout_ms, Args... args) {
    const Caller caller(std::move(site), timeout_ms);
    return ((*group).*method)(std::move(args)...);
  };
}
template <auto method, class... Args>
auto reducing_collective() {
  return [](GroupHandle& group, std::string site, int64_t timeout_ms, int op, double factor, Args... args) {
    const Caller caller(std::move(site), timeout_ms);
    return ((*group).*method)(std::move(args)..., ReduceOp(static_cast<CollectiveReduce>(op), factor));
  };
}

}  // namespace

void add_process_groups(nb::module_& module) {
  nb::class_<Work>(module, "_Work")
      .def("is_completed", &Work::is_completed)
      .def("is_success", &Work::is_success)
      .def("_wait", &wait, nb::arg("milliseconds"))
      .def("_raise_failure", &raise_failure)
      .def("_when_done", &when_done, nb::arg("callback"))
      .def("result", &Work::result)
      .def("source_rank", &Work::source_rank)
      .def_prop_ro("call", &Work::call);
  using G = ProcessGroup;
  nb::class_<GroupHandle>(module, "_ProcessGroup")
      .def_prop_ro("rank", [](GroupHandle& g) { return g->rank(); })
      .def_prop_ro("size", [](GroupHandle& g) { return g->size(); })
      .def_prop_ro("world_ranks", [](GroupHandle& g) { return g->world_ranks(); })
      .def_prop_ro("name", [](GroupHandle& g) { return g->name(); })
      .def_prop_ro("store", [](GroupHandle& g) { return g->store(); })
      .def("subgroup", &subgroup)
      .def("shutdown",
           [](GroupHandle& g) {
             const NoGil no_gil;
             g->shutdown();
           })
      .def("all_reduce", reducing_collective<&G::all_reduce, Tensors>())
      .def("reduce",
           [](GroupHandle& g, std::string site, int64_t timeout_ms, int op, double factor, Tensors tensors, int root) {
             const Caller caller(std::move(site), timeout_ms);
             return g->reduce(std::move(tensors), root, ReduceOp(static_cast<CollectiveReduce>(op), factor));
           })
      .def("all_reduce_to_each", reducing_collective<&G::all_reduce_to_each, Tensors>())
      .def("broadcast", collective<&G::broadcast, Tensors, int>())
      .def("broadcast_to_each", collective<&G::broadcast_to_each, Tensors, int, int>())
      .def("all_gather", collective<&G::all_gather, Tensors, const Tensor&>())
      .def("all_gather_into", collective<&G::all_gather_into, const Tensor&, const Tensor&>())
      .def("gather", collective<&G::gather, Tensors, const Tensor&, int>())
      .def("scatter", collective<&G::scatter, const Tensor&, Tensors, int>())
      .def("reduce_scatter", reducing_collective<&G::reduce_scatter, const Tensor&, Tensors>())
      .def("reduce_scatter_from", reducing_collective<&G::reduce_scatter_from, const Tensor&, const Tensor&>())
      .def("all_to_all", collective<&G::all_to_all, Tensors, Tensors>())
      .def(
          "all_to_all_single",
          collective<&G::all_to_all_single, const Tensor&, const Tensor&, std::vector<int64_t>, std::vector<int64_t>>())
      .def("barrier", collective<&G::barrier>())
      .def("send", collective<&G::send, const Tensor&, int, int>())
      .def("receive", collective<&G::receive, const Tensor&, int, int>());
  module.def("_make_process_group", &make, nb::arg("store"), nb::arg("rank"), nb::arg("size"), nb::arg("backend"),
             nb::arg("device_backend"), nb::arg("timeout_ms"));
  module.def("_make_launched_process_group", &make_launched, nb::arg("backend"), nb::arg("timeout_ms"));
  module.def("_why_no_backend", &parallel::why_no_backend, nb::arg("backend"));
  module.def("_backends_of", [](const std::string& text) {
    const parallel::BackendNames names = parallel::backends_of(text);
    return nb::make_tuple(names.host, names.device);
  });
}

}  // namespace argand::python
