// Settings of the process and of threads.
#include <nanobind/stl/string.h>

#include <limits>

#include "argand/core/cudnn_enabled.h"
#include "argand/core/float32_precision.h"
#include "argand/exec/autocast.h"
#include "argand/exec/thread_state.h"
#include "argand/ops/create/uninitialized.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "bindings/constants.h"
#include "bindings/modules.h"

namespace argand::python {
namespace {

ScalarType read_dtype(nb::handle value) {
  const auto type = as_dtype(value.ptr());
  if (!type) throw nb::type_error("expected a dtype");
  return *type;
}

// f() with the modes of the thread that made the state.
nb::object run_with(const exec::ThreadState& state, const nb::callable& f) {
  std::optional<exec::ThreadState::Scope> scope;
  {
    const NoGil no_gil;  // what waits in a window is issued
    scope.emplace(state);
  }
  nb::object result = f();
  const NoGil no_gil;
  scope.reset();
  return result;
}

}  // namespace

void add_switches(nb::module_& module) {
  module.def("get_num_threads", [] { return get_num_threads(); });
  module.def("_fills_uninitialized", &ops::fills_uninitialized);
  module.def("_set_fills_uninitialized", &ops::set_fills_uninitialized);
  module.def("set_num_threads", [](nb::handle n) {
    const int overflows = PyLong_Check(n.ptr()) ? 0 : -1;
    int wide = overflows;
    const long value = wide == 0 ? PyLong_AsLongAndOverflow(n.ptr(), &wide) : 0;
    ARGAND_CHECK(ValueError, wide == 0 && value > 0 && value <= std::numeric_limits<int>::max(),
                 "set_num_threads: expects a positive int, got ", nb::cast<std::string>(nb::str(n)));
    set_num_threads(static_cast<int>(value));
  });
  module.def("_set_float32_matmul_precision", [](const char* p) { set_float32_matmul_precision(p); });
  module.def("_get_float32_precision", [] { return get_float32_precision(); });
  module.def("_get_float32_matmul_precision", [] { return get_float32_matmul_precision(); });
  module.def("_allow_tf32_matmul", [] { return allow_tf32_matmul(); });
  module.def("_set_allow_tf32_matmul", [](bool on) { set_allow_tf32_matmul(on); });
  module.def("_allow_tf32_cudnn", [] { return allow_tf32_cudnn(); });
  module.def("_set_allow_tf32_cudnn", [](bool on) { set_allow_tf32_cudnn(on); });
  module.def("_cudnn_enabled", [] { return cudnn_enabled(); });
  module.def("_set_cudnn_enabled", [](bool on) { set_cudnn_enabled(on); });
  nb::class_<exec::ThreadState>(module, "_ThreadState").def(nb::init<>()).def("run", &run_with, nb::arg("function"));
  // autocast
  module.def("_is_autocast_enabled",
             [](const char* device) { return autocast::is_autocast_enabled(Device(device).type()); });
  module.def("_set_autocast_enabled",
             [](const char* device, bool on) { autocast::set_autocast_enabled(Device(device).type(), on); });
  module.def("_get_autocast_dtype", [](const char* device) {
    return nb::borrow(dtype_object(autocast::get_autocast_dtype(Device(device).type())));
  });
  module.def("_set_autocast_dtype", [](const char* device, nb::object dtype) {
    autocast::set_autocast_dtype(Device(device).type(), read_dtype(dtype));
  });
  module.def("is_autocast_cache_enabled", [] { return autocast::is_autocast_cache_enabled(); });
  module.def("set_autocast_cache_enabled", [](bool on) { autocast::set_autocast_cache_enabled(on); });
  module.def("clear_autocast_cache", [] { autocast::clear_cache(); });
  module.def("autocast_increment_nesting", [] { return autocast::increment_nesting(); });
  module.def("autocast_decrement_nesting", [] { return autocast::decrement_nesting(); });
}

}  // namespace argand::python
