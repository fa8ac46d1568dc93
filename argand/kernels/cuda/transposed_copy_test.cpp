// Copies by tiles against copies element by element on the host: all element sizes, layouts, ragged edges and offsets.
#include "argand/kernels/cuda/transposed_copy.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "argand/base/str.h"
#include "argand/core/shape.h"
#include "argand/kernels/cuda/device_array.h"

namespace argand::cuda {
namespace {

constexpr PointwiseBody kIdentity = {1, 0, "copy", "(x)", "x", {}, BodyKind::kIdentity};

struct Layout {
  Dims strides;
  int64_t offset, extent;  // elements before the first, and of the whole memory
};

class TransposedCopy : public OnDevice {
 protected:
  int64_t random(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator_);
  }

  // Dimensions in `order`, outermost first, with `gap` unused elements after each line.
  static Layout layout(const Dims& sizes, const Dims& order, int64_t gap, int64_t offset) {
    Layout l{Dims(sizes.size(), 0), offset, 1};
    for (size_t i = order.size(); i-- > 0;) {
      l.strides[order[i]] = l.extent;
      l.extent = l.extent * sizes[order[i]] + (i + 1 == order.size() ? gap : 0);
    }
    l.extent += offset;
    return l;
  }

  Dims random_order(size_t ndim) {
    Dims order;
    for (size_t d = 0; d < ndim; ++d) order.push_back(static_cast<int64_t>(d));
    std::shuffle(order.begin(), order.end(), generator_);
    return order;
  }

  std::vector<unsigned char> random_bytes(int64_t n) {
    std::vector<unsigned char> out(static_cast<size_t>(n));
    for (unsigned char& b : out) b = static_cast<unsigned char>(generator_());
    return out;
  }

  static PointwiseProgram program(const Dims& sizes, ScalarType from, void* in, const Layout& in_layout, ScalarType to,
                                  void* out, const Layout& out_layout) {
    PointwiseProgram p;
    p.sizes = sizes;
    p.values.resize(2);
    p.values[0].dtype = from;
    p.values[0].memory = static_cast<char*>(in) + in_layout.offset * element_size(from);
    p.values[0].strides = in_layout.strides;
    p.values[0].load = true;
    p.values[1].dtype = to;
    p.values[1].memory = static_cast<char*>(out) + out_layout.offset * element_size(to);
    p.values[1].strides = out_layout.strides;
    p.values[1].store = true;
    p.steps.resize(1);
    p.steps[0].body = &kIdentity;
    p.steps[0].compute = compute_type(to);
    p.steps[0].ins.push_back(0);
    p.steps[0].out = 1;
    collapse(p);
    return p;
  }

  // For every index: the offsets of its element in both layouts.
  template <class F>
  static void each_element(const Dims& sizes, const Layout& a, const Layout& b, F f) {
    const int64_t n = numel_of(sizes);
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i, at_a = a.offset, at_b = b.offset;
      for (size_t d = sizes.size(); d-- > 0;) {
        at_a += rest % sizes[d] * a.strides[d];
        at_b += rest % sizes[d] * b.strides[d];
        rest /= sizes[d];
      }
      f(at_a, at_b);
    }
  }

  // Whether the copy used tiles; its result is then checked.
  bool check(const Dims& sizes, ScalarType type, const Layout& in_layout, const Layout& out_layout) {
    const auto size = static_cast<size_t>(element_size(type));
    const std::vector<unsigned char> given = random_bytes(in_layout.extent * element_size(type));
    std::vector<unsigned char> expected = random_bytes(out_layout.extent * element_size(type));
    const DeviceArray<unsigned char> in(given), out(expected);
    if (!transposed_copy(program(sizes, type, in.data(), in_layout, type, out.data(), out_layout))) return false;
    each_element(sizes, in_layout, out_layout, [&](int64_t from, int64_t to) {
      std::memcpy(expected.data() + static_cast<size_t>(to) * size, given.data() + static_cast<size_t>(from) * size,
                  size);
    });
    EXPECT_EQ(expected == out.values(), true)
        << str(type, " of ", sizes, ", strides ", in_layout.strides, " + ", in_layout.offset, " to ",
               out_layout.strides, " + ", out_layout.offset);
    return true;
  }

  std::mt19937 generator_{11};
};

