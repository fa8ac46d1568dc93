// Products with every kind of strides, by the library and by our kernels, and the sums of operands, compared with the
// CPU.
#include "argand/kernels/cpu/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "argand/base/str.h"
#include "argand/kernels/api/product_and_sums.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/device_array.h"
#include "argand/kernels/cuda/small_product.h"

namespace argand::cuda {
namespace {

class Product : public OnDevice {
 protected:
  struct Sizes {
    int64_t least_lines, most_lines, least_depth, most_depth;
  };
  // Small products, small products with larger tiles, and products that are not small.
  static constexpr Sizes kSmall{1, 140, 1, 70}, kLargerTiles{80, 140, 150, 200}, kDeep{1, 60, 4097, 4200};

  int64_t random(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator_);
  }

  int64_t random_lines(const Sizes& s, int64_t unit) {
    return std::max(random(s.least_lines, s.most_lines) / unit, int64_t{1}) * unit;
  }

  // Whole numbers, so that float sums are exact whatever their order.
  template <class T>
  std::vector<T> random_values(int64_t n) {
    std::vector<T> out(static_cast<size_t>(n));
    for (T& x : out) x = static_cast<T>(static_cast<int16_t>(random(-9, 9)));
    return out;
  }

  // Row-major, column-major, or with gaps both ways (which cuBLASLt does not take), or one element for all.  Gaps are
  // multiples of `unit`.
  MatrixProduct::Operand random_layout(int64_t rows, int64_t columns, int64_t unit, int64_t& size) {
    const int64_t gap = unit * random(0, 3), kind = random(0, 7);
    MatrixProduct::Operand o{nullptr, columns + gap, 1, 0};
    if (kind >= 3) o.row_stride = 1, o.column_stride = rows + gap;
    if (kind == 6) o.row_stride = 2 * (columns + gap), o.column_stride = 2;
    if (kind == 7) o.row_stride = o.column_stride = 0;
    size = rows * o.row_stride + columns * o.column_stride + unit;
    if (random(0, 1)) o.batch_stride = size;
    return o;
  }

  // Calls the block, or (small) the kernel for small products, then also with sums.
  template <class T>
  void compare(ScalarType dtype, const Sizes& sizes, bool small = false) {
    for (int i = 0; i < 60; ++i) {
      const int64_t unit = random(0, 1) ? 8 : 1;
      MatrixProduct p{};
      p.dtype = dtype;
      p.m = random_lines(sizes, unit), p.n = random_lines(sizes, unit);
      p.k = random(sizes.least_depth, sizes.most_depth), p.batch = i % 3 == 0 ? random(2, 4) : 1;
      if (!small && i % 10 == 0) p.k = 0;
      int64_t a_size = 0, b_size = 0;
      p.a = random_layout(p.m, p.k, unit, a_size);
      p.b = random_layout(p.k, p.n, unit, b_size);
      p.c_row_stride = p.n + random(0, 2);
      p.c_batch_stride = p.m * p.c_row_stride;
      p.alpha = random(1, 2);
      p.beta = random(0, 1);
      const auto a = random_values<T>(p.batch * a_size), b = random_values<T>(p.batch * b_size),
                 bias = random_values<T>(p.n);
      auto c = random_values<T>(p.batch * p.c_batch_stride), sums = random_values<T>(p.m);
      const DeviceArray<T> da(a), db(b), dc(c), dbias(bias), dsums(sums);
      const bool has_bias = p.batch == 1 && random(0, 1), has_sums = small && p.batch == 1 && random(0, 1);
      MatrixProduct on_device = p;
      p.a.data = a.data(), p.b.data = b.data(), p.c = c.data();
      on_device.a.data = da.data(), on_device.b.data = db.data(), on_device.c = dc.data();
      if (has_bias) p.bias = bias.data(), on_device.bias = dbias.data();
      cpu::matrix_product(p);
      if (has_sums) sum_rows(p.a, a, p.k, sums);
      const std::string call =
          str("call ", i, ": ", p.batch, " x ", p.m, " x ", p.n, " x ", p.k, has_sums ? " and sums" : "");
      if (small)
        ASSERT_TRUE(small_product(on_device, has_sums ? dsums.data() : nullptr)) << call;
      else
        blocks::matrix_product.on(Device(kCUDA))(on_device);
      EXPECT_EQ(c, dc.values()) << call;
      EXPECT_EQ(sums, dsums.values()) << call;
    }
  }

  template <class T>
  void sum_rows(const MatrixProduct::Operand& at, const std::vector<T>& a, int64_t k, std::vector<T>& sums) {
    for (size_t row = 0; row < sums.size(); ++row) {
      float sum = 0;
      for (int64_t j = 0; j < k; ++j)
        sum += static_cast<float>(a[static_cast<int64_t>(row) * at.row_stride + j * at.column_stride]);
      sums[row] = static_cast<T>(sum);
    }
  }

