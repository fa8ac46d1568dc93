// Decompositions of matrices that are easy and of ones that are not: they multiply back, and vectors are orthonormal.
#include "argand/kernels/cpu/linalg_decompose.h"

#include <gtest/gtest.h>

#include <random>

#include "argand/kernels/cpu/linalg_scalar.h"

namespace argand::cpu::linalg {
namespace {

using Complex = std::complex<double>;
constexpr double kEpsilon = 0x1p-52;

template <class T>
struct Matrix {
  int64_t m, n;
  std::vector<T> a;  // column after column
  Matrix(int64_t rows, int64_t columns) : m(rows), n(columns), a(static_cast<size_t>(rows * columns)) {}
  Matrix(int64_t rows, int64_t columns, std::vector<T> elements) : m(rows), n(columns), a(std::move(elements)) {}
  T& operator()(int64_t i, int64_t j) { return a[static_cast<size_t>(j * m + i)]; }
  T operator()(int64_t i, int64_t j) const { return a[static_cast<size_t>(j * m + i)]; }
};

template <class T>
Matrix<T> product(const Matrix<T>& x, const Matrix<T>& y) {
  Matrix<T> out(x.m, y.n);
  for (int64_t j = 0; j < y.n; ++j)
    for (int64_t k = 0; k < x.n; ++k)
      for (int64_t i = 0; i < x.m; ++i) out(i, j) += x(i, k) * y(k, j);
  return out;
}
template <class T>
Matrix<T> adjoint(const Matrix<T>& x) {
  Matrix<T> out(x.n, x.m);
  for (int64_t i = 0; i < x.m; ++i)
    for (int64_t j = 0; j < x.n; ++j) out(j, i) = conjugated(x(i, j));
  return out;
}
template <class T>
double largest(const Matrix<T>& x) {
  double out = 0;
  for (const T& v : x.a) out = std::max(out, std::abs(v));
  return out;
}
template <class T>
double distance(const Matrix<T>& x, const Matrix<T>& y) {
  double out = 0;
  for (size_t i = 0; i < x.a.size(); ++i) out = std::max(out, std::abs(x.a[i] - y.a[i]));
  return out;
}
template <class T>
Matrix<T> one(int64_t n) {
  Matrix<T> out(n, n);
  for (int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

template <class T>
Matrix<T> random(int64_t m, int64_t n, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal;
  Matrix<T> out(m, n);
  for (T& x : out.a) {
    if constexpr (is_complex_v<T>)
      x = {normal(bits), normal(bits)};
    else
      x = normal(bits);
  }
  return out;
}

// Random ones; of rank 1 and 0, with equal, tiny and huge values, triangles, cycles, and ones that are not
// diagonalizable.
template <class T>
std::vector<Matrix<T>> squares() {
  std::vector<Matrix<T>> out;
  for (const int64_t n : {0, 1, 2, 3, 4, 7, 30, 80}) out.push_back(random<T>(n, n, static_cast<unsigned>(n)));
  out.push_back(one<T>(5));
  out.push_back(Matrix<T>(4, 4));
  out.push_back(product(random<T>(6, 1, 1), random<T>(1, 6, 2)));
  out.push_back(product(random<T>(20, 5, 1), random<T>(5, 20, 2)));
  Matrix<T> jordan(40, 40), cycle(7, 7), beside(6, 6), graded = random<T>(10, 10, 5), triangle = random<T>(12, 12, 6);
  for (int64_t i = 0; i < 40; ++i) {
    jordan(i, i) = 2;
    if (i > 0) jordan(i - 1, i) = 1;
  }
  for (int64_t i = 0; i < 6; ++i) {
    beside(i, i) = i == 2 ? 0 : 1;
    if (i > 0) beside(i - 1, i) = 1;
  }
  for (int64_t i = 0; i < 7; ++i) cycle(i, (i + 1) % 7) = 1;
  for (int64_t j = 0; j < 10; ++j)
    for (int64_t i = 0; i < 10; ++i) graded(i, j) *= std::pow(10.0, -2.0 * static_cast<double>(j));
  for (int64_t j = 0; j < 12; ++j)
    for (int64_t i = j + 1; i < 12; ++i) triangle(i, j) = 0;
  for (const Matrix<T>& x : {jordan, cycle, beside, graded, triangle, adjoint(triangle)}) out.push_back(x);
  for (const double scale : {1e-200, 1e200, 1e-308}) {
    out.push_back(random<T>(6, 6, 9));
    for (T& x : out.back().a) x *= scale;
  }
  return out;
}

template <class T>
void check_singular(const Matrix<T>& a, bool full) {
  SCOPED_TRACE(testing::Message() << a.m << " by " << a.n);
  const double tolerance = 16 * kEpsilon * static_cast<double>(a.m + 1);
  const int64_t width = full ? a.m : a.n;
  Singular<T> x, values;
  ASSERT_TRUE(decompose_singular(a.a, a.m, a.n, true, width, x));
  ASSERT_TRUE(decompose_singular(a.a, a.m, a.n, false, width, values));
  Matrix<T> u(a.m, width, x.u), s(width, a.n), v(a.n, a.n, x.v);
  for (int64_t i = 0; i < a.n; ++i) {
    const double value = x.s[static_cast<size_t>(i)];
    s(i, i) = value;
    EXPECT_GE(value, 0);
    EXPECT_LE(value, x.s[static_cast<size_t>(std::max<int64_t>(i - 1, 0))]);
    EXPECT_NEAR(value, values.s[static_cast<size_t>(i)], tolerance * x.s[0]);
  }
  EXPECT_LE(distance(product(product(u, s), adjoint(v)), a), tolerance * largest(a));
  EXPECT_LE(distance(product(adjoint(u), u), one<T>(width)), tolerance);
  EXPECT_LE(distance(product(adjoint(v), v), one<T>(a.n)), tolerance);
}

template <class T>
void check_hermitian(Matrix<T> a) {
  SCOPED_TRACE(testing::Message() << a.n << " by " << a.n);
  for (int64_t j = 0; j < a.n; ++j) {
    a(j, j) = real_part(a(j, j));
    for (int64_t i = 0; i < j; ++i) a(i, j) = conjugated(a(j, i));
  }
  const double tolerance = 16 * kEpsilon * static_cast<double>(a.n + 1);
  Hermitian<T> x, values;
  ASSERT_TRUE(decompose_hermitian(a.a, a.n, true, x));
  ASSERT_TRUE(decompose_hermitian(a.a, a.n, false, values));
  Matrix<T> v(a.n, a.n, x.vectors), d(a.n, a.n);
  for (int64_t i = 0; i < a.n; ++i) {
    const auto at = static_cast<size_t>(i);
    d(i, i) = x.values[at];
    EXPECT_GE(x.values[at], x.values[i > 0 ? at - 1 : 0]);
    EXPECT_NEAR(x.values[at], values.values[at], tolerance * largest(a));
  }
  EXPECT_LE(distance(product(product(v, d), adjoint(v)), a), tolerance * largest(a));
  EXPECT_LE(distance(product(adjoint(v), v), one<T>(a.n)), tolerance);
}

template <class T>
void check_general(const Matrix<T>& a) {
  SCOPED_TRACE(testing::Message() << a.n << " by " << a.n);
  const double tolerance = 32 * kEpsilon * static_cast<double>(a.n + 1);
  General x;
  ASSERT_TRUE(decompose_general(a.a, a.n, true, x));
  Matrix<Complex> v(a.n, a.n, x.vectors), d(a.n, a.n), wide(a.n, a.n, std::vector<Complex>(a.a.begin(), a.a.end()));
  Complex sum = 0;
  for (int64_t i = 0; i < a.n; ++i) {
    d(i, i) = x.values[static_cast<size_t>(i)];
    sum += d(i, i) - Complex(a(i, i));
    double squares = 0;
    for (int64_t j = 0; j < a.n; ++j) squares += std::norm(v(j, i));
    EXPECT_NEAR(squares, 1, tolerance);
    if (is_complex_v<T> || d(i, i).imag() <= 0) continue;
    EXPECT_EQ(x.values[static_cast<size_t>(i + 1)], std::conj(d(i, i)));
  }
  EXPECT_LE(std::abs(sum), tolerance * largest(a) * static_cast<double>(a.n + 1));
  EXPECT_LE(distance(product(wide, v), product(v, d)), tolerance * largest(a) * static_cast<double>(a.n + 1));
  General values;
  ASSERT_TRUE(decompose_general(a.a, a.n, false, values));
  EXPECT_EQ(values.values, x.values);
}

template <class T>
class Decompose : public testing::Test {};
using Types = testing::Types<double, Complex>;
TYPED_TEST_SUITE(Decompose, Types);

TYPED_TEST(Decompose, SingularValues) {
  for (const auto& a : squares<TypeParam>()) check_singular(a, false);
  for (const auto& [m, n] : {std::pair(3, 0), {5, 1}, {5, 3}, {40, 7}, {90, 80}})
    for (const bool full : {false, true}) check_singular(random<TypeParam>(m, n, 3), full);
}
TYPED_TEST(Decompose, HermitianMatrices) {
  for (const auto& a : squares<TypeParam>()) check_hermitian(a);
}
TYPED_TEST(Decompose, AnyMatrices) {
  for (const auto& a : squares<TypeParam>()) check_general(a);
}

}  // namespace
}  // namespace argand::cpu::linalg
