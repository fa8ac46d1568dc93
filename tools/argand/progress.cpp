#include "tools/argand/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "argand/base/env.h"
#include "argand/base/str.h"
#include "tools/argand/text.h"

namespace argand::cli {

namespace {

constexpr double kRedrawEvery = 0.1;  // seconds, on a terminal
constexpr double kLineEvery = 10;     // seconds, elsewhere
constexpr double kRateMemory = 3;     // seconds over which the rate is smoothed
constexpr int kLongestBar = 40, kShortestBar = 8;

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const auto value = env(name); value && !value->empty())
      return value->find("UTF-8") != std::string::npos || value->find("utf8") != std::string::npos;
  return false;
}

void write_stdout(std::string_view text) {
  // A reader that went away must not end the training, so errors are of no interest.
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

ProgressOutput ProgressOutput::standard() {
  ProgressOutput out;
  const std::string term = env("TERM").value_or("");
  out.terminal = ::isatty(STDOUT_FILENO) && !term.empty() && term != "dumb";
  out.unicode = utf8_locale();
  out.colour = out.terminal && env("NO_COLOR").value_or("").empty();
  out.write = write_stdout;
  out.columns = terminal_columns;
  out.seconds = steady_seconds;
  return out;
}

Progress::~Progress() {
  if (drawn_) out_.write("\n");
}

void Progress::begin_epoch(int epoch, int epochs, int64_t samples, int64_t done) {
  epoch_ = epoch;
  epochs_ = epochs;
  samples_ = samples;
  done_ = first_ = measured_ = done;
  loss_ = accuracy_ = 0;
  begun_ = shown_ = measured_at_ = out_.seconds();
}

void Progress::update(int64_t done, double loss, double accuracy) {
  done_ = done;
  loss_ = loss;
  accuracy_ = accuracy;
  const double now = out_.seconds();
  if (now - shown_ < (out_.terminal ? kRedrawEvery : kLineEvery)) return;
  const double rate = static_cast<double>(done_ - measured_) / (now - measured_at_);
  const double keep = rate_ > 0 ? std::exp(-(now - measured_at_) / kRateMemory) : 0;
  rate_ = keep * rate_ + (1 - keep) * rate;
  measured_ = done_;
  measured_at_ = shown_ = now;
  show();
}

void Progress::end_epoch() {
  const double seconds = out_.seconds() - begun_;
  const auto trained = static_cast<double>(done_ - first_);
  const int64_t rate = seconds > 0 ? std::llround(trained / seconds) : 0;
  print(str("epoch ", epoch_, "/", epochs_, "  ", thousands(done_ - first_), " samples in ",
            seconds < 60 ? fixed(seconds, 1) + " s" : duration(seconds), " (", thousands(rate), "/s)  loss ",
            fixed(loss_, 4), "  accuracy ", fixed(accuracy_, 4)));
}

void Progress::print(std::string_view line) {
  erase();
  out_.write(str(line, "\n"));
}

void Progress::erase() {
  if (drawn_) out_.write("\r\x1b[K");
  drawn_ = false;
}

void Progress::show() {
  if (!out_.terminal) {
    out_.write(status_line(0) + "\n");
    return;
  }
  // One write, so that the line never flickers empty.
  out_.write(str("\r", status_line(out_.columns()), "\x1b[K"));
  drawn_ = true;
}

// For `columns` of a terminal: with a bar as wide as there is room, without one where there is none, cut if need be.
// 0 columns: a plain line.
std::string Progress::status_line(int columns) const {
  const auto left = static_cast<double>(samples_ - done_ + samples_ * (epochs_ - epoch_));
  const double done = samples_ > 0 ? static_cast<double>(done_) / static_cast<double>(samples_) : 1;
  const std::string head = str("epoch ", epoch_, "/", epochs_, " ");
  std::string share = percent(done, 0);
  share.insert(0, 5 - std::min<size_t>(5, share.size()), ' ');
  const std::string tail = str(share, "  loss ", fixed(loss_, 4), "  accuracy ", fixed(accuracy_, 4), "  ",
                               thousands(std::llround(rate_)), "/s  ", duration(left / rate_), " left");
  if (columns == 0) return head + tail;
  // A character in the last column would wrap on some terminals.
  const int room = columns - 1 - static_cast<int>(head.size() + tail.size());
  if (room >= kShortestBar) return head + bar(std::min(room, kLongestBar)) + tail;
  return (head + tail).substr(0, static_cast<size_t>(std::max(columns - 1, 0)));
}

std::string Progress::bar(int columns) const {
  const double done = samples_ > 0 ? static_cast<double>(done_) / static_cast<double>(samples_) : 1;
  const int halves = std::clamp(static_cast<int>(done * 2 * columns), 0, 2 * columns);
  const int full = halves / 2, half = halves % 2, rest = columns - full - half;
  if (!out_.unicode) return repeat("#", full + half) + repeat(".", rest);
  const std::string filled = repeat("\u2501", full) + repeat("\u2578", half), empty = repeat("\u2500", rest);
  if (!out_.colour) return filled + empty;
  return str("\x1b[36m", filled, "\x1b[0;2m", empty, "\x1b[0m");
}

}  // namespace argand::cli
