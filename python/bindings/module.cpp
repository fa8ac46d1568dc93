// The module argand._C: what the Python package is made of.
#include "bindings/call.h"
#include "bindings/constants.h"
#include "bindings/dispatch.h"
#include "bindings/errors.h"
#include "bindings/graph.h"
#include "bindings/interpreter_end.h"
#include "bindings/literal.h"
#include "bindings/modules.h"
#include "bindings/overridable.h"
#include "bindings/overrides.h"

NB_MODULE(_C, module) {
  using namespace argand::python;
  nanobind::set_leak_warnings(false);  // objects of modules live as long as the interpreter
  module.attr("__version__") = ARGAND_VERSION;
  add_errors(module);
  add_function_types(module);
  add_tensor_type(module);
  add_constants(module);
  add_tensor_methods(module);
  add_overrides(module);
  add_overridable(module);
  add_dispatch(module);
  add_literals(module);
  add_storages(module);
  add_shared_memory(module);
  add_checkpoints(module);
  add_torchscript(module);
  add_extensions(module);
  add_library_ops(module);
  add_interpreter_end(module);
  add_dlpack(module);
  add_operators(module);
  add_graph(module);
  add_transforms(module);
  add_forward_mode(module);
  add_switches(module);
  add_cuda(module);
  add_optimizers(module);
  add_models(module);
  add_datasets(module);
  add_profiler(module);
  add_stores(module);
  add_process_groups(module);
  add_reducers(module);
  add_device_replicas(module);
}
