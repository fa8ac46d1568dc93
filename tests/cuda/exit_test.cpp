// A process that used the GPU may end in any way, with work in flight and tensors that nobody destroyed: it ends at
// once, with the status it was given.  Each way is a test of this binary that is run in a process of its own.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "argand/autograd/engine.h"
#include "argand/exec/cuda_graph.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "tests/cuda/device_fixture.h"

extern char** environ;

namespace argand {
namespace {

// ---- the ways

// Some milliseconds of work that nobody waits for, with gradients, a side stream, page-locked memory and an event.
void start_work() {
  static std::vector<Tensor>& kept = *new std::vector<Tensor>;
  const Tensor w = randn({1024, 1024}, TensorOptions(kCUDA)).requires_grad_();
  Tensor x = w;
  for (int i = 0; i < 20; ++i) x = x.mm(w) * 0.01;
  x.sum().backward();
  const cuda::Stream side = cuda::stream_from_pool();
  side.wait_stream(cuda::current_stream());
  const cuda::StreamGuard on(side);
  kept.push_back(w.grad() * 2);
  kept.push_back(ones({1 << 20}).pin_memory().to(Device(kCUDA), kFloat, true));
}

// Objects of every kind that a program may keep in static variables.
struct Everything {
  nn::Linear layer{8, 8};
  std::unique_ptr<optim::Adam> optimizer;
  Tensor result, pinned;
  cuda::Stream stream = cuda::default_stream();
  cuda::Event event;
  cuda::CUDAGraph graph;
  Everything() {
    layer->to(Device(kCUDA));
    optimizer = std::make_unique<optim::Adam>(layer->parameters());
    const Tensor x = ones({4, 8}, TensorOptions(kCUDA));
    for (int i = 0; i < 5; ++i) {
      optimizer->zero_grad();
      result = layer(x).pow(2).sum();
      result.backward();
      optimizer->step();
    }
    pinned = ones({100}).pin_memory();
    stream = cuda::stream_from_pool();
    event.record(stream);
    {
      const cuda::GraphCapture capture(graph);
      result = x * 2;
    }
    graph.replay();
  }
};

void use_for_ever() {
  std::thread([] {
    for (;;) {
      const Tensor x = randn({512, 512}, TensorOptions(kCUDA));
      x.mm(x).softmax(1).sum();
    }
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

class DISABLED_Way : public ComputingCudaTest {};

TEST_F(DISABLED_Way, ReturnFromMain) { start_work(); }
TEST_F(DISABLED_Way, ReturnWithStatics) {
  static Everything everything;
  thread_local Tensor of_the_thread = ones({4}, TensorOptions(kCUDA)) * 2;
  start_work();
}
TEST_F(DISABLED_Way, ReturnWhileAThreadWorks) { use_for_ever(); }
TEST_F(DISABLED_Way, Exit) {
  static Everything everything;
  start_work();
  std::exit(7);
}
TEST_F(DISABLED_Way, ExitWhileAThreadWorks) {
  use_for_ever();
  std::exit(8);
}
TEST_F(DISABLED_Way, ExitInAThread) {
  static Everything everything;
  start_work();
  std::thread([] {
    start_work();
    std::exit(9);
  }).join();
}
TEST_F(DISABLED_Way, QuickExit) {
  static Everything everything;
  start_work();
  std::quick_exit(10);
}
TEST_F(DISABLED_Way, UnderscoreExit) {
  start_work();
  _exit(11);
}
TEST_F(DISABLED_Way, Exception) {
  static Everything everything;
  start_work();
  throw std::runtime_error("nobody catches this");
}
TEST_F(DISABLED_Way, ExceptionInAThread) {
  start_work();
  std::thread([] {
    start_work();
    throw std::runtime_error("nobody catches this");
  }).join();
}
// The tensors of a thread die when it ends; those of static variables after main, with the device's error pending.
TEST_F(DISABLED_Way, ExitWithABadIndexUnsaid) {
  static const Tensor bad =
      randn({4}, TensorOptions(kCUDA)).index_select(0, full({1}, 9, TensorOptions(kLong).device(kCUDA)));
  std::exit(12);
}

// ---- running them

struct Outcome {
  bool exited = false;
  int status = 0;  // the exit status, or the signal
  double seconds = 0;
};

// With an empty folder of compiled kernels, if one is named, so that kernels are being compiled when the process ends.
Outcome run(const std::string& way, const std::string& empty_cache) {
  const std::string filter = "--gtest_filter=DISABLED_Way." + way;
  const std::string arguments[] = {"/proc/self/exe", filter, "--gtest_also_run_disabled_tests",
                                   "--gtest_catch_exceptions=0", "--gtest_brief=1"};
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;  // without the shard of this process, which might leave the test out
  for (char** e = environ; *e; ++e)
    if (std::string_view(*e).rfind("GTEST_", 0) != 0) environment.push_back(*e);
  std::string more[] = {"ARGAND_CACHE_DIR=" + empty_cache, "ARGAND_KERNEL_PACK=", "ARGAND_CUDA_COMPILE_MEANWHILE=1"};
  if (!empty_cache.empty()) {
    std::erase_if(environment, [](const char* e) {
      const std::string_view name = e;
      return name.rfind("ARGAND_CACHE_DIR=", 0) == 0 || name.rfind("ARGAND_KERNEL_PACK=", 0) == 0 ||
             name.rfind("ARGAND_CUDA_COMPILE_MEANWHILE=", 0) == 0;
    });
    for (std::string& m : more) environment.push_back(m.data());
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0);
  posix_spawn_file_actions_adddup2(&quiet, 1, 2);
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, argv[0], &quiet, nullptr, argv.data(), environment.data()), 0);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (passed() > 120) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {WIFEXITED(status), WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), passed()};
}

class CudaExit : public ComputingCudaTest, public testing::WithParamInterface<std::tuple<const char*, bool, int>> {
 protected:
  static void expect_end(const std::string& empty_cache) {
    const auto [way, exits, status] = GetParam();
    const Outcome outcome = run(way, empty_cache);
    EXPECT_EQ(outcome.exited, exits) << way << ": " << (outcome.exited ? "exit status " : "signal ") << outcome.status;
    EXPECT_EQ(outcome.status, status) << way << " after " << outcome.seconds << " s";
    EXPECT_LT(outcome.seconds, empty_cache.empty() ? 30 : 100) << way;
  }
};

TEST_P(CudaExit, EndsAsItWasTold) { expect_end(""); }
TEST_P(CudaExit, EndsAsItWasToldWhileKernelsAreCompiled) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("argand_exit" + std::to_string(getpid()));
  expect_end(folder.string());
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, CudaExit,
    testing::Values(std::tuple("ReturnFromMain", true, 0), std::tuple("ReturnWithStatics", true, 0),
                    std::tuple("ReturnWhileAThreadWorks", true, 0), std::tuple("Exit", true, 7),
                    std::tuple("ExitWhileAThreadWorks", true, 8), std::tuple("ExitInAThread", true, 9),
                    std::tuple("QuickExit", true, 10), std::tuple("UnderscoreExit", true, 11),
                    std::tuple("Exception", false, SIGABRT), std::tuple("ExceptionInAThread", false, SIGABRT),
                    std::tuple("ExitWithABadIndexUnsaid", true, 12)),
    [](const auto& info) { return std::string(std::get<0>(info.param)); });

}  // namespace
}  // namespace argand
