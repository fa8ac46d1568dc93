#include "argand/kernels/cpu/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace argand::cpu {
namespace {

// The definition, box by box, in the arithmetic of T.
template <class T>
std::vector<uint8_t> expected(const std::vector<T>& boxes, double threshold) {
  const size_t n = boxes.size() / 4;
  std::vector<uint8_t> kept(n, 1);
  const auto area = [&](const T* b) { return (b[2] - b[0]) * (b[3] - b[1]); };
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < j; ++i) {
      if (!kept[i]) continue;
      const T *a = &boxes[4 * i], *b = &boxes[4 * j];
      const T width = std::max(T(0), std::min(a[2], b[2]) - std::max(a[0], b[0]));
      const T height = std::max(T(0), std::min(a[3], b[3]) - std::max(a[1], b[1]));
      const T both = width * height;
      if (static_cast<double>(both / (area(a) + area(b) - both)) > threshold) kept[j] = 0;
    }
  return kept;
}

// Boxes on a grid, so that many shares are equal to a threshold.
template <class T>
std::vector<T> boxes(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> out;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<T>(random() % 12), y = static_cast<T>(random() % 12);
    out.insert(out.end(), {x, y, x + static_cast<T>(random() % 6 + 1), y + static_cast<T>(random() % 6 + 1)});
  }
  return out;
}

template <class T>
void check(ScalarType type) {
  for (const int64_t n : {0, 1, 2, 7, 60, 1000})
    for (const double threshold : {0.0, 0.1, 0.25, 1.0 / 3, 0.5, 0.7}) {
      const auto b = boxes<T>(n, static_cast<unsigned>(n));
      std::vector<uint8_t> kept(static_cast<size_t>(n), 9);
      keep_apart(type, b.data(), n, threshold, kept.data());
      EXPECT_EQ(kept, expected(b, threshold)) << n << " boxes, threshold " << threshold;
    }
}

TEST(Overlap, KeepsWhatNoBetterBoxOverlaps) {
  check<float>(kFloat);
  check<double>(kDouble);
}

TEST(Overlap, TheFloatThresholdDecidesAsTheDoubleDoes) {
  for (const double threshold : {0.0, 0.1, 0.3, 0.5, 0.7, 1.0 / 3, 2.0 / 3}) {
    const float f = float_threshold(threshold), next = std::nextafter(f, 2.0F);
    EXPECT_LE(static_cast<double>(f), threshold);
    EXPECT_GT(static_cast<double>(next), threshold);
  }
}

}  // namespace
}  // namespace argand::cpu
