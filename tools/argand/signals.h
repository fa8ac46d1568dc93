// Ctrl-C and SIGTERM: the first asks the run to stop when its step is done, so that it can save; the second ends the
// process at once.
#pragma once

namespace argand::cli {

// While one exists, SIGINT and SIGTERM only raise a flag; a write beyond a file size limit (SIGXFSZ) or to a reader
// that went away (SIGPIPE) is an error instead of a death.  A signal that the parent had set to be ignored (nohup, a
// background job) stays ignored.  At most one at a time.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();  // gives the signals back
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  static int signal() noexcept;  // the number that came, 0 if none; a run stopped by it exits with 128 + signal()
  static bool requested() noexcept { return signal() != 0; }
};

}  // namespace argand::cli
