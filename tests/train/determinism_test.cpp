// A training run is a function of its seed: the same bits on repeat, for any number of threads and loader workers,
// fused or not, and stopped and resumed after any step.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/window.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tests/train/trainer.h"

namespace argand::train_test {
namespace {

using Names = std::tuple<const char*, const char*>;  // network, optimizer

class Training : public ::testing::TestWithParam<Names> {
 protected:
  ~Training() override {
    set_num_threads(threads_);
    exec::set_window_mode(exec::WindowMode::kAuto);
    std::filesystem::remove(path_);
  }
  Setting setting(int64_t workers = 0) const { return {std::get<0>(GetParam()), std::get<1>(GetParam()), workers}; }
  std::string whole_run(int64_t workers = 0) const {
    Trainer trainer(setting(workers));
    trainer.run_until(Trainer::kSteps);
    return trainer.digest();
  }
  const int threads_ = get_num_threads();
  // Several processes run cases of this file at once.
  const std::string path_ =
      (std::filesystem::temp_directory_path() / str("argand_train_test_", ::getpid(), ".safetensors")).string();
};

TEST_P(Training, EveryStepCounts) {
  std::vector<std::string> seen;
  Trainer trainer(setting());
  seen.push_back(trainer.digest());
  for (int64_t steps = 1; steps <= Trainer::kSteps; ++steps) {
    trainer.run_until(steps);
    const std::string now = trainer.digest();
    EXPECT_EQ(std::count(seen.begin(), seen.end(), now), 0) << "step " << steps << " changed nothing";
    seen.push_back(now);
  }
}

TEST_P(Training, SameBitsForAnyThreadsWorkersAndWindow) {
  const std::string expected = whole_run();
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    for (const int64_t workers : {0, 1, 4}) {
      for (const auto mode : {exec::WindowMode::kEager, exec::WindowMode::kAuto, exec::WindowMode::kAlways}) {
        exec::set_window_mode(mode);
        EXPECT_EQ(whole_run(workers), expected)
            << threads << " threads, " << workers << " workers, window mode " << static_cast<int>(mode);
      }
    }
  }
}

TEST_P(Training, ResumedAfterAnyStep) {
  const std::string expected = whole_run();
  for (int64_t stop = 1; stop < Trainer::kSteps; ++stop) {
    {
      Trainer first(setting(1));
      first.run_until(stop);
      first.save(path_);
    }
    manual_seed(static_cast<uint64_t>(stop));  // a new process knows nothing of the old one
    Trainer second(setting(2));
    second.load(path_);
    second.run_until(Trainer::kSteps);
    EXPECT_EQ(second.digest(), expected) << "stopped after step " << stop;
  }
}

// The same through a chain of processes, each for one step.
TEST_P(Training, ResumedAfterEveryStep) {
  const std::string expected = whole_run();
  std::string last;
  for (int64_t stop = 1; stop <= Trainer::kSteps; ++stop) {
    Trainer trainer(setting());
    if (stop > 1) trainer.load(path_);
    trainer.run_until(stop);
    trainer.save(path_);
    last = trainer.digest();
  }
  EXPECT_EQ(last, expected);
}

INSTANTIATE_TEST_SUITE_P(Each, Training,
                         ::testing::Combine(::testing::Values("mlp", "cnn"),
                                            ::testing::Values("sgd", "adam", "adamw", "rmsprop")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace argand::train_test
