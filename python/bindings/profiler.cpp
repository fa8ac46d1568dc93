// What torch.profiler is made of: sessions of argand/exec/profiler.h and ranges.
#include "argand/exec/profiler.h"

#include <nanobind/stl/string.h>

#include <optional>

#include "bindings/errors.h"
#include "bindings/modules.h"

namespace argand::python {
namespace {

nb::tuple read_dims(const Dims& dims) {
  nb::list out;
  for (const int64_t d : dims) out.append(d);
  return nb::tuple(out);
}

nb::list read_all(const std::vector<Dims>& all) {
  nb::list out;
  for (const Dims& d : all) out.append(read_dims(d));
  return out;
}

// In the order that profile._read of python/argand/autograd/profiler.py takes.
nb::tuple read_event(const profiler::RecordedEvent& e) {
  nb::list arguments;
  for (const auto& a : e.arguments)
    arguments.append(nb::make_tuple(a.type, read_all(a.shapes), read_all(a.strides), a.value));
  nb::object on_device = nb::none();
  if (const auto& d = e.on_device)
    on_device = nb::make_tuple(static_cast<int>(d->device.index()), d->stream, d->begin, d->own);
  return nb::make_tuple(e.name, static_cast<int>(e.scope), e.thread, e.begin, e.end, e.parent, e.sequence, e.cpu_bytes,
                        e.device_bytes, e.where, arguments, on_device);
}

struct SessionObject {
  std::unique_ptr<profiler::Session> session;
};

// Calls `where`, which looks at the Python frames of the calling thread; threads that are not Python's have none.
std::function<int()> caller_of(nb::object where) {
  if (where.is_none()) return nullptr;
  auto held = std::shared_ptr<nb::object>(new nb::object(std::move(where)), [](nb::object* o) {
    const Gil gil;
    delete o;
  });
  return [held] {
    if (!PyGILState_GetThisThreadState()) return -1;
    const Gil gil;
    return nb::cast<int>((*held)());
  };
}

SessionObject* start(bool shapes, bool memory, bool device, nb::object where) {
  profiler::Options options{.shapes = shapes, .memory = memory, .device = device, .where = caller_of(std::move(where))};
  const NoGil unlocked;
  return new SessionObject{std::make_unique<profiler::Session>(std::move(options))};
}

// Starts a session that reports every span to functions at these addresses.
SessionObject* start_marks(uintptr_t push, uintptr_t pop) {
  profiler::Options options;
  options.push = reinterpret_cast<void (*)(const char*)>(push);
  options.pop = reinterpret_cast<void (*)()>(pop);
  const NoGil unlocked;
  return new SessionObject{std::make_unique<profiler::Session>(std::move(options))};
}

nb::tuple stop(SessionObject& self) {
  profiler::Recorded recorded{{}, {}, 0};
  if (self.session) {
    const NoGil unlocked;
    recorded = self.session->stop();
    self.session = nullptr;
  }
  nb::list events, threads, memory;
  for (const auto& e : recorded.events) events.append(read_event(e));
  for (const int64_t t : recorded.system_threads) threads.append(t);
  for (const auto& m : recorded.memory)
    memory.append(nb::make_tuple(m.thread, m.at, m.device.is_cpu() ? -1 : static_cast<int>(m.device.index()),
                                 reinterpret_cast<uintptr_t>(m.address), m.bytes));
  return nb::make_tuple(events, threads, recorded.began, memory);
}

struct Range {
  profiler::Span span;
};

}  // namespace

void add_profiler(nb::module_& module) {
  nb::class_<SessionObject>(module, "_ProfilerSession").def("stop", stop);
  nb::class_<Range>(module, "_ProfilerRange").def("end", [](Range& r) { r.span.close(); });
  module.def("_profiler_start", start, nb::arg("shapes"), nb::arg("memory"), nb::arg("device"),
             nb::arg("where").none());
  module.def("_profiler_start_marks", start_marks);
  module.def("_profiler_is_active", [] { return profiler::is_active(); });
  // None while no profiler is active.
  module.def("_profiler_range", [](const char* name, const char* argument) -> nb::object {
    if (!profiler::is_active()) return nb::none();
    return nb::cast(new Range{profiler::Span(name, profiler::Scope::kUser, argument)}, nb::rv_policy::take_ownership);
  });
}

}  // namespace argand::python
