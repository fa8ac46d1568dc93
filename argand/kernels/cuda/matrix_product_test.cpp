// Products with every kind of strides, by the library and by the own kernel, and sums made beside them, against the
// CPU.
#include <cmath>
#include <random>

#include "argand/base/str.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/device_array.h"
#include "argand/kernels/product_and_sums.h"

namespace argand::cuda {
namespace {

class Product : public OnDevice {
 protected:
  int64_t random(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator_);
  }

  // Whole numbers, so that float sums are exact whatever their order.
  template <class T>
  std::vector<T> random_values(int64_t n) {
    std::vector<T> out(static_cast<size_t>(n));
    for (T& x : out) x = static_cast<T>(random(-9, 9));
    return out;
  }

  // Row-major, column-major, or with gaps both ways (which cuBLASLt does not take), or one element for all.
  MatrixProduct::Operand random_layout(int64_t rows, int64_t columns, int64_t& size) {
    const int64_t gap = random(0, 3), kind = random(0, 7);
    MatrixProduct::Operand o{nullptr, columns + gap, 1, 0};
    if (kind >= 3) o.row_stride = 1, o.column_stride = rows + gap;
    if (kind == 6) o.row_stride = 2 * (columns + gap), o.column_stride = 2;
    if (kind == 7) o.row_stride = o.column_stride = 0;
    size = rows * o.row_stride + columns * o.column_stride + 1;
    if (random(0, 1)) o.batch_stride = size;
    return o;
  }

  template <class T>
  void compare(ScalarType dtype) {
    for (int i = 0; i < 60; ++i) {
      MatrixProduct p{};
      p.dtype = dtype;
      p.m = random(1, 140), p.n = random(1, 140), p.k = random(0, 70), p.batch = i % 3 == 0 ? random(2, 4) : 1;
      int64_t a_size = 0, b_size = 0;
      p.a = random_layout(p.m, p.k, a_size);
      p.b = random_layout(p.k, p.n, b_size);
      p.c_row_stride = p.n + random(0, 2);
      p.c_batch_stride = p.m * p.c_row_stride;
      p.alpha = random(1, 2);
      p.beta = random(0, 1);
      const auto a = random_values<T>(p.batch * a_size), b = random_values<T>(p.batch * b_size),
                 bias = random_values<T>(p.n);
      auto c = random_values<T>(p.batch * p.c_batch_stride);
      const DeviceArray<T> da(a), db(b), dc(c), dbias(bias);
      const bool has_bias = p.batch == 1 && random(0, 1);
      MatrixProduct on_device = p;
      p.a.data = a.data(), p.b.data = b.data(), p.c = c.data();
      on_device.a.data = da.data(), on_device.b.data = db.data(), on_device.c = dc.data();
      if (has_bias) p.bias = bias.data(), on_device.bias = dbias.data();
      cpu::matrix_product(p);
      blocks::matrix_product.on(Device(kCUDA))(on_device);
      EXPECT_EQ(c, dc.values()) << "call " << i << ": " << p.batch << " x " << p.m << " x " << p.n << " x " << p.k;
    }
  }

  // How often the library made them together.
  template <class T>
  int compare_sums(ScalarType dtype) {
    int together = 0;
    for (int i = 0; i < 40; ++i) {
      MatrixProduct p{};
      p.dtype = dtype;
      p.m = random(1, 140), p.n = random(1, 140), p.k = random(1, 300), p.batch = 1;
      p.c_row_stride = p.n;
      p.alpha = 1, p.beta = 0;
      // As linear's gradient has it: A is the transposed of rows.
      p.a = {nullptr, 1, p.m, 0};
      p.b = {nullptr, p.n, 1, 0};
      const auto a = random_values<T>(p.m * p.k), b = random_values<T>(p.k * p.n);
      std::vector<T> c(static_cast<size_t>(p.m * p.n)), sums(static_cast<size_t>(p.m));
      for (int64_t row = 0; row < p.m; ++row)
        for (int64_t j = 0; j < p.k; ++j) sums[row] += a[j * p.m + row];
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

TEST_F(Product, Float) { compare<float>(kFloat); }
TEST_F(Product, FloatAndSums) { EXPECT_GT(compare_sums<float>(kFloat), 0); }
TEST_F(Product, DoubleAndSums) { compare_sums<double>(kDouble); }
TEST_F(Product, Double) { compare<double>(kDouble); }
TEST_F(Product, Int) { compare<int32_t>(kInt); }
TEST_F(Product, Byte) { compare<uint8_t>(kByte); }
TEST_F(Product, Long) { compare<int64_t>(kLong); }

}  // namespace
}  // namespace argand::cuda
