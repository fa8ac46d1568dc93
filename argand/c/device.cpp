// Random numbers, threads, devices and streams of the C interface.
#include "argand/c/handles.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda.h"
#include "argand/exec/window.h"
#include "argand/runtime/cpu/thread_pool.h"

using namespace argand;
using namespace argand::c;

namespace {

DeviceType type_of(argand_device_type type, const char* function) { return to_device({type, -1}, function).type(); }

Device accelerator_of(const argand_device& device, const char* function) {
  const Device d = to_device(device, function);
  ARGAND_CHECK(DeviceError, d.is_accelerator(), function, ": expected an accelerator, got ", d);
  return d;
}

const Stream& stream_of(const argand_stream* stream, const char* function, const char* argument = "stream") {
  return needed(stream, function, argument).stream;
}

}  // namespace

argand_error* argand_manual_seed(uint64_t seed) {
  return guarded([&] { manual_seed(seed); });
}

argand_error* argand_generator_new(argand_device device, uint64_t seed, argand_generator** result) {
  return guarded([&] {
    const Device d = to_device(device, "argand_generator_new");
    ARGAND_CHECK(DeviceError, !d.is_meta(), "argand_generator_new: the meta device has no generators");
    argand_generator*& out = needed(result, "argand_generator_new", "result");
    Generator generator =
        d.is_cpu() ? make_cpu_generator(seed) : backend_of(d.type()).default_generator(with_index(d).index()).clone();
    generator.set_current_seed(seed);
    out = new argand_generator{std::move(generator)};
  });
}

argand_error* argand_generator_manual_seed(argand_generator* generator, uint64_t seed) {
  return guarded([&] {
    Generator& g = needed(generator, "argand_generator_manual_seed", "generator").generator;
    const std::lock_guard lock(g.mutex());
    g.set_current_seed(seed);
  });
}

void argand_generator_free(argand_generator* generator) { delete generator; }

int32_t argand_get_num_threads(void) { return get_num_threads(); }
argand_error* argand_set_num_threads(int32_t count) {
  return guarded([&] { set_num_threads(count); });
}

argand_error* argand_device_count(argand_device_type type, int32_t* count) {
  return guarded([&] {
    const DeviceType t = type_of(type, "argand_device_count");
    int32_t& out = needed(count, "argand_device_count", "count");
    Backend* const backend = is_accelerator(t) ? find_backend(t) : nullptr;
    out = t == kCPU ? 1 : backend ? backend->device_count() : 0;
  });
}

argand_error* argand_get_current_device(argand_device_type type, int32_t* index) {
  return guarded([&] {
    const Device d = accelerator_of({type, -1}, "argand_get_current_device");
    needed(index, "argand_get_current_device", "index") =
        from_device(Device(d.type(), backend_of(d.type()).current_device())).index;
  });
}

argand_error* argand_set_current_device(argand_device device) {
  return guarded([&] {
    const Device d = accelerator_of(device, "argand_set_current_device");
    Backend& backend = backend_of(d.type());
    ARGAND_CHECK(DeviceError, d.index() >= 0 && d.index() < backend.device_count(),
                 "argand_set_current_device: expected an index below ", backend.device_count(), ", got ",
                 int{d.index()});
    backend.set_device(d.index());
  });
}

argand_error* argand_synchronize(argand_device device) {
  return guarded([&] {
    const Device d = to_device(device, "argand_synchronize");
    if (d.is_cuda()) return cuda::synchronize(d.index());
    exec::flush();
    if (d.is_accelerator()) backend_of(d.type()).synchronize(with_index(d).index());
  });
}

argand_error* argand_stream_get_current(argand_device device, argand_stream** result) {
  return guarded([&] {
    const char* const function = "argand_stream_get_current";
    give(result, function, current_stream(accelerator_of(device, function)));
  });
}

argand_error* argand_stream_new(argand_device device, int32_t priority, argand_stream** result) {
  return guarded([&] {
    const char* const function = "argand_stream_new";
    give(result, function, stream_from_pool(accelerator_of(device, function), priority));
  });
}

argand_error* argand_stream_set_current(argand_stream* stream) {
  return guarded([&] { set_stream(stream_of(stream, "argand_stream_set_current")); });
}

argand_error* argand_stream_synchronize(argand_stream* stream) {
  return guarded([&] { stream_of(stream, "argand_stream_synchronize").synchronize(); });
}

argand_error* argand_stream_query(argand_stream* stream, bool* done) {
  return guarded(
      [&] { needed(done, "argand_stream_query", "done") = stream_of(stream, "argand_stream_query").query(); });
}

argand_error* argand_stream_wait(argand_stream* stream, argand_stream* other) {
  return guarded(
      [&] { stream_of(stream, "argand_stream_wait").wait_stream(stream_of(other, "argand_stream_wait", "other")); });
}

argand_error* argand_stream_device(argand_stream* stream, argand_device* device) {
  return guarded([&] {
    needed(device, "argand_stream_device", "device") = from_device(stream_of(stream, "argand_stream_device").device());
  });
}

argand_error* argand_stream_native(argand_stream* stream, void** native) {
  return guarded([&] {
    const Stream& s = stream_of(stream, "argand_stream_native");
    void*& out = needed(native, "argand_stream_native", "native");
    exec::flush();
    backend_of(s.device_type()).give_handle(s.ref());
    out = s.ref().handle;
  });
}

void argand_stream_free(argand_stream* stream) { delete stream; }
