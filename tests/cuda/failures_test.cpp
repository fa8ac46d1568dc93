// Note [Failures at issue time] on a GPU: whichever launch, compilation or allocation fails, no tensor is silently
// wrong.
#include "argand/exec/program_runner.h"
#include "argand/exec/window.h"
#include "argand/runtime/backend.h"
#include "tests/cuda/device_fixture.h"
#include "tests/devices/failing_program.h"

namespace argand {
namespace {

using namespace argand::testing;

// Stands before the runner of programs: the one with the number `failing` is not issued.
int programs = 0, failing = 0;
exec::ProgramRunner runner = nullptr;
void run_or_fail(PointwiseProgram& program) {
  ARGAND_CHECK(DeviceError, ++programs != failing, program.steps.back().body->name, ": planted failure");
  runner(program);
}

class CudaFailures : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    if (IsSkipped()) return;
    runner = exec::program_runner(kCUDA);
    exec::register_program_runner(kCUDA, run_or_fail);
  }
  void TearDown() override {
    if (!runner) return;
    exec::register_program_runner(kCUDA, runner);
    backend_of(kCUDA).memory(0).fail_allocation(0);
    failing = 0;
  }
  // Runs the program while something fails; how many statements threw, and how many tensors were lost.
  static std::pair<int, int> run_failing() {
    Tensors tensors;
    std::vector<char> runs(program().size(), true);
    run(tensors, gpu(), runs);
    try {
      exec::flush();
    } catch (const Error&) {
    }
    failing = 0;
    backend_of(kCUDA).memory(0).fail_allocation(0);
    int threw = 0;
    for (const char r : runs) threw += !r;
    const int lost = count_lost(tensors, runs, gpu());
    for (auto& [name, t] : tensors)
      EXPECT_EQ(t.fill_(5).sum().item<float>(), 5.0F * static_cast<float>(t.numel())) << name;
    return {threw, lost};
  }
  static Device gpu() { return Device(kCUDA, 0); }
};

TEST_F(CudaFailures, OfLaunches) {
  programs = 0;
  EXPECT_EQ(run_failing(), std::pair(0, 0));
  const int all = programs;
  ASSERT_GT(all, 3);
  int lost = 0;
  for (int i = 1; i <= all; ++i) {
    SCOPED_TRACE(i);
    programs = 0;
    failing = i;
    lost += run_failing().second;
  }
  EXPECT_GT(lost, 0);
}

TEST_F(CudaFailures, OfAllocations) {
  int threw = 0;
  for (int i = 1; i <= 30; ++i) {
    SCOPED_TRACE(i);
    backend_of(kCUDA).memory(0).fail_allocation(i);
    threw += run_failing().first;
  }
  EXPECT_GT(threw, 0);
}

}  // namespace
}  // namespace argand
