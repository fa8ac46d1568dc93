// Named spans of time on the host and on the streams of a GPU, to see what ran beside what.
//
//   tracing::Recording recording(Device(kCUDA));
//   for (data::Example<> batch; batches.next(batch);) {  // the prefetcher tells of its copies
//     const tracing::Span span("step", step, "compute stream", cuda::current_stream());
//     ...
//   }
//   io::write_file("trace.json", recording.json());  // for https://ui.perfetto.dev or chrome://tracing
//
// A span lies on the host from its construction to its destruction, and on a stream from when the work before it is
// done to when its own is: events with timing mark both.  They end a run of launches that would be issued together, so
// what is recorded is slower than what is not; while a graph is captured there are spans of the host only.  Without a
// recording a span costs a look at a flag.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argand/exec/cuda.h"

namespace argand::tracing {

// Where and when; microseconds since the recording began.  Rows of streams of one device agree among each other to a
// microsecond, with the host's to some ten.
struct RecordedSpan {
  std::string row;  // "host", "host 2" (another thread), or the row of a stream
  std::string name;
  int64_t number;
  double begin, end;
};

// Spans of all threads are recorded while it lives; one at a time, ValueError otherwise.
class Recording {
 public:
  // Of the host, and of this device's streams if it is a GPU: waits for the current stream.
  explicit Recording(const Device& device);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Those that have ended so far, in the order of their rows and of their beginning; waits for the work they cover.
  std::vector<RecordedSpan> spans() const;
  // The same as Chrome's trace events: {"traceEvents": [...]}.
  std::string json() const;

  struct Log;

 private:
  std::shared_ptr<Log> log_;
};

// Of the calling thread.  `name` and `row` live as long as the recording.
class Span {
 public:
  // `number`: of the batch, the step.  With a stream, of what is given to it meanwhile, too.
  Span(const char* name, int64_t number, const char* row = "", const std::optional<cuda::Stream>& stream = {});
  ~Span();  // what cannot be recorded, because the device failed, is left out
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  struct Open;
  std::unique_ptr<Open> open_;  // null if nobody wants to know
};

}  // namespace argand::tracing
