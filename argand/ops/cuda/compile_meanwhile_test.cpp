// Groups that are not compiled yet (Note [Compiling meanwhile]).  On the pretended GPU too, with
// ARGAND_CUDA_COMPILE_MEANWHILE=1; values are compared where there is a real one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "argand/exec/cuda.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/runtime/cuda/background_compiler.h"
#include "argand/runtime/cuda/compiler.h"
#include "argand/runtime/cuda/nvrtc.h"

namespace argand {
namespace {

// A folder for compiled kernels, of this process.
struct CacheFolder {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("argand_meanwhile" + std::to_string(getpid()));
  ~CacheFolder() { std::filesystem::remove_all(path); }
};

class CompileMeanwhile : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!find_backend(kCUDA, &why)) GTEST_SKIP() << why;
    if (!cuda::compiles_meanwhile()) GTEST_SKIP() << "ARGAND_CUDA_COMPILE_MEANWHILE is 0";
    // Nothing was compiled before.  The folder goes when the process ends, after the thread that compiles.
    static const CacheFolder folder;
    folder_ = folder.path;
    setenv("ARGAND_CACHE_DIR", folder_.c_str(), 1);
  }

  // Waits until some kernel more than `before` was compiled by the other thread and is on disk.
  size_t cached() const {
    std::error_code error;
    size_t n = 0;
    for (const auto& f : std::filesystem::directory_iterator(folder_ / "kernels", error))
      n += f.path().extension() == ".cubin";
    return n;
  }
  void wait_until_cached(size_t n) const {
    for (int i = 0; i < 3000 && cached() < n; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_GE(cached(), n);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // from the file to the word that it is done
  }

  std::filesystem::path folder_;
};

// Each of the ops was used alone before, so all of them are ready.
void make_ready(const Tensor& x) {
  const Tensor y = x.exp();
  y.impl().data();
  (x * y).impl().data();
  (x + y).impl().data();
}

std::vector<char> bytes_of(const Tensor& t) {
  const Tensor host = t.cpu();
  const char* p = static_cast<const char*>(host.impl().data());
  return {p, p + host.nbytes()};
}

TEST_F(CompileMeanwhile, TheGroupRunsOpByOpUntilItIsCompiled) {
  const Tensor x = linspace(-1, 1, 1000).cuda();
  make_ready(x);
  const auto group = [&] { return ((x * x).exp() + x) * x; };
  const auto count = [] { return cuda::kernel_counts().compiled; };
  exec::set_window_mode(exec::WindowMode::kEager);
  const std::vector<char> expected = bytes_of(group());
  exec::set_window_mode(exec::WindowMode::kAuto);
  const uint64_t before = count();
  const size_t files = cached();
  EXPECT_EQ(bytes_of(group()), expected);
  EXPECT_EQ(count(), before) << "nothing waited for the compiler";
  wait_until_cached(files + 1);
  EXPECT_EQ(bytes_of(group()), expected);
  EXPECT_EQ(count(), before + 1) << "now it is the group's own kernel";
  EXPECT_EQ(bytes_of(group()), expected);
  EXPECT_EQ(count(), before + 1);
}

// In place, results that stay, temporaries of another dtype, a number.
TEST_F(CompileMeanwhile, WhateverTheGroupWrites) {
  const Tensor x = linspace(-2, 2, 777).cuda();
  const auto run = [&] {
    Tensor y = x.clone(), kept = y * 3;
    y.mul_(kept).add_(1);
    const Tensor half = y.to(kHalf) + 1;
    const Tensor z = half.to(kFloat) * y;
    y.copy_(z - kept);
    return std::vector<std::vector<char>>{bytes_of(y), bytes_of(kept), bytes_of(half), bytes_of(z)};
  };
  exec::set_window_mode(exec::WindowMode::kEager);
  const auto expected = run();
  exec::set_window_mode(exec::WindowMode::kAuto);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(), expected);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

