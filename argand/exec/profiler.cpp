#include "argand/exec/profiler.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "argand/base/error.h"
#include "argand/base/fork_mutex.h"
#include "argand/core/memory_hook.h"
#include "argand/exec/device_clock.h"
#include "argand/exec/graph.h"
#include "argand/exec/node_names.h"
#include "argand/exec/op_info.h"
#include "argand/exec/profiler_range.h"
#include "argand/exec/window.h"

namespace argand::profiler {

using tracing::Clock;
using tracing::DeviceClock;

// ---- what is kept of a span

namespace {

struct OnDevice {
  OnDevice(const Device& device, bool is_known_to_work)
      : stream(current_stream(device)), begin(device.type(), true), end(device.type(), true), works(is_known_to_work) {
    begin.record_late(stream);
    launches = launches_so_far();
  }
  // Delayed work must not record an event that no longer exists.
  ~OnDevice() {
    if (ended) return;
    try {
      stream.query();
    } catch (...) {  // the error comes back to the thread that works with the device
    }
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  void record_end() {
    end.record(stream);
    launches = launches_so_far() - launches;
  }
  // Launches of the whole process: if other threads launch meanwhile, a span that launches nothing looks as if it did.
  static uint64_t launches_so_far() { return accelerator().issue_stats().launches; }

  Stream stream;
  argand::Event begin, end;
  bool works;             // there is something to time, whether or not it is a launch
  uint64_t launches = 0;  // before it; once it has ended: within it
  bool ended = false;
};

struct Event {
  std::string name;
  Scope scope;
  Clock::time_point begin{}, end{};
  bool ended = false;
  int64_t parent = -1, sequence = -1;
  int64_t bytes[2] = {0, 0};  // of the host, of devices
  int where = -1;
  std::vector<RecordedArgument> arguments{};
  std::shared_ptr<OnDevice> on_device{};
};
constexpr size_t kNotKept = SIZE_MAX;

}  // namespace

struct MemoryChange {
  Clock::time_point at;
  Device device;
  const void* address;
  int64_t bytes;
};

// The spans of one thread in one session.  Never freed, but reused: a thread may use it for a moment after the session
// has ended, and then finds that it belongs to another session.
struct ThreadLog {
  std::mutex mutex;
  uint64_t session = 0;  // 0: idle
  std::shared_ptr<Session::Log> of;
  int64_t system_thread = 0;
  std::deque<Event> events;
  std::deque<MemoryChange> memory;
  int64_t innermost = -1;
};

struct Session::Log {
  explicit Log(Options given) : options(std::move(given)) {}
  const Options options;
  uint64_t number = 0;
  const pid_t process = getpid();
  const Clock::time_point begun = Clock::now();
  const int64_t began =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::vector<ThreadLog*> threads;  // under the mutex of all()

  std::mutex clocks_mutex;
  std::map<DeviceIndex, DeviceClock> clocks;
  void start_clock(const Device& device) {
    const std::lock_guard lock(clocks_mutex);
    clocks.try_emplace(device.index(), device);
  }
  double us_of(const argand::Event& event, const Device& device) {
    const std::lock_guard lock(clocks_mutex);
    const DeviceClock& clock = clocks.at(device.index());
    return std::chrono::duration<double, std::micro>(clock.begun() - begun).count() + clock.us_of(event);
  }
};

// ---- the session there is

namespace {

struct All {
  std::mutex mutex;
  uint64_t last = 0;  // number of a session
  std::shared_ptr<Session::Log> current;
  std::vector<ThreadLog*> idle;

