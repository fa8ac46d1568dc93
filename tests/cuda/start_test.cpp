// The errors of a program where no GPU can be used.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "argand/exec/cuda.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {

TEST(CudaStart, WithoutADeviceTheReasonIsASentence) {
  std::string why;
  if (find_backend(kCUDA, &why)) GTEST_SKIP() << "there is a GPU";
  EXPECT_FALSE(cuda::is_available());
  EXPECT_EQ(cuda::device_count(), 0);
  EXPECT_FALSE(why.empty());
  try {
    zeros({2}, TensorOptions(kCUDA));
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("no cuda device: "), std::string::npos) << e.what();
  }
}

// Runs `body` in a forked child and returns its result, the exit status; -1 if it does not end within 30 s.
template <class Body>
int in_forked_child(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    body();
    _exit(99);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CudaStart, AForkedChildIsToldToBeSpawned) {
  if (!find_backend(kCUDA)) GTEST_SKIP() << "there is no GPU";
  const Tensor x = ones({2}).cuda(), leaf = ones({2}).cuda().requires_grad_(), loss = (leaf * 2).sum();
  const Tensor host = ones({2});
  cuda::synchronize();
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"a copy to the GPU", [&] { host.cuda(); }},
      {"a copy from it", [&] { x.cpu(); }},
      {"item", [&] { x[0].item(); }},
      {"a pointwise op",
       [&] {
         const Tensor y = x * 2;
         cuda::synchronize();
       }},
      {"a kernel", [&] { x.softmax(0); }},
      {"memory", [] { empty({1000}, TensorOptions(kCUDA)).data_ptr(); }},
      {"backward", [&] { loss.backward(); }},
      {"synchronize", [] { cuda::synchronize(); }},
      {"a stream", [] { cuda::stream_from_pool().synchronize(); }},
      {"set_device", [] { cuda::set_device(0); }},
  };
  for (const auto& [name, call] : calls) {
    const int status = in_forked_child([&call = call] {
      try {
        call();
        _exit(1);
      } catch (const DeviceError& e) {
        _exit(std::string(e.what()).find("spawn") == std::string::npos ? 2 : 0);
      } catch (...) {
        _exit(3);
      }
    });
    EXPECT_EQ(status, 0) << name << "; 1: no error, 2: another message, 3: another error";
  }
  EXPECT_EQ((x * 2).cpu().numel(), 2) << "the parent goes on";
}

// Tensors of the parent die in the child, and what waited in the parent's window is the parent's.
TEST(CudaStart, AForkedChildEndsInOrder) {
  if (!find_backend(kCUDA)) GTEST_SKIP() << "there is no GPU";
  Tensor x = ones({1 << 20}).cuda(), waiting = x * 2, pinned = ones({1000}).pin_memory();
  x.softmax(0);
  EXPECT_EQ(in_forked_child([&] {
              x = waiting = pinned = Tensor();
              std::exit((ones({3}) + 1).sum().item().toFloat() == 6 ? 5 : 6);
            }),
            5);
  EXPECT_EQ(waiting.cpu().numel(), 1 << 20);
}

TEST(CudaStart, VersionsAreNumbers) {
  if (!find_backend(kCUDA)) GTEST_SKIP() << "there is no GPU";
  EXPECT_GE(cuda::runtime_version(), 12000);
  EXPECT_TRUE(cuda::driver_version() == 0 || cuda::driver_version() >= 12000) << "none for the dry run";
  EXPECT_TRUE(cuda::cudnn_version() == 0 || cuda::cudnn_version() >= 90000);
}

}  // namespace argand
