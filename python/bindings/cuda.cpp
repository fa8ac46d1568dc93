// argand.cuda's primitives: devices, streams, events, memory, graphs.
#include "argand/exec/cuda.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "argand/exec/cuda_graph.h"
#include "argand/exec/cuda_memory.h"
#include "argand/kernels/blocks.h"
#include "bindings/constants.h"
#include "bindings/modules.h"

namespace argand::python {
namespace {

using cuda::Event;
using cuda::Stream;

// The index of a device that a program gives as None (-1), an index, a name or a device.
DeviceIndex index_of(nb::object device) {
  if (device.is_none()) return -1;
  const auto d = as_device(device.ptr());
  if (!d) throw nb::type_error("expected a CUDA device: an index, a name or a device");
  ARGAND_CHECK(ValueError, d->is_cuda(), "Expected a cuda device, but got: ", *d);
  return d->index();
}

void add_devices(nb::module_& m) {
  m.def("is_available", &cuda::is_available);
  m.def("device_count", &cuda::device_count);
  m.def("current_device", [] { return int{cuda::current_device()}; });
  m.def("set_device", [](nb::object device) {
    const DeviceIndex index = index_of(std::move(device));
    if (index >= 0) cuda::set_device(index);
  });
  nb::class_<DeviceProperties>(m, "_CudaDeviceProperties")
      .def_ro("name", &DeviceProperties::name)
      .def_ro("major", &DeviceProperties::major)
      .def_ro("minor", &DeviceProperties::minor)
      .def_ro("total_memory", &DeviceProperties::total_memory)
      .def_ro("multi_processor_count", &DeviceProperties::multi_processor_count)
      .def_ro("max_threads_per_multi_processor", &DeviceProperties::max_threads_per_multi_processor)
      .def_ro("warp_size", &DeviceProperties::warp_size)
      .def_ro("shared_memory_per_multiprocessor", &DeviceProperties::shared_memory_per_multiprocessor)
      .def_ro("L2_cache_size", &DeviceProperties::L2_cache_size)
      .def_ro("is_integrated", &DeviceProperties::is_integrated)
      .def("__repr__", [](const DeviceProperties& p) {
        return str("_CudaDeviceProperties(name='", p.name, "', major=", p.major, ", minor=", p.minor,
                   ", total_memory=", p.total_memory >> 20, "MB, multi_processor_count=", p.multi_processor_count, ")");
      });
  m.def(
      "get_device_properties", [](nb::object d) { return cuda::get_device_properties(index_of(std::move(d))); },
      nb::arg("device").none() = nb::none());
  m.def(
      "get_device_name", [](nb::object d) { return cuda::get_device_name(index_of(std::move(d))); },
      nb::arg("device").none() = nb::none());
  m.def(
      "get_device_capability", [](nb::object d) { return cuda::get_device_capability(index_of(std::move(d))); },
      nb::arg("device").none() = nb::none());
  m.def("can_device_access_peer", [](nb::object device, nb::object peer) {
    return cuda::can_device_access_peer(index_of(std::move(device)), index_of(std::move(peer)));
  });
  m.def(
      "synchronize",
      [](nb::object d) {
        const DeviceIndex index = index_of(std::move(d));
        const NoGil no_gil;
        cuda::synchronize(index);
      },
      nb::arg("device").none() = nb::none());
  m.def("_runtime_version", &cuda::runtime_version);
  m.def("_driver_version", &cuda::driver_version);
  m.def("_cudnn_version", &cuda::cudnn_version);
  m.def("_set_replay_enabled", &cuda::set_replay_enabled);
}

// torch.backends.cuda.cufft_plan_cache
void add_fourier_plans(nb::module_& m) {
  const auto plans = [](nb::object device) -> FourierPlans& {
    const DeviceIndex index = index_of(std::move(device));
    return blocks::fourier_plans.on(Device(kCUDA, index < 0 ? cuda::current_device() : index))();
  };
  m.def(
      "_fourier_plans", [plans](nb::object d) { return plans(std::move(d)).size(); }, nb::arg("device").none());
  m.def(
      "_most_fourier_plans", [plans](nb::object d) { return plans(std::move(d)).max_size(); },
      nb::arg("device").none());
  m.def(
      "_set_most_fourier_plans", [plans](nb::object d, int64_t n) { plans(std::move(d)).set_max_size(n); },
      nb::arg("device").none(), nb::arg("n"));
  m.def(
      "_clear_fourier_plans", [plans](nb::object d) { plans(std::move(d)).clear(); }, nb::arg("device").none());
}

void add_streams(nb::module_& m) {
  nb::class_<Stream>(m, "_Stream")
      .def_prop_ro("device", &Stream::device)
      .def_prop_ro("device_index", [](const Stream& s) { return int{s.device_index()}; })
      .def_prop_ro("cuda_stream", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle()); })
      .def_prop_ro("_as_parameter_", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle()); })
      .def("query", &Stream::query)
      .def("synchronize", &Stream::synchronize, nb::call_guard<NoGil>())
      .def("wait_event", [](const Stream& s, const Event& e) { s.wait_event(e); })
      .def("wait_stream", [](const Stream& s, const Stream& other) { s.wait_stream(other); })
      .def("_record", [](const Stream& s, Event& e) { e.record(s); })
      .def("__eq__",
           [](const Stream& a, nb::object b) { return nb::isinstance<Stream>(b) && a == nb::cast<Stream&>(b); })
      .def("__hash__", [](const Stream& s) { return reinterpret_cast<intptr_t>(s.ref().handle) ^ s.device_index(); });
  m.def(
      "_stream_from_pool",
      [](nb::object d, int priority) { return cuda::stream_from_pool(index_of(std::move(d)), priority); },
      nb::arg("device").none(), nb::arg("priority"));
  m.def(
      "_external_stream",
      [](uintptr_t handle, nb::object d) {
        return cuda::external_stream(reinterpret_cast<void*>(handle), index_of(std::move(d)));
      },
      nb::arg("handle"), nb::arg("device").none());
  m.def(
      "_default_stream", [](nb::object d) { return cuda::default_stream(index_of(std::move(d))); },
      nb::arg("device").none());
  m.def(
      "_current_stream", [](nb::object d) { return cuda::current_stream(index_of(std::move(d))); },
      nb::arg("device").none());
  m.def("_set_stream", [](const Stream& s) { cuda::set_stream(s); });
  nb::class_<Event>(m, "_Event")
      .def(nb::init<bool, bool>())
      .def("_ipc_handle",
           [](Event& e) {
             const std::string handle = e.ipc_handle();
             return nb::bytes(handle.data(), handle.size());
           })
      .def_static("_from_ipc_handle",
                  [](nb::object device, nb::bytes handle) {
                    return Event::from_ipc_handle(index_of(std::move(device)), {handle.c_str(), handle.size()});
                  })
      .def("_record_current", [](Event& e) { e.record(); })
      .def("_wait", [](const Event& e, const Stream& s) { e.wait(s); })
      .def("query", &Event::query)
      .def("synchronize", &Event::synchronize, nb::call_guard<NoGil>())
      .def("_elapsed", [](const Event& start, const Event& end) { return start.elapsed_time(end); });
}

