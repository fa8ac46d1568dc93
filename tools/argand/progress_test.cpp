#include "tools/argand/progress.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace argand::cli {
namespace {

// A screen of our own, with a clock that we move.
struct Screen {
  std::string text;
  double now = 100;
  int columns = 100;

  ProgressOutput output(bool terminal, bool unicode = false) {
    ProgressOutput out;
    out.terminal = terminal;
    out.unicode = unicode;
    out.write = [this](std::string_view t) { text += t; };
    out.columns = [this] { return columns; };
    out.seconds = [this] { return now; };
    return out;
  }
  std::string take() { return std::exchange(text, ""); }
};

TEST(Progress, PlainLinesNowAndThen) {
  Screen screen;
  Progress progress(screen.output(false));
  progress.begin_epoch(1, 2, 10'000);
  for (int64_t done = 100; done <= 10'000; done += 100) {
    screen.now += 0.25;
    progress.update(done, 0.5, 0.75);
  }
  // 25 seconds: lines at 10 and 20.
  EXPECT_EQ(screen.take(),
            "epoch 1/2   40%  loss 0.5000  accuracy 0.7500  400/s  40 s left\n"
            "epoch 1/2   80%  loss 0.5000  accuracy 0.7500  400/s  30 s left\n");
  progress.end_epoch();
  EXPECT_EQ(screen.take(), "epoch 1/2  10,000 samples in 25.0 s (400/s)  loss 0.5000  accuracy 0.7500\n");
}

TEST(Progress, BarOnATerminal) {
  Screen screen;
  screen.columns = 78;
  {
    Progress progress(screen.output(true));
    progress.begin_epoch(1, 1, 1000);
    screen.now += 1;
    progress.update(500, 0.5, 0.75);
    EXPECT_EQ(screen.take(), "\repoch 1/1 ########.......  50%  loss 0.5000  accuracy 0.7500  500/s  1 s left\x1b[K");
    screen.now += 0.05;
    progress.update(600, 0.5, 0.75);
    EXPECT_EQ(screen.take(), "") << "redrawn too soon";
    progress.print("hello");
    EXPECT_EQ(screen.take(), "\r\x1b[Khello\n");
    screen.now += 1;
    progress.update(700, 0.5, 0.75);
    EXPECT_NE(screen.take(), "");
  }
  EXPECT_EQ(screen.take(), "\n") << "the shell's prompt must not stand behind the bar";
}

TEST(Progress, NeverWiderThanTheTerminal) {
  for (int columns = 1; columns < 140; ++columns) {
    Screen screen;
    screen.columns = columns;
    Progress progress(screen.output(true));
    progress.begin_epoch(1, 1, 1000);
    screen.now += 1;
    progress.update(500, 0.5, 0.75);
    EXPECT_LT(static_cast<int>(screen.take().size()), columns + 4) << columns;  // \r and ESC [ K take no column
  }
}

TEST(Progress, UnicodeBarHasHalfSteps) {
  Screen screen;
  screen.columns = 73;
  Progress progress(screen.output(true, true));
  progress.begin_epoch(1, 1, 1000);
  screen.now += 1;
  progress.update(250, 0.5, 0.75);
  const std::string text = screen.take();
  EXPECT_NE(text.find(" \u2501\u2501\u2578\u2500\u2500\u2500\u2500\u2500\u2500\u2500  25%"), std::string::npos) << text;
}

TEST(Progress, FloodsNothing) {
  Screen screen;
  Progress progress(screen.output(false));
  progress.begin_epoch(1, 1, 1'000'000);
  for (int64_t i = 1; i <= 100'000; ++i) {
    screen.now += 0.001;
    progress.update(10 * i, 1, 0);
  }
  const std::string text = screen.take();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(Progress, ResumedEpochCountsItsOwnSamples) {
  Screen screen;
  Progress progress(screen.output(false));
  progress.begin_epoch(2, 2, 1000, 400);
  screen.now += 10;
  progress.update(900, 1, 0);
  EXPECT_NE(screen.take().find("  50/s  2 s left"), std::string::npos);
  progress.update(1000, 1, 0);
  progress.end_epoch();
  EXPECT_NE(screen.take().find("600 samples in 10.0 s (60/s)"), std::string::npos);
}

TEST(Progress, NumbersThatAreNone) {
  Screen screen;
  Progress progress(screen.output(false));
  progress.begin_epoch(1, 1, 0);
  screen.now += 20;
  progress.update(0, 0.0 / 0.0, 0);
  EXPECT_EQ(screen.take(), "epoch 1/1  100%  loss nan  accuracy 0.0000  0/s  ? left\n");
}

}  // namespace
}  // namespace argand::cli
