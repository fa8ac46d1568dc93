// A program that runs step by step gives the same bits as the whole program.
#include "argand/exec/steps.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "argand/core/shape.h"
#include "argand/exec/op_info.h"

namespace argand::exec {
namespace {

// An allocator that counts, and can fail.
class CountingAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override {
    if (left-- == 0) throw OutOfMemoryError("none left");
    ++live;
    most = std::max(most, live);
    return ::operator new (nbytes, std::align_val_t{64});
  }
  void deallocate(void* data, size_t) noexcept override {
    --live;
    ::operator delete (data, std::align_val_t{64});
  }
  Device device() const override { return kCPU; }
  int live = 0, most = 0, left = 1000;
};

const PointwiseBody* body(std::string_view name) {
  for (const OpInfo* op : all_ops())
    if (op->name.c_str() == name && op->pointwise) return op->pointwise;
  return nullptr;
}

constexpr int64_t kRows = 7, kColumns = 150;

// Values 0 .. kPlaces - 1 are places in memory: dense, transposed, a row for all, one number.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  PointwiseProgram make(std::vector<std::vector<float>>& memory) {
    PointwiseProgram p{.sizes = {kRows, kColumns}, .values = {}, .steps = {}};
    const Dims layouts[] = {{kColumns, 1}, {1, kRows}, {0, 1}, {0, 0}};
    std::vector<int> readable;
    for (int i = 0; i < 4; ++i) {
      memory.emplace_back(static_cast<size_t>(kRows * kColumns));
      for (float& x : memory.back()) x = std::uniform_real_distribution<float>(-2, 2)(random_);
      p.values.push_back({kFloat, nullptr, layouts[i], true, false, false});
      readable.push_back(i);
    }
    const char* const ops[] = {"add", "mul", "exp", "maximum", "sin"};
    const int steps = 1 + below(9);
    for (int s = 0; s < steps; ++s) {
      ProgramStep step;
      step.body = body(ops[below(5)]);
      step.compute = kFloat;
      for (int i = 0; i < step.body->num_inputs; ++i) step.ins.push_back(readable[below(readable.size())]);
      for (int i = 0; i < step.body->num_scalars; ++i) reinterpret_cast<float*>(step.scalars)[i] = 1.5f;
      step.out = static_cast<int>(p.values.size());
      // A result overwrites place 0 or 1 (which is then not read again), gets a place of its own, or stays a temporary.
      const int kind = s + 1 == steps ? 2 : below(5);
      ProgramValue value{below(3) ? kFloat : kHalf, nullptr, {kColumns, 1}, false, false, false};
      if (kind < 2 && readable[static_cast<size_t>(kind)] == kind) {
        value = {kFloat, nullptr, layouts[kind], false, true, false};
        over_.push_back({step.out, kind});
        readable[static_cast<size_t>(kind)] = step.out;
      } else if (kind <= 2) {
        memory.emplace_back(static_cast<size_t>(kRows * kColumns));
        value.store = true;
        over_.push_back({step.out, static_cast<int>(memory.size()) - 1});
      }
      p.values.push_back(value);
      p.steps.push_back(step);
      readable.push_back(step.out);
    }
    return p;
  }
  void bind(PointwiseProgram& p, std::vector<std::vector<float>>& memory) const {
    for (size_t i = 0; i < 4; ++i) p.values[i].memory = memory[i].data();
    for (const auto& [value, place] : over_)
      p.values[static_cast<size_t>(value)].memory = memory[static_cast<size_t>(place)].data();
  }

 private:
  template <class N>
  int below(N n) {
    return static_cast<int>(random_() % static_cast<unsigned>(n));
  }
  std::mt19937 random_;
  std::vector<std::pair<int, int>> over_;
};

TEST(Steps, GiveTheBitsOfTheWhole) {
  int temporaries = 0, reused = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::vector<std::vector<float>> whole_memory;
    RandomProgram random(seed);
    PointwiseProgram whole = random.make(whole_memory);
    auto steps_memory = whole_memory;
    PointwiseProgram copy = whole;
    random.bind(whole, whole_memory);
    random.bind(copy, steps_memory);
    CountingAllocator allocator;
    Steps steps(copy);
    for (const PointwiseProgram& p : steps.programs()) ASSERT_EQ(p.steps.size(), 1u);
    steps.run(allocator, program_runner(kCPU));
    program_runner(kCPU)(whole);
    for (size_t i = 0; i < whole_memory.size(); ++i)
      ASSERT_EQ(std::memcmp(whole_memory[i].data(), steps_memory[i].data(), whole_memory[i].size() * sizeof(float)), 0)
          << "seed " << seed << ", place " << i;
    EXPECT_EQ(allocator.live, 0);
    temporaries += allocator.most > 0;
    int kept = 0;
    for (const ProgramStep& s : copy.steps) kept += !copy.values[static_cast<size_t>(s.out)].store;
    reused += allocator.most < kept;
  }
  EXPECT_GT(temporaries, 200);
  EXPECT_GT(reused, 50);
}

TEST(Steps, WithoutMemoryNothingRan) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<std::vector<float>> memory;
    RandomProgram random(seed);
    PointwiseProgram p = random.make(memory);
    random.bind(p, memory);
    const auto before = memory;
    for (int left = 0;; ++left) {
      CountingAllocator allocator;
      allocator.left = left;
      Steps steps(p);
      try {
        steps.run(allocator, program_runner(kCPU));
        break;
      } catch (const OutOfMemoryError&) {
        EXPECT_EQ(memory, before);
        EXPECT_EQ(allocator.live, 0);
      }
    }
  }
}

}  // namespace
}  // namespace argand::exec