void add_memory(nb::module_& m) {
  // Functions of one device that tell or change something about its memory.
#define ARGAND_OF_DEVICE(name) \
  m.def(                       \
      #name, [](nb::object d) { return cuda::name(index_of(std::move(d))); }, nb::arg("device").none() = nb::none())
  ARGAND_OF_DEVICE(memory_allocated);
  ARGAND_OF_DEVICE(max_memory_allocated);
  ARGAND_OF_DEVICE(memory_reserved);
  ARGAND_OF_DEVICE(max_memory_reserved);
  ARGAND_OF_DEVICE(reset_peak_memory_stats);
  ARGAND_OF_DEVICE(reset_accumulated_memory_stats);
  ARGAND_OF_DEVICE(memory_stats);
  ARGAND_OF_DEVICE(mem_get_info);
#undef ARGAND_OF_DEVICE
  m.def("empty_cache", &cuda::empty_cache, nb::call_guard<NoGil>());
  m.def(
      "_memory_summary", [](nb::object d) { return cuda::memory_summary(index_of(std::move(d))); },
      nb::arg("device").none());
  m.def(
      "_memory_snapshot", [](nb::object d) { return cuda::memory_snapshot(index_of(std::move(d))); },
      nb::arg("device").none());
  m.def(
      "_record_memory_history",
      [](bool enabled, size_t max_entries, nb::object d) {
        cuda::record_memory_history(enabled, max_entries, index_of(std::move(d)));
      },
      nb::arg("enabled"), nb::arg("max_entries"), nb::arg("device").none());
  m.def(
      "set_per_process_memory_fraction",
      [](double fraction, nb::object d) { cuda::set_per_process_memory_fraction(fraction, index_of(std::move(d))); },
      nb::arg("fraction"), nb::arg("device").none() = nb::none());
  m.def(
      "get_per_process_memory_fraction",
      [](nb::object d) { return cuda::get_per_process_memory_fraction(index_of(std::move(d))); },
      nb::arg("device").none() = nb::none());
}

void add_graphs(nb::module_& m) {
  nb::class_<cuda::CUDAGraph>(m, "CUDAGraph", "Work of a stream, recorded once and issued again as one call.")
      .def(nb::init<>())
      .def(
          "capture_begin", [](cuda::CUDAGraph& g, cuda::MempoolId_t pool) { g.capture_begin(pool); },
          nb::arg("pool") = cuda::MempoolId_t{0, 0})
      .def("capture_end", &cuda::CUDAGraph::capture_end)
      .def("replay", &cuda::CUDAGraph::replay)
      .def("reset", &cuda::CUDAGraph::reset)
      .def("pool", &cuda::CUDAGraph::pool);
  m.def("graph_pool_handle", &cuda::graph_pool_handle);
  m.def("is_current_stream_capturing", &cuda::is_current_stream_capturing);
}

}  // namespace

void add_cuda(nb::module_& module) {
  nb::module_ m = module.def_submodule("cuda");
  add_devices(m);
  add_fourier_plans(m);
  add_streams(m);
  add_memory(m);
  add_graphs(m);
}

}  // namespace argand::python