  static All& get() {
    static All& all = *[] {
      auto* made = new All;
      // The child has neither the other threads nor the session.
      pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                     [] {
                       Active::session = 0;
                       memory_hook = nullptr;
                       get().mutex.unlock();
                     });
      return made;
    }();
    return all;
  }
};

// Without a destructor, as tensors may be freed at any time while a thread ends.
struct Mine {
  uint64_t session;
  ThreadLog* log;
};
constinit thread_local Mine mine{0, nullptr};

// Makes a log for the calling thread in the current session.  The mutex is held.
ThreadLog* new_log(All& all) {
  if (all.idle.empty()) all.idle.push_back(new ThreadLog);
  all.current->threads.reserve(all.current->threads.size() + 1);
  ThreadLog* log = all.idle.back();
  all.idle.pop_back();
  const ObjectLock lock_log(log->mutex);
  log->session = all.current->number;
  log->of = all.current;
  log->system_thread = syscall(SYS_gettid);
  log->innermost = -1;
  all.current->threads.push_back(log);
  return log;
}

ThreadLog* join(uint64_t session) {
  All& all = All::get();
  const std::lock_guard lock(all.mutex);
  return all.current && all.current->number == session ? new_log(all) : nullptr;
}

// The calling thread's log in the current session; null without a session.
ThreadLog* thread_log() {
  const uint64_t session = Active::session.load(std::memory_order_acquire);
  if (session == 0) return nullptr;
  if (mine.session != session) {
    ThreadLog* log = join(session);
    if (!log) return nullptr;
    mine = {session, log};
  }
  return mine.log;
}

void on_memory(const Device& device, const void* address, int64_t bytes) {
  try {
    ThreadLog* log = thread_log();
    if (!log) return;
    const ObjectLock lock(log->mutex);
    if (log->session != mine.session) return;
    const auto now = Clock::now();
    log->memory.push_back({now, device, address, bytes});
    int64_t at = log->innermost;
    if (at < 0) {
      at = static_cast<int64_t>(log->events.size());
      log->events.push_back({.name = "[memory]", .scope = Scope::kMemory, .begin = now, .end = now, .ended = true});
    }
    log->events[static_cast<size_t>(at)].bytes[device.is_cpu() ? 0 : 1] += bytes;
  } catch (...) {  // no memory to note it in
  }
}

}  // namespace

// ---- arguments

namespace {

RecordedArgument describe(const Tensor& t) {
  if (!t.defined()) return {"", {}};
  return {dtype_name(t.dtype()), {t.impl().sizes}, {t.impl().strides}};
}

std::string list_text(const auto& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += str(i ? ", " : "", values[i]);
  return out + "]";
}

struct Describe {
  RecordedArgument operator()(const Tensor& t) const { return describe(t); }
  RecordedArgument operator()(const std::vector<Tensor>& list) const {
    RecordedArgument out{"TensorList", {}};
    for (const Tensor& t : list) {
      out.shapes.push_back(t.defined() ? t.impl().sizes : Dims());
      out.strides.push_back(t.defined() ? t.impl().strides : Dims());
    }
    return out;
  }
  RecordedArgument operator()(bool b) const { return scalar(b ? "True" : "False"); }
  RecordedArgument operator()(int64_t i) const { return scalar(str(i)); }
  RecordedArgument operator()(double d) const { return scalar(str(d)); }
  RecordedArgument operator()(const Scalar& s) const {
    if (s.type() == kBool) return (*this)(s.to<bool>());
    if (s.type() == kLong) return (*this)(s.to<int64_t>());
    if (s.type() == kDouble) return (*this)(s.to<double>());
    return scalar("");
  }
  RecordedArgument operator()(const Dims& d) const { return list(d); }
  RecordedArgument operator()(const std::vector<double>& d) const { return list(d); }
  RecordedArgument operator()(const std::vector<bool>& given) const {
    std::vector<int> numbers(given.begin(), given.end());
    return list(numbers);
  }
  RecordedArgument operator()(const std::string& text) const { return {"", {}, {}, text}; }
  RecordedArgument operator()(const auto&) const { return {"", {}}; }