constexpr ScalarType kOfEachSize[] = {kByte, kHalf, kFloat, kDouble, kComplexDouble};

TEST_F(TransposedCopy, CopiesMatricesOfAllElementSizes) {
  for (const ScalarType type : kOfEachSize)
    for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
             {128, 128}, {256, 384}, {100, 260}, {129, 127}, {65, 66}, {31, 1000}, {1000, 3}, {2, 3000}, {17, 513}})
      for (const int64_t gap : {0, 4, 5})
        for (const int64_t offset : {0, 1, 2})
          EXPECT_TRUE(check({rows, columns}, type, layout({rows, columns}, {0, 1}, gap, offset),
                            layout({rows, columns}, {1, 0}, gap, 2 - offset)));
}

TEST_F(TransposedCopy, CopiesAnyLayoutOfManyDimensions) {
  int by_tiles = 0;
  for (int i = 0; i < 400; ++i) {
    const auto ndim = static_cast<size_t>(random(2, 6));
    Dims sizes;
    for (size_t d = 0; d < ndim; ++d) sizes.push_back(random(1, ndim == 2 ? 300 : ndim == 3 ? 50 : 11));
    const Layout in = layout(sizes, random_order(ndim), random(0, 1) * random(0, 8), random(0, 4)),
                 out = layout(sizes, random_order(ndim), random(0, 1) * random(0, 8), random(0, 4));
    by_tiles += check(sizes, kOfEachSize[random(0, 4)], in, out);
  }
  EXPECT_GT(by_tiles, 60);
}

TEST_F(TransposedCopy, ConvertsOnTheWay) {
  const Dims sizes{3, 130, 77};
  const Layout in_layout = layout(sizes, {0, 1, 2}, 0, 0), out_layout = layout(sizes, {0, 2, 1}, 0, 0);
  std::vector<float> given(static_cast<size_t>(in_layout.extent));
  std::uniform_real_distribution<float> uniform(-100, 100);
  for (float& x : given) x = uniform(generator_);
  const DeviceArray<float> in(given);
  const DeviceArray<double> wide(std::vector<double>(given.size()));
  const DeviceArray<BFloat16> narrow(std::vector<BFloat16>(given.size()));
  const DeviceArray<int64_t> whole(std::vector<int64_t>(given.size()));
  EXPECT_TRUE(transposed_copy(program(sizes, kFloat, in.data(), in_layout, kDouble, wide.data(), out_layout)));
  EXPECT_TRUE(transposed_copy(program(sizes, kFloat, in.data(), in_layout, kBFloat16, narrow.data(), out_layout)));
  EXPECT_TRUE(transposed_copy(program(sizes, kFloat, in.data(), in_layout, kLong, whole.data(), out_layout)));
  const std::vector<double> wide_got = wide.values();
  const std::vector<BFloat16> narrow_got = narrow.values();
  const std::vector<int64_t> whole_got = whole.values();
  each_element(sizes, in_layout, out_layout, [&](int64_t from, int64_t to) {
    const float x = given[static_cast<size_t>(from)];
    const auto at = static_cast<size_t>(to);
    ASSERT_EQ(wide_got[at], static_cast<double>(x));
    ASSERT_EQ(static_cast<float>(narrow_got[at]), static_cast<float>(BFloat16(x)));
    ASSERT_EQ(whole_got[at], static_cast<int64_t>(x));
  });
}

TEST_F(TransposedCopy, LeavesOtherProgramsAlone) {
  const DeviceArray<float> memory(std::vector<float>(1 << 16));
  float* const p = memory.data();
  const Layout rows = layout({100, 100}, {0, 1}, 0, 0), columns = layout({100, 100}, {1, 0}, 0, 0);
  EXPECT_FALSE(transposed_copy(program({100, 100}, kFloat, p, rows, kFloat, p + 20000, rows)));
  const Layout broadcast{{0, 1}, 0, 100}, spread{{1, 200}, 0, 20000};
  EXPECT_FALSE(transposed_copy(program({100, 100}, kFloat, p, broadcast, kFloat, p + 20000, columns)));
  EXPECT_TRUE(transposed_copy(program({100, 100}, kFloat, p, rows, kFloat, p + 20000, spread)));
  EXPECT_FALSE(transposed_copy(program({1, 100}, kFloat, p, rows, kFloat, p + 20000, columns)));
}

}  // namespace
}  // namespace argand::cuda
