// The parts of the module argand._C, each in a file of its own.
#pragma once
#include "bindings/object.h"

namespace argand::python {

void add_tensor_methods(nb::module_& module);
void add_storages(nb::module_& module);
void add_shared_memory(nb::module_& module);  // of GPUs, with other processes
void add_checkpoints(nb::module_& module);    // torch.load and torch.save
void add_torchscript(nb::module_& module);    // torch.jit.load
void add_extensions(nb::module_& module);     // of other packages, in C++
void add_library_ops(nb::module_& module);    // TORCH_LIBRARY
void add_dlpack(nb::module_& module);
void add_operators(nb::module_& module);  // generated from the op definitions
void add_transforms(nb::module_& module);
void add_forward_mode(nb::module_& module);
void add_switches(nb::module_& module);  // threads, determinism, autocast
void add_cuda(nb::module_& module);
void add_optimizers(nb::module_& module);
void add_models(nb::module_& module);  // the tables of argand.models
void add_datasets(nb::module_& module);
void add_profiler(nb::module_& module);
void add_stores(nb::module_& module);  // of argand.distributed
void add_process_groups(nb::module_& module);
void add_reducers(nb::module_& module);
void add_device_replicas(nb::module_& module);

}  // namespace argand::python
