// Named spans of time on the host and on the streams of a GPU, to see what ran beside what.
//
//   tracing::Recording recording(Device(kCUDA));
//   for (data::Example<> batch; batches.next(batch);) {  // the prefetcher tells of its copies
//     const tracing::Span span("step", step, "compute stream", cuda::current_stream());
//     ...
//   }
//   io::write_file("trace.json", recording.json());  // for https://ui.perfetto.dev or chrome://tracing
//
// On the host, a span lasts from its construction to its destruction; on a stream, from the end of the work before it
// to the end of its own work.  Events with timing mark both ends.  They split launches that would be issued together,
// so a recorded program is slower.  While a graph is captured, only spans of the host are recorded.  Without a
// recording a span only checks a flag.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argand/exec/stream.h"

namespace argand::tracing {

// Where and when; microseconds since the recording began.  Times of streams of one device agree with each other to a
// microsecond, with the host's to about ten.
struct RecordedSpan {
  std::string row;  // "host", "host 2" (another thread), or the row of a stream
  std::string name;
  int64_t number;
  double begin, end;
};

// Records spans of all threads while it lives.  There is one at a time, ValueError otherwise.
class Recording {
 public:
  // Records spans of the host, and of the device's streams if it is a GPU: waits for the current stream.
  explicit Recording(const Device& device);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // The spans that have ended so far, ordered by row and beginning; waits for the work they cover.
  std::vector<RecordedSpan> spans() const;
  // The same as Chrome's trace events: {"traceEvents": [...]}.
  std::string json() const;

  struct Log;

 private:
  std::shared_ptr<Log> log_;
};

// A span of the calling thread.  `name` and `row` must live as long as the recording.
class Span {
 public:
  // `number`: for example that of the batch or the step.  With a stream, the span also covers the work that the stream
  // gets meanwhile.
  Span(const char* name, int64_t number, const char* row = "", const std::optional<Stream>& stream = {});
  ~Span();  // what cannot be recorded, because the device failed, is left out
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  struct Open;
  std::unique_ptr<Open> open_;  // null without a recording
};

}  // namespace argand::tracing
