// Elements that meet at one position on a GPU, of all dtypes, against the CPU.
#include <limits>

#include "argand/base/str.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

constexpr ScalarType kOrdered[] = {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool};

class CudaScatterReduce : public ComputingCudaTest {
 protected:
  // Half of the elements meet in eight of the positions, and some positions are not met.
  static Tensor positions(int64_t n, int64_t size) {
    const Tensor at = randint(size - 2, {n});
    return where(rand({n}) < 0.5, at % 8, at);
  }
  static Tensor numbers(int64_t n, ScalarType type) { return (randn({n}) * 20).abs().to(type); }
};

TEST_F(CudaScatterReduce, GreatestAndLeastAreTheCpus) {
  for (const ScalarType type : kOrdered)
    for (const char* reduce : {"amax", "amin"})
      for (const bool include_self : {true, false})
        for (const int64_t n : {1, 77, 200000}) {
          const Tensor to = numbers(1000, type), at = positions(n, 1000);
          Tensor from = numbers(n, type);
          if (is_floating_point(type)) from = from * randn({n}).sign().to(type);
          const Tensor expected = to.scatter_reduce(0, at, from, reduce, include_self);
          const Tensor found = to.cuda().scatter_reduce(0, at.cuda(), from.cuda(), reduce, include_self);
          EXPECT_TRUE(found.cpu().equal(expected)) << reduce << " " << str(type) << " " << n << " " << include_self;
        }
}

TEST_F(CudaScatterReduce, NanIsGreatestAndLeast) {
  for (const ScalarType type : {kHalf, kBFloat16, kFloat, kDouble})
    for (const char* reduce : {"amax", "amin"})
      for (const double sign : {1.0, -1.0}) {  // of the NaN
        const Tensor nan =
            full({1}, std::copysign(std::numeric_limits<double>::quiet_NaN(), sign), TensorOptions(type));
        const Tensor at = zeros({999}, TensorOptions(kLong)).cuda(), others = randn({998}).to(type);
        const Tensor to = zeros({2}, TensorOptions(type)),
                     all = cat({others.narrow(0, 0, 500), nan, others.narrow(0, 500, 498)});
        EXPECT_TRUE(to.cuda().scatter_reduce(0, at, all.cuda(), reduce)[0].isnan().item<bool>())
            << str(type) << reduce << sign;
        const Tensor from_start = cat({nan, to});
        EXPECT_TRUE(
            from_start.cuda().scatter_reduce(0, at.narrow(0, 0, 998), others.cuda(), reduce)[0].isnan().item<bool>());
      }
}

TEST_F(CudaScatterReduce, ZerosOfBothSignsGiveTheSameBits) {
  const Tensor at = zeros({4096}, TensorOptions(kLong)).cuda();
  const Tensor zeros_of_both = (zeros({4096}) * randn({4096})).cuda();
  for (const char* reduce : {"amax", "amin"})
    for (int i = 0; i < 20; ++i) {
      const Tensor found = full({1}, -INFINITY).cuda().scatter_reduce(0, at, zeros_of_both, reduce, false);
      EXPECT_EQ(found.signbit().item<bool>(), reduce == std::string("amin"));
    }
}

TEST_F(CudaScatterReduce, ProductsSumsAndMeans) {
  for (const ScalarType type : {kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble})
    for (const char* reduce : {"prod", "sum", "mean"})
      for (const bool include_self : {true, false}) {
        const bool whole = is_integral(type), complex = is_complex(type);
        constexpr int64_t kCount = 5000, kSize = 700;
        const ScalarType made = complex ? kComplexDouble : kDouble;
        // Products of numbers of length near 1 stay in range.
        const auto make = [&](int64_t n) {
          const Tensor x = whole ? randint(1, 4, {n}).to(made) : rand({n}).mul(0.1).add(0.95).to(made);
          return (complex ? x * randn({n}, TensorOptions(made)).sgn() : x).to(type);
        };
        const Tensor to = make(kSize), from = make(kCount), at = positions(kCount, kSize);
        const Tensor wide =
            to.to(whole ? type : made).scatter_reduce(0, at, from.to(whole ? type : made), reduce, include_self);
        const Tensor found = to.cuda().scatter_reduce(0, at.cuda(), from.cuda(), reduce, include_self).cpu();
        const Tensor again = to.cuda().scatter_reduce(0, at.cuda(), from.cuda(), reduce, include_self).cpu();
        EXPECT_TRUE(found.equal(again));
        if (whole) {
          EXPECT_TRUE(found.equal(wide)) << reduce << " " << str(type) << " " << include_self;
          continue;
        }
        const double eps = type == kHalf                  ? 0x1p-11
                           : type == kBFloat16            ? 0x1p-8
                           : to_real_type(type) == kFloat ? 0x1p-24
                                                          : 0x1p-53;
        // Up to 400 elements meet.
        const double error = ((found.to(made) - wide).abs() / wide.abs().clamp_min(1e-6)).max().item<double>();
        EXPECT_LT(error,
                  (is_floating_point(type) && type != kFloat && type != kDouble ? 2 : 400) * eps * (complex ? 40 : 4))
            << reduce << " " << str(type) << " " << include_self;
      }
}

