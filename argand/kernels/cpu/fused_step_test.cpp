#include "argand/kernels/cpu/fused_step.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "argand/kernels/api/fused_step.h"

namespace argand::cpu {
namespace {

constexpr int64_t kNumel = 150001, kPiece = 997;  // more than one thread takes at a time
constexpr size_t kAround = 16;                    // elements after each array, which no step may touch

template <class T>
struct Arrays {
  std::vector<std::vector<T>> all;  // the parameter, its gradient, the states

  explicit Arrays(int states) {
    for (int k = 0; k < states + 2; ++k) {
      std::vector<T> values;
      for (int64_t i = 0; i < kNumel; ++i) values.push_back(static_cast<T>((i * 37 + k * 11) % 101 + 1) / 64);
      values.insert(values.end(), kAround, T(77));
      all.push_back(values);
    }
  }
  // Elements [begin, end).
  StepTensor part(int64_t begin, int64_t end) {
    StepTensor t{all[0].data() + begin, all[1].data() + begin, {}, end - begin};
    for (size_t k = 2; k < all.size(); ++k) t.states[k - 2] = all[k].data() + begin;
    return t;
  }
};

template <class T>
void check(StepKind kind, ScalarType type) {
  const StepCounts counts = step_counts(kind);
  std::vector<double> numbers;
  for (int k = 0; k < counts.numbers; ++k) numbers.push_back(0.25 + k / 16.0);
  Arrays<T> whole(counts.states), pieces(counts.states);
  const StepTensor tensor = whole.part(0, kNumel);
  const StepRun run{kind, numbers.data(), type, &tensor, 1};
  fused_step(&run, 1);
  for (int64_t i = 0; i < kNumel; i += kPiece) {
    const StepTensor part = pieces.part(i, std::min(i + kPiece, kNumel));
    const StepRun one{kind, numbers.data(), type, &part, 1};
    fused_step(&one, 1);
  }
  bool changed = false;
  const Arrays<T> before(counts.states);
  for (size_t k = 0; k < whole.all.size(); ++k) {
    const auto n = static_cast<size_t>(kNumel) * sizeof(T);
    EXPECT_EQ(std::memcmp(whole.all[k].data(), pieces.all[k].data(), n), 0) << "array " << k;
    changed |= std::memcmp(whole.all[k].data(), before.all[k].data(), n) != 0;
    for (size_t i = 0; i < kAround; ++i)
      EXPECT_EQ(whole.all[k][static_cast<size_t>(kNumel) + i], T(77)) << "array " << k;
  }
  EXPECT_TRUE(changed);
  EXPECT_EQ(whole.all[1], before.all[1]) << "a gradient was written";
}

// Every element takes one step, wherever the array is cut, and no element beyond its end changes.
TEST(FusedStep, OfAnArrayAndOfItsPieces) {
  for (int kind = 0; kind < kStepKinds; ++kind) {
    SCOPED_TRACE(kind);
    check<float>(static_cast<StepKind>(kind), kFloat);
    check<double>(static_cast<StepKind>(kind), kDouble);
  }
}

}  // namespace
}  // namespace argand::cpu
