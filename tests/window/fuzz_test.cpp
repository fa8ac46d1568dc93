// Random programs give the same bytes with the issue window as without it, and as the model says; and leaving out any
// rule of the window is noticed.
//
// ARGAND_FUZZ_SEED=S runs the program of seed S alone; ARGAND_FUZZ_PROGRAMS=N runs so many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "argand/exec/program_runner.h"
#include "argand/exec/steps.h"
#include "argand/runtime/backend.h"
#include "tests/window/generate.h"

namespace argand::fuzz {
namespace {

#ifdef ARGAND_SANITIZED
constexpr int64_t kPrograms = 1000;  // some 30 times slower, and what a sanitizer looks for is in the first already
#else
constexpr int64_t kPrograms = 4000;
#endif

int64_t env_or(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

Seen replay(const Program& program, exec::WindowMode mode, Threads& threads) {
  Machine machine(threads, mode, program.threaded());
  for (const Call& c : program.calls) machine.run(c);
  machine.finish();
  return machine.seen();
}

// Describes what is wrong with the program; "" if nothing is.  A program that cannot run is not wrong.
std::string complaint(const Program& program, Threads& threads) {
  try {
    Model model;
    Machine eager(threads, exec::WindowMode::kEager, program.threaded());
    for (const Call& c : program.calls) {
      eager.run(c);
      model.run(c, c.out >= 0 ? eager.slot(c.out) : Tensor());
    }
    eager.finish();
    model.finish();
    std::string wrong = difference(model.seen(), eager.seen());
    if (!wrong.empty()) return "eager, " + wrong;
    wrong = difference(model.seen(), replay(program, exec::WindowMode::kAlways, threads));
    return wrong.empty() ? "" : "windowed, " + wrong;
  } catch (const Error&) {
    return "";
  }
}

// The program without the calls that the complaint does not need.
Program shortened(Program program, Threads& threads) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = program.calls.size(); i-- > 0;) {
      Program without = program;
      without.calls.erase(without.calls.begin() + static_cast<std::ptrdiff_t>(i));
      if (complaint(without, threads).empty()) continue;
      program = std::move(without);
      changed = true;
    }
  }
  return program;
}

class MutantScope {
 public:
  explicit MutantScope(exec::Mutant m) { exec::set_window_mutant(m); }
  ~MutantScope() { exec::set_window_mutant(exec::Mutant::kNone); }
};

TEST(WindowFuzz, EveryRunSeesTheSameBytes) {
  Threads threads;
  const uint64_t before = exec::window_stats().elided;
  const int64_t only = env_or("ARGAND_FUZZ_SEED", -1);
  const int64_t count = only >= 0 ? 1 : env_or("ARGAND_FUZZ_PROGRAMS", kPrograms);
  for (int64_t i = 0; i < count; ++i) {
    const auto seed = static_cast<uint64_t>(only >= 0 ? only : i);
    const Generated g = generate(seed, threads);
    std::string wrong = difference(g.expected, g.eager);
    if (wrong.empty()) wrong = difference(g.expected, replay(g.program, exec::WindowMode::kAlways, threads));
    if (wrong.empty()) continue;
    const Program less = shortened(g.program, threads);
    FAIL() << "seed " << seed << ": " << wrong << "\n"
           << to_string(g.program) << "shortened: " << complaint(less, threads) << "\n"
           << to_string(less);
  }
  EXPECT_GT(exec::window_stats().elided, before) << "no program had a temporary that needed no memory";
}

// Runs the ops of a group one by one, as a GPU does while the group's kernel is not compiled yet.
TEST(WindowFuzz, GroupsRunStepByStepSeeThem) {
  Threads threads;
  static const exec::ProgramRunner whole = exec::program_runner(kCPU);
  struct StepByStep {
    StepByStep() {
      exec::register_program_runner(kCPU, [](PointwiseProgram& p) { exec::Steps(p).run(allocator_for(kCPU), whole); });
    }
    ~StepByStep() { exec::register_program_runner(kCPU, whole); }
  };
  for (uint64_t seed = 0; seed < kPrograms / 4; ++seed) {
    const Generated g = generate(seed, threads);
    const StepByStep scope;
    const std::string wrong = difference(g.expected, replay(g.program, exec::WindowMode::kAlways, threads));
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << to_string(g.program);
  }
}

struct NamedMutant {
  exec::Mutant mutant;
  const char* name;
};
class WindowMutants : public testing::TestWithParam<NamedMutant> {};

TEST_P(WindowMutants, IsNoticed) {
  Threads threads;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Generated g = generate(seed, threads);
    const MutantScope scope(GetParam().mutant);
    if (difference(g.expected, replay(g.program, exec::WindowMode::kAlways, threads)).empty()) continue;
    RecordProperty("programs", static_cast<int>(seed) + 1);
    return;
  }
  FAIL() << "no program noticed that the window leaves out the rule of " << GetParam().name;
}

using exec::Mutant;
INSTANTIATE_TEST_SUITE_P(Rules, WindowMutants,
                         testing::Values(NamedMutant{Mutant::kNoReadAfterWrite, "NoReadAfterWrite"},
                                         NamedMutant{Mutant::kNoWriteAfterRead, "NoWriteAfterRead"},
                                         NamedMutant{Mutant::kNoWriteAfterWrite, "NoWriteAfterWrite"},
                                         NamedMutant{Mutant::kElideOwned, "ElideOwned"},
                                         NamedMutant{Mutant::kKeepExposed, "KeepExposed"},
                                         NamedMutant{Mutant::kReadExposedLate, "ReadExposedLate"},
                                         NamedMutant{Mutant::kNoForeignFlush, "NoForeignFlush"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace argand::fuzz
