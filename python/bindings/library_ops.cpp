// Ops that libraries define with TORCH_LIBRARY, for Python's torch.ops (python/argand/_library_ops.py).
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/base/log.h"
#include "argand/library/library.h"
#include "argand/library/schema.h"
#include "bindings/errors.h"
#include "bindings/library_arguments.h"
#include "bindings/modules.h"
#include "bindings/torchscript.h"

namespace argand::python {
namespace {

// ---- blocks that fail while a library is loaded

// For each scope of this thread in which a library is loaded, the errors of its blocks.
thread_local std::vector<std::vector<std::exception_ptr>> loading;

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown C++ exception";
  }
}

void note_failed_block(std::exception_ptr error, const std::string& block) {
  if (!loading.empty()) return loading.back().push_back(std::move(error));
  try {
    warn(block, " failed, so what it defines is missing: ", text_of(error));
  } catch (...) {  // a warning that is to be an error: nobody could catch it here
  }
}

void begin_loading() { loading.emplace_back(); }
// Throws the first error.
void end_loading() {
  ARGAND_CHECK(InternalError, !loading.empty(), "_end_loading() without _begin_loading()");
  const std::vector<std::exception_ptr> errors = std::move(loading.back());
  loading.pop_back();
  if (!errors.empty()) std::rethrow_exception(errors.front());
}

// ---- calls

std::optional<OperatorHandle> find(const std::string& name, const std::string& overload) {
  return Dispatcher::singleton().findSchema({name, overload});
}

// Why an overload does not take the arguments; nothing if it does.
std::optional<std::string> refusal(const std::string& name, const std::string& overload, const nb::tuple& args,
                                   const nb::dict& kwargs) {
  const std::optional<OperatorHandle> op = find(name, overload);
  if (!op) return "no library defines it any more";
  try {
    bound(op->schema(), args, kwargs);
    return std::nullopt;
  } catch (const nb::python_error& e) {
    return message_of(e);
  } catch (const Error& e) {
    return e.what();
  }
}

nb::object call(const std::string& name, const std::string& overload, const nb::tuple& args, const nb::dict& kwargs) {
  const std::optional<OperatorHandle> op = find(name, overload);
  ARGAND_CHECK(NotImplementedError, op, "Could not find schema for ", OperatorName{name, overload}.str(), ".");
  Stack stack = bound(op->schema(), args, kwargs);
  {
    const NoGil no_gil;
    op->callBoxed(stack);
  }
  return results_of(op->schema(), stack);
}

}  // namespace

void add_library_ops(nb::module_& module) {
  set_failed_block_handler(&note_failed_block);
  module.def("_begin_loading", begin_loading);
  module.def("_end_loading", end_loading);
  module.def("_library_call", call, nb::arg("name"), nb::arg("overload"), nb::arg("args"), nb::arg("kwargs"));
  module.def("_library_refusal", refusal, nb::arg("name"), nb::arg("overload"), nb::arg("args"), nb::arg("kwargs"));
  module.def("_library_overloads", [](const std::string& name) { return Dispatcher::singleton().overloads_of(name); });
  module.def("_library_schema", [](const std::string& name, const std::string& overload) {
    const std::optional<OperatorHandle> op = find(name, overload);
    return op ? std::optional(op->schema().str()) : std::nullopt;
  });
  module.def("_library_names", [](const std::string& ns) {
    std::vector<std::string> out;
    for (const OperatorName& op : Dispatcher::singleton().getAllOpNames())
      if (op.name.starts_with(ns + "::")) out.push_back(op.name.substr(ns.size() + 2));
    return out;
  });
}

}  // namespace argand::python