// Enough elements for the positions that tiles of them are added up (kernels/cuda/add_at.h): of one range of positions,
// of several or more than a block has threads, with half of the elements in eight positions, and with positions that
// nothing meets.
TEST_F(CudaScatterReduce, ManyThatMeet) {
  for (const ScalarType type : {kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble})
    for (const int64_t size : {3, 512, 513, 5000, 40000, 600000})
      for (const bool uniform : {true, false}) {
        constexpr int64_t kCount = 700001;
        const bool whole = is_integral(type);
        const Tensor at = uniform ? randint(size, {kCount}) : positions(kCount, size), there = at.cuda();
        const auto make = [&](int64_t n) { return (whole ? randint(-3, 4, {n}) : randn({n})).to(type); };
        const Tensor to = make(size), from = make(kCount), wide = from.to(whole ? kLong : kDouble);
        for (const char* reduce : {"sum", "mean"})
          for (const bool include_self : {true, false}) {
            SCOPED_TRACE(str(reduce, " ", type, " into ", size, include_self ? "" : " without self"));
            const Tensor expected = to.to(wide.dtype()).scatter_reduce(0, at, wide, reduce, include_self);
            const Tensor found = to.cuda().scatter_reduce(0, there, from.cuda(), reduce, include_self);
            const Tensor again = to.cuda().scatter_reduce(0, there, from.cuda(), reduce, include_self);
            EXPECT_TRUE(found.equal(again));
            if (whole) {
              EXPECT_TRUE(found.cpu().equal(expected.to(type)));
              continue;
            }
            // Each term of a sum may be rounded some ten times, and the result once, to its dtype.
            const Tensor terms = to.to(kDouble).abs().scatter_reduce(0, at, wide.abs(), reduce, include_self);
            const double eps = type == kHalf       ? 0x1p-11
                               : type == kBFloat16 ? 0x1p-8
                               : type == kFloat    ? 0x1p-24
                                                   : 0x1p-53;
            const Tensor bound = terms * (type == kDouble ? 0x1p-47 : 0x1p-18) + expected.abs() * eps * 1.01 + 1e-30;
            EXPECT_TRUE((found.cpu().to(kDouble) - expected).abs().le(bound).all().item<bool>());
          }
        const Tensor added = to.cuda().index_add(0, there, from.cuda());
        EXPECT_TRUE(added.equal(to.cuda().scatter_add(0, there, from.cuda())));
        EXPECT_TRUE(added.equal(to.cuda().scatter_reduce(0, there, from.cuda(), "sum")));
      }
}

TEST_F(CudaScatterReduce, WhatNothingMeetsKeepsItsBits) {
  const Tensor to = full({5000}, -0.0).cuda(), at = (randint(2000, {700000}) * 2).cuda(), from = zeros({700000}).cuda();
  EXPECT_TRUE(to.scatter_add(0, at, from).slice(0, 4000).signbit().all().item<bool>());
  EXPECT_FALSE(to.scatter_add(0, at, from).slice(0, 0, 4000, 2).signbit().any().item<bool>());
}

TEST_F(CudaScatterReduce, OfManyDimensionsAndSlices) {
  const Tensor to = randn({6, 70, 5}), from = randn({8, 90, 5}), at = randint(70, {5, 80, 4});
  for (const char* reduce : {"amax", "prod", "mean"}) {
    const Tensor expected = to.scatter_reduce(1, at, from, reduce);
    const Tensor found = to.cuda().scatter_reduce(1, at.cuda(), from.cuda(), reduce).cpu();
    EXPECT_TRUE(found.allclose(expected, 1e-5, 1e-6)) << reduce;
  }
  const Tensor rows = randint(6, {40}), source = randn({40, 70, 5});
  EXPECT_TRUE(to.cuda()
                  .index_reduce(0, rows.cuda(), source.cuda(), "amin")
                  .cpu()
                  .equal(to.index_reduce(0, rows, source, "amin")));
}

}  // namespace
}  // namespace argand