TEST_F(CompileMeanwhile, ManyGroupsAtOnce) {
  const Tensor x = linspace(-1, 1, 100).cuda();
  make_ready(x);
  const auto group = [&](int bits) {
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = bits >> i & 1 ? y * x : y + x;
    return bytes_of(y);
  };
  std::vector<std::vector<char>> first;
  for (int bits = 0; bits < 16; ++bits) first.push_back(group(bits));
  for (int bits = 15; bits >= 0; --bits) EXPECT_EQ(group(bits), first[static_cast<size_t>(bits)]);
}

// The process may end, or have children, at any moment of a compilation: with nothing compiled before, while other
// threads compute, by exit() in any thread.  ARGAND_TEST_EXITS: how many processes.
TEST_F(CompileMeanwhile, ProcessesEndInOrder) {
  const char* exits = std::getenv("ARGAND_TEST_EXITS");
  for (int i = 0; i < (exits ? std::atoi(exits) : 9); ++i) {
    const int wait_ms = i * i * 7 % 350;
    const char* way = std::array{"exit", "return", "exit in a thread"}[static_cast<size_t>(i % 3)];
    const CacheFolder folder{folder_.string() + "_child"};
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      const std::string wait = std::to_string(wait_ms);
      setenv("ARGAND_TEST_WAIT_MS", wait.c_str(), 1);
      setenv("ARGAND_TEST_WAY", way, 1);
      setenv("ARGAND_CACHE_DIR", folder.path.c_str(), 1);
      execl("/proc/self/exe", "argand_cuda_test", "--gtest_filter=CompileMeanwhileChild.*", "--gtest_brief=1",
            "--gtest_also_run_disabled_tests", nullptr);
      _exit(98);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << way << " after " << wait_ms << " ms: " << (WIFSIGNALED(status) ? "signal " : "exit status ")
        << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
}

// Whether a child made by fork() now, which leaves at once by exit(), ends.
bool child_ends() {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::exit(7);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

// One fork in sixty came at a moment when NVRTC held the lock that exit() waits for.
TEST_F(CompileMeanwhile, ChildrenEndWhileNvrtcWorks) {
  std::atomic<int> left{80};
  std::thread compiler([&] {
    const std::string name = "nothing";
    for (; left > 0; --left) cuda::compile_text("__global__ void nothing() {}\n", {&name, 1}, "sm_90");
  });
  bool ended = true;
  while (left > 0 && ended) ended = child_ends();
  compiler.join();
  EXPECT_TRUE(ended);
}

// One group after another, which nobody compiled before, and kernels that are waited for.
void compute_for_ever() {
  std::thread([] {
    const Tensor x = linspace(-1, 1, 1000).cuda();
    for (int bits = 2;; ++bits) {
      Tensor y = x;
      for (int b = bits; b > 1; b >>= 1) y = b & 1 ? y * x : y + x;
      if (bits % 2) y = y.view({10, 100}).softmax(1).mm(x.view({100, 10})).cumsum(0);
      y.cpu();
      if (bits > 1000) bits = 1;
    }
  }).detach();
}

// Ends while the other thread compiles, after a child of its own did.
TEST(CompileMeanwhileChild, DISABLED_Main) {
  const char* wait = std::getenv("ARGAND_TEST_WAIT_MS");
  const char* way = std::getenv("ARGAND_TEST_WAY");
  if (!wait || !way) GTEST_SKIP() << "for ProcessesEndInOrder";
  const Tensor x = ones({100}).cuda();
  make_ready(x);
  for (const Tensor& t : {(x * x).exp(), (x + x).exp(), (x * x + x).exp()}) t.impl().data();
  compute_for_ever();
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(wait)));
  if (std::string(way) == "return") return;
  const int status = child_ends() ? 0 : 5;
  if (std::string(way) == "exit") std::exit(status);
  std::thread([status] {
    ones({10}).cuda();
    std::exit(status);
  }).join();
}

}  // namespace
}  // namespace argand