 private:
  static RecordedArgument scalar(std::string text) { return {"Scalar", {}, {}, std::move(text)}; }
  static RecordedArgument list(const auto& values) { return {"ScalarList", {}, {}, list_text(values)}; }
};

std::vector<RecordedArgument> describe_arguments(const OpInfo& op, const void* args) {
  ArgumentValues values;
  op.args.values(args, values);
  std::vector<RecordedArgument> out;
  out.reserve(values.size());
  for (const auto& [name, value] : values) out.push_back(std::visit(Describe(), value));
  return out;
}

// The device on which the op will run, as far as its arguments show; nothing if it is not timed on a device.
std::optional<Device> device_of(const OpInfo& op, void* args) {
  if (op.kind == OpKind::kView) return std::nullopt;
  TensorSlots slots;
  op.args.tensors(args, slots);
  bool any = false;
  for (const TensorSlot& s : slots) {
    if (!s.tensor->defined()) continue;
    if (s.tensor->is_accelerator()) return s.tensor->device();
    any = true;
  }
  if (any) return std::nullopt;
  const TensorOptions* options = op.args.options(args);  // an op that makes a tensor says where
  if (options && options->device().is_accelerator()) return with_index(options->device());
  return std::nullopt;
}

void start_timing(Event& event, Session::Log& session, const Device& device, bool works) {
  if (!device.is_accelerator() || is_capturing()) return;
  session.start_clock(device);
  event.on_device = std::make_shared<OnDevice>(device, works);
}

std::string name_of(const OpInfo& op, Form form) {
  const std::string_view name = op.name.c_str();
  const bool of_library = name.find("::") != std::string_view::npos;  // "torchvision::nms"
  return str(of_library ? "" : "aten::", name, form == Form::kInPlace && !op.inplace_only ? "_" : "");
}

}  // namespace

// ---- spans

namespace {

// Puts the event into the log of the calling thread and returns its index there.
std::optional<size_t> begin(ThreadLog& log, uint64_t session, Event&& event) {
  const ObjectLock lock(log.mutex);
  if (log.session != session) return std::nullopt;
  const size_t at = log.events.size();
  event.parent = log.innermost;
  Event& kept = log.events.emplace_back(std::move(event));
  log.innermost = static_cast<int64_t>(at);
  kept.begin = Clock::now();
  return at;
}

// The place of a span's event.
struct Opened {
  ThreadLog* log = nullptr;
  uint64_t session = 0;
  size_t at = 0;
};
// Keeps the event that `make` makes for the session.
Opened opened(auto&& make) noexcept {
  try {
    ThreadLog* log = thread_log();
    if (!log) return {};
    const uint64_t session = mine.session;
    std::shared_ptr<Session::Log> whole;
    {
      const ObjectLock lock(log->mutex);
      if (log->session != session) return {};
      whole = log->of;
    }
    Event event = make(*whole);
    if (whole->options.push) {
      whole->options.push(event.name.c_str());
      return {log, session, kNotKept};
    }
    if (whole->options.where) event.where = whole->options.where();
    if (const auto at = begin(*log, session, std::move(event))) return {log, session, *at};
  } catch (...) {  // a call goes on without its span
  }
  return {};
}

}  // namespace

void Span::open(std::string_view name, Scope scope, std::string_view argument) noexcept {
  const Opened o = opened([&](Session::Log& session) {
    Event event{.name = std::string(name), .scope = scope};
    if (session.options.shapes && !argument.empty()) event.arguments.push_back({"", {}, {}, std::string(argument)});
    return event;
  });
  log_ = o.log, session_ = o.session, at_ = o.at;
}

void Span::open(const OpInfo& op, void* args, Form form) noexcept {
  const Opened o = opened([&](Session::Log& session) {
    Event event{.name = name_of(op, form), .scope = Scope::kFunction};
    if (session.options.shapes) event.arguments = describe_arguments(op, args);
    if (!session.options.device || !loaded_accelerator()) return event;
    if (const auto device = device_of(op, args)) start_timing(event, session, *device, op.kind != OpKind::kComposite);
    return event;
  });
  log_ = o.log, session_ = o.session, at_ = o.at;
}

void Span::open(const autograd::Node& node, const char* prefix, Scope scope, std::span<const Tensor> grads) noexcept {
  const Opened o = opened([&](Session::Log& session) {
    const std::string name = autograd::traced_name(node);
    Event event{.name = str(prefix, name), .scope = scope};
    event.sequence = static_cast<int64_t>(node.sequence_nr());
    if (session.options.shapes)
      for (const Tensor& g : grads) event.arguments.push_back(describe(g));
    if (session.options.device && scope == Scope::kBackwardFunction)
      start_timing(event, session, node.place().device, false);
    return event;
  });
  log_ = o.log, session_ = o.session, at_ = o.at;
}

void Span::close() noexcept {
  const auto now = Clock::now();
  ThreadLog* log = std::exchange(log_, nullptr);
  if (!log || !is_active()) return;  // in a child of fork() the mutex may be locked for ever
  try {
    std::unique_lock lock(log->mutex);
    if (log->session != session_) return;
    if (at_ == kNotKept) return log->of->options.pop();
    Event& event = log->events[at_];
    event.end = now;
    event.ended = true;
    // Ranges of a program may end in another order than they began.
    while (log->innermost >= 0 && log->events[static_cast<size_t>(log->innermost)].ended)
      log->innermost = log->events[static_cast<size_t>(log->innermost)].parent;
    const std::shared_ptr<OnDevice> on = event.on_device;
    lock.unlock();  // what is given to the device meanwhile may allocate, which is noted here, too
    if (!on || is_capturing()) return;
    on->record_end();
    lock.lock();
    on->ended = log->session == session_;
  } catch (...) {  // the error comes back to the thread that works with the device
  }
}

void note_sequence(uint64_t sequence) noexcept {
  ThreadLog* log = thread_log();
  if (!log) return;
  const ObjectLock lock(log->mutex);
  if (log->session != mine.session || log->innermost < 0) return;
  log->events[static_cast<size_t>(log->innermost)].sequence = static_cast<int64_t>(sequence);
}

// ---- sessions

Session::Session(Options options) {
  exec::flush();
  All& all = All::get();
  auto log = std::make_shared<Log>(std::move(options));
  if (log->options.device && loaded_accelerator()) log->start_clock(with_index(accelerator_type()));
  {
    const std::lock_guard lock(all.mutex);
    ARGAND_CHECK(ValueError, Active::session.load() == 0, "profiler: there is a session already");
    log->number = ++all.last;
    all.current = log_ = std::move(log);
    try {
      mine = {log_->number, new_log(all)};  // thread 1: before others see the session
    } catch (...) {
      all.current = nullptr;
      throw;
    }
    if (log_->options.memory) memory_hook = on_memory;
    Active::session.store(log_->number, std::memory_order_release);
  }
}

Session::~Session() { stop(); }

namespace {

// The closest span around [begin, end] from `parent` outwards: if ranges end in another order than they began, the span
// that was open may have ended first.
int64_t parent_around(const std::deque<Event>& events, int64_t parent, const Event& event) {
  while (parent >= 0 && events[static_cast<size_t>(parent)].end < event.end)
    parent = events[static_cast<size_t>(parent)].parent;
  return parent;
}

// The device times of a thread's events, which are in the order of their beginning; waits for the device.
std::vector<std::optional<DeviceTime>> device_times(Session::Log& session, const std::deque<Event>& events) {
  std::vector<std::optional<DeviceTime>> out(events.size());
  std::vector<uint64_t> within(events.size());  // launches of the spans within
  for (size_t i = events.size(); i-- > 0;) {
    const OnDevice* on = events[i].on_device.get();
    if (!on) continue;
    const uint64_t own = on->ended ? on->launches - std::min(on->launches, within[i]) : 0;
    for (int64_t up = events[i].parent; up >= 0; up = events[static_cast<size_t>(up)].parent)
      within[static_cast<size_t>(up)] += own + 1;  // its begin counts as one
    if (!on->ended || (own == 0 && !on->works)) continue;
    try {
      const Device device = on->stream.device();
      on->end.synchronize();
      const double begin = session.us_of(on->begin, device);
      const double us = 1000.0 * static_cast<double>(on->begin.elapsed_time(on->end));
      out[i] = DeviceTime{device, reinterpret_cast<uintptr_t>(on->stream.ref().handle), begin, begin + us, us};
    } catch (const Error&) {  // it comes back to the thread that works with the device
    }
  }
  for (size_t i = 0; i < events.size(); ++i) {
    if (!out[i]) continue;
    int64_t up = events[i].parent;
    while (up >= 0 && !out[static_cast<size_t>(up)]) up = events[static_cast<size_t>(up)].parent;
    if (up < 0) continue;
    DeviceTime& around = *out[static_cast<size_t>(up)];
    around.own = std::max(0.0, around.own - (out[i]->end - out[i]->begin));
  }
  return out;
}

struct Unsorted {
  int thread;
  size_t at;
  std::deque<Event>* of;
  const Event& event() const { return (*of)[at]; }
};

void collect(Session::Log& session, std::vector<std::deque<Event>>& threads, Recorded& out) {
  std::vector<Unsorted> order;
  std::vector<std::vector<int64_t>> place(threads.size());  // of an event of a thread in the result
  for (size_t t = 0; t < threads.size(); ++t) {
    place[t].resize(threads[t].size());
    for (size_t i = 0; i < threads[t].size(); ++i) order.push_back({static_cast<int>(t + 1), i, &threads[t]});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Unsorted& a, const Unsorted& b) { return a.event().begin < b.event().begin; });
  for (size_t i = 0; i < order.size(); ++i)
    place[static_cast<size_t>(order[i].thread - 1)][order[i].at] = static_cast<int64_t>(i);
  const auto ns = [&](Clock::time_point t) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t - session.begun).count();
  };
  std::vector<std::vector<std::optional<DeviceTime>>> on_device;
  for (const auto& events : threads) on_device.push_back(device_times(session, events));
  out.events.reserve(order.size());
  for (const Unsorted& u : order) {
    Event& e = (*u.of)[u.at];
    const int64_t parent = parent_around(*u.of, e.parent, e);
    out.events.push_back({
        .name = std::move(e.name),
        .scope = e.scope,
        .thread = u.thread,
        .begin = ns(e.begin),
        .end = ns(e.end),
        .parent = parent < 0 ? -1 : place[static_cast<size_t>(u.thread - 1)][static_cast<size_t>(parent)],
        .sequence = e.sequence,
        .cpu_bytes = e.bytes[0],
        .device_bytes = e.bytes[1],
        .where = e.where,
        .arguments = std::move(e.arguments),
        .on_device = on_device[static_cast<size_t>(u.thread - 1)][u.at],
    });
  }
}

}  // namespace

