// What DataParallel is made of: copies of a model's tensors on other devices of the process.
#include "argand/parallel/device_replicas.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/constants.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {

namespace {

std::unique_ptr<parallel::DeviceReplicas> make(const std::vector<nb::object>& devices) {
  std::vector<Device> them;
  for (const nb::object& d : devices) {
    const std::optional<Device> device = as_device(d.ptr());
    if (!device) throw nb::type_error("expected devices");
    them.push_back(*device);
  }
  return std::make_unique<parallel::DeviceReplicas>(std::move(them));
}

// The device of the first tensor that is elsewhere; None if there is none.
nb::object other_device(const std::vector<Tensor>& tensors, nb::object device) {
  const std::optional<Device> wanted = as_device(device.ptr());
  for (const Tensor& t : tensors)
    if (!wanted || t.device() != *wanted) return nb::steal(wrap(t.device()));
  return nb::none();
}

}  // namespace

void add_device_replicas(nb::module_& module) {
  using parallel::DeviceReplicas;
  nb::class_<DeviceReplicas>(module, "_DeviceReplicas")
      .def(nb::new_(&make), nb::arg("devices"))
      .def("parameters", &DeviceReplicas::parameters, nb::arg("parameters"), nb::arg("n"), nb::call_guard<NoGil>())
      .def("buffers", &DeviceReplicas::buffers, nb::arg("buffers"), nb::arg("n"), nb::call_guard<NoGil>());
  module.def("_other_device", &other_device, nb::arg("tensors"), nb::arg("device"));
}

}  // namespace argand::python
