// The progress of a training run: on a terminal a bar that is redrawn in place, elsewhere a plain line now and then.
//
//   epoch 1/3 ━━━━━━━━━━━━╸─────────  62%  loss 0.4312  accuracy 0.8456  21,300/s  1:12 left
//
// Costs one look at the clock per update.  For one thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace argand::cli {

// Where the progress goes and what that can show.
struct ProgressOutput {
  bool terminal = false;  // may be redrawn in place
  bool unicode = false;
  bool colour = false;
  std::function<void(std::string_view)> write;
  std::function<int()> columns;     // asked at every redraw, for a terminal may change
  std::function<double()> seconds;  // a clock that never goes back

  static ProgressOutput standard();  // stdout, with NO_COLOR, TERM and the locale heeded
};

class Progress {
 public:
  explicit Progress(ProgressOutput output = ProgressOutput::standard()) : out_(std::move(output)) {}
  ~Progress();  // leaves the cursor on a line of its own
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` samples are behind already where a run is resumed inside an epoch.
  void begin_epoch(int epoch, int epochs, int64_t samples, int64_t done = 0);
  // After each step, with the means of the epoch so far.
  void update(int64_t done, double loss, double accuracy);
  // Leaves one line that sums up the epoch.
  void end_epoch();
  // A line that stays, above the bar.
  void print(std::string_view line);

 private:
  void show();
  std::string status_line(int columns) const;
  std::string bar(int columns) const;
  void erase();

  ProgressOutput out_;
  int epoch_ = 0, epochs_ = 0;
  int64_t samples_ = 0, done_ = 0, first_ = 0;
  double loss_ = 0, accuracy_ = 0;
  double begun_ = 0, shown_ = 0;  // times
  double rate_ = 0;               // samples per second, smoothed
  int64_t measured_ = 0;          // samples when the rate was last measured
  double measured_at_ = 0;
  bool drawn_ = false;  // a bar stands on the current line
};

}  // namespace argand::cli