Recorded Session::stop() {
  Recorded out{{}, {}, log_ ? log_->began : 0};
  const std::shared_ptr<Log> session = std::exchange(log_, nullptr);
  if (!session || session->process != getpid()) return out;
  std::vector<std::deque<Event>> threads;
  const auto now = Clock::now();
  const auto since = [&](Clock::time_point t) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t - session->begun).count();
  };
  {
    All& all = All::get();
    const std::lock_guard lock(all.mutex);
    if (all.current == session) {
      Active::session = 0;
      memory_hook = nullptr;
      all.current = nullptr;
    }
    for (ThreadLog* thread : session->threads) {
      const ObjectLock lock_thread(thread->mutex);
      threads.push_back(std::exchange(thread->events, {}));
      for (const MemoryChange& m : std::exchange(thread->memory, {}))
        out.memory.push_back({static_cast<int>(threads.size()), since(m.at), m.device, m.address, m.bytes});
      out.system_threads.push_back(thread->system_thread);
      thread->session = 0;
      thread->of = nullptr;
      all.idle.push_back(thread);
    }
    session->threads.clear();
  }
  if (session->options.push) return out;
  for (auto& events : threads)
    for (Event& e : events)
      if (!e.ended) e.end = std::max(e.begin, now);
  collect(*session, threads, out);
  std::stable_sort(out.memory.begin(), out.memory.end(),
                   [](const RecordedMemory& a, const RecordedMemory& b) { return a.at < b.at; });
  return out;
}

// ---- ranges (profiler_range.h)

void Range::begin(std::string_view name, int scope) {
  end();
  if (is_active()) span_ = new Span(name, static_cast<Scope>(scope));
}
void Range::end() noexcept { delete static_cast<Span*>(std::exchange(span_, nullptr)); }
bool Range::is_seen() { return is_active(); }

}  // namespace argand::profiler
