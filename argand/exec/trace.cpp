#include "argand/exec/trace.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "argand/base/error.h"
#include "argand/base/fork_mutex.h"
#include "argand/exec/device_clock.h"
#include "argand/exec/profiler.h"

namespace argand::tracing {
namespace {

double us_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

struct OnStream {
  const char* row;
  Event begin, end;
};
struct Closed {
  const char* name;
  int64_t number;
  std::thread::id thread;
  Clock::time_point begin, end;
  std::optional<OnStream> stream;
};

}  // namespace

namespace {
constinit ProcessMutex mutex;  // there is one recording at a time
}

struct Recording::Log {
  const DeviceClock clock;
  std::vector<Closed> closed;  // under `mutex`

  explicit Log(const Device& on) : clock(with_index(on)) {}
};

namespace {

std::atomic<bool> recording{false};
std::shared_ptr<Recording::Log>& current() {  // with the mutex held
  static auto& log = *new std::shared_ptr<Recording::Log>;
  return log;
}
std::shared_ptr<Recording::Log> current_log() {
  if (!recording.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(mutex);
  return current();
}

}  // namespace

Recording::Recording(const Device& device) : log_(std::make_shared<Log>(device)) {
  const std::lock_guard lock(mutex);
  ARGAND_CHECK(ValueError, !current(), "tracing::Recording: there is one already");
  current() = log_;
  recording = true;
}

Recording::~Recording() {
  const std::lock_guard lock(mutex);
  current() = nullptr;
  recording = false;
}

std::vector<RecordedSpan> Recording::spans() const {
  std::vector<Closed> closed;
  {
    const std::lock_guard lock(mutex);
    closed = log_->closed;
  }
  std::map<std::thread::id, std::string> threads{{std::this_thread::get_id(), "host"}};
  const Clock::time_point begun = log_->clock.begun();
  std::vector<RecordedSpan> out;
  for (const Closed& s : closed) {
    const std::string& row = threads.try_emplace(s.thread, str("host ", threads.size() + 1)).first->second;
    out.push_back({row, s.name, s.number, us_between(begun, s.begin), us_between(begun, s.end)});
    if (s.stream)
      out.push_back(
          {s.stream->row, s.name, s.number, log_->clock.us_of(s.stream->begin), log_->clock.us_of(s.stream->end)});
  }
  const auto place = [](const RecordedSpan& s) {
    return std::tuple(!s.row.starts_with("host"), s.row, s.begin, -s.end);
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return out;
}

std::string Recording::json() const {
  std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char* before = "\n";
  int row = 0;
  const std::vector<RecordedSpan> all = spans();
  for (size_t i = 0; i < all.size(); ++i) {
    const RecordedSpan& s = all[i];
    if (i == 0 || s.row != all[i - 1].row) {
      out += str(before, "{\"ph\": \"M\", \"pid\": 1, \"tid\": ", ++row,
                 ", \"name\": \"thread_name\", \"args\": {\"name\": \"", s.row, "\"}}");
      before = ",\n";
    }
    char times[96];
    std::snprintf(times, sizeof(times), "\"ts\": %.3f, \"dur\": %.3f", s.begin, std::max(s.end - s.begin, 0.0));
    out += str(before, "{\"ph\": \"X\", \"pid\": 1, \"tid\": ", row, ", \"name\": \"", s.name, "\", ", times,
               ", \"args\": {\"number\": ", s.number, "}}");
  }
  return out + "\n]}\n";
}

struct Span::Open {
  std::shared_ptr<Recording::Log> log;  // null: no recording, only a profiler that sees the span
  profiler::Span profiled;
  Closed span;
  std::optional<Stream> stream;
};

Span::Span(const char* name, int64_t number, const char* row, const std::optional<Stream>& stream) {
  auto log = current_log();
  if (!log && !profiler::is_active()) return;
  // Events in a capture have no times.
  const bool on_stream = log && stream && stream->device() == log->clock.device() && !is_capturing();
  open_.reset(new Open{std::move(log),
                       profiler::Span(name, profiler::Scope::kUser),
                       {name, number, std::this_thread::get_id(), Clock::now(), {}, {}},
                       {}});
  if (!on_stream) return;
  open_->stream = stream;
  open_->span.stream.emplace(OnStream{row, Event(stream->device_type(), true), Event(stream->device_type(), true)});
  open_->span.stream->begin.record(*stream);
}

Span::~Span() {
  if (!open_ || !open_->log) return;
  try {
    if (open_->stream) open_->span.stream->end.record(*open_->stream);
    open_->span.end = Clock::now();
    const std::lock_guard lock(mutex);
    open_->log->closed.push_back(std::move(open_->span));
  } catch (...) {  // the error comes back to the thread that works with the device
  }
}

}  // namespace argand::tracing