  // How often product and sums were made together.
  template <class T>
  int compare_sums(ScalarType dtype, const Sizes& sizes) {
    int together = 0;
    for (int i = 0; i < 40; ++i) {
      MatrixProduct p{};
      p.dtype = dtype;
      p.m = random_lines(sizes, 1), p.n = random_lines(sizes, 1), p.batch = 1;
      p.k = random(sizes.least_depth, sizes.most_depth);
      p.c_row_stride = p.n;
      p.alpha = 1, p.beta = 0;
      // As in linear's gradient: A is a transposed matrix of rows.
      p.a = {nullptr, 1, p.m, 0};
      p.b = {nullptr, p.n, 1, 0};
      const auto a = random_values<T>(p.m * p.k), b = random_values<T>(p.k * p.n);
      std::vector<T> c(static_cast<size_t>(p.m * p.n)), sums(static_cast<size_t>(p.m));
      sum_rows(p.a, a, p.k, sums);
      const DeviceArray<T> da(a), db(b), dc(c), dsums(std::vector<T>(static_cast<size_t>(p.m), T(-1)));
      MatrixProduct on_device = p;
      p.a.data = a.data(), p.b.data = b.data(), p.c = c.data();
      on_device.a.data = da.data(), on_device.b.data = db.data(), on_device.c = dc.data();
      if (!blocks::product_and_sums.on(Device(kCUDA))(on_device, dsums.data())) continue;
      ++together;
      cpu::matrix_product(p);
      EXPECT_EQ(c, dc.values()) << p.m << " x " << p.n << " x " << p.k;
      EXPECT_EQ(sums, dsums.values()) << p.m << " x " << p.n << " x " << p.k;
    }
    return together;
  }

 private:
  std::mt19937 generator_{1};
};

TEST_F(Product, Float) { compare<float>(kFloat, kDeep); }
TEST_F(Product, Double) { compare<double>(kDouble, kDeep); }
TEST_F(Product, Int) { compare<int32_t>(kInt, kSmall); }
TEST_F(Product, Byte) { compare<uint8_t>(kByte, kSmall); }
TEST_F(Product, Long) { compare<int64_t>(kLong, kSmall); }
TEST_F(Product, SmallFloat) { compare<float>(kFloat, kSmall, true); }
TEST_F(Product, SmallFloatInLargerTiles) { compare<float>(kFloat, kLargerTiles, true); }
TEST_F(Product, SmallFloatThroughTheBlock) { compare<float>(kFloat, kSmall); }
TEST_F(Product, SmallDouble) { compare<double>(kDouble, {1, 60, 1, 60}, true); }
TEST_F(Product, SmallHalf) { compare<Half>(kHalf, {1, 100, 1, 8}, true); }  // of more products sums are not exact
TEST_F(Product, FloatAndSums) { EXPECT_GT(compare_sums<float>(kFloat, kDeep), 0); }
TEST_F(Product, DoubleAndSums) { compare_sums<double>(kDouble, kDeep); }
TEST_F(Product, SmallFloatAndSums) { EXPECT_EQ(compare_sums<float>(kFloat, kSmall), 40); }

TEST_F(Product, NotSmall) {
  const auto is_small = [](ScalarType dtype, int64_t m, int64_t n, int64_t k) {
    const DeviceArray<double> a(std::vector<double>(static_cast<size_t>(m * k))),
        b(std::vector<double>(static_cast<size_t>(k * n))), c(std::vector<double>(static_cast<size_t>(m * n)));
    return small_product({.dtype = dtype,
                          .m = m,
                          .n = n,
                          .k = k,
                          .a = {a.data(), k, 1},
                          .b = {b.data(), n, 1},
                          .c = c.data(),
                          .c_row_stride = n},
                         nullptr);
  };
  EXPECT_TRUE(is_small(kFloat, 64, 128, 1568));
  EXPECT_FALSE(is_small(kFloat, 512, 512, 256));
  EXPECT_FALSE(is_small(kHalf, 64, 128, 1568));
  EXPECT_FALSE(is_small(kFloat, 8, 8, 5000));
  EXPECT_FALSE(is_small(kFloat, 8, 8, 0));
  EXPECT_FALSE(is_small(kFloat, 0, 8, 8));
  EXPECT_FALSE(is_small(kInt, 8, 8, 8));
  EXPECT_FALSE(is_small(kComplexFloat, 8, 8, 8));
}

}  // namespace
}  // namespace argand::cuda
