#include "argand/data/dataset.h"

#include <gtest/gtest.h>

#include "argand/core/cpu_generator.h"
#include "argand/data/errors.h"
#include "argand/data/sampler.h"
#include "argand/ops/functions.h"

namespace argand::data {
namespace {

template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor flat = t.reshape({-1});
  std::vector<T> out;
  for (int64_t i = 0; i < flat.numel(); ++i) out.push_back(flat[i].item<T>());
  return out;
}

template <class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.msg();
  }
  return "";
}

TEST(TensorDataset, RowsInAnyLayoutAndDtype) {
  for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble, kLong, kBool, kComplexDouble}) {
    const Tensor data = arange(12).to(dtype).view({3, 4}).t();  // not contiguous
    const TensorDataset set(data, arange(4));
    EXPECT_EQ(set.size(), 4);
    const Example<> batch = set.get_batch({3, 0, 3});
    EXPECT_EQ(batch.data.dtype(), dtype);
    EXPECT_EQ(batch.data.sizes().vec(), (std::vector<int64_t>{3, 3}));
    EXPECT_TRUE(batch.data.equal(stack({data.select(0, 3), data.select(0, 0), data.select(0, 3)})));
    EXPECT_EQ(values<int64_t>(batch.target), (std::vector<int64_t>{3, 0, 3}));
    EXPECT_TRUE(set.get(1).data.equal(data.select(0, 1)));
  }
}

TEST(TensorDataset, BatchesAreCopies) {
  const Tensor data = zeros({2, 2});
  const TensorDataset set(data);
  const Example<> batch = set.get_batch({1});
  batch.data.fill_(5);
  EXPECT_EQ(data.sum().item<double>(), 0);
  EXPECT_FALSE(batch.target.defined());
}

TEST(TensorDataset, EmptyRowsAndNoRows) {
  const TensorDataset thin(zeros({3, 0}), zeros({3}));
  EXPECT_EQ(thin.get_batch({2, 1}).data.sizes().vec(), (std::vector<int64_t>{2, 0}));
  const TensorDataset none(zeros({0, 4}));
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.get_batch({}).data.sizes().vec(), (std::vector<int64_t>{0, 4}));
}

TEST(TensorDataset, WhatDoesNotFit) {
  EXPECT_NE(message([] { TensorDataset(zeros({})); }).find("0-dim"), std::string::npos);
  EXPECT_NE(message([] { TensorDataset(zeros({3}), zeros({4})); }).find("data has 3 examples"), std::string::npos);
  EXPECT_NE(message([] { TensorDataset(zeros({3}), zeros({})); }), "");
  const TensorDataset set(zeros({3}));
  for (const int64_t wrong : {-1, 3})
    EXPECT_EQ(message([&] {
                set.get_batch({0, wrong});
              }),
              str("TensorDataset: index ", wrong, " is out of range for 3 examples"));
}

TEST(MapDataset, SeesBatchesAlsoForOneSample) {
  const auto rows = std::make_shared<TensorDataset>(arange(6).view({3, 2}), arange(3));
  const MapDataset set(rows, [](Example<> e) {
    EXPECT_EQ(e.data.dim(), 2);
    return Example<>{e.data.to(kFloat).mul(0.5), e.target.add(10)};
  });
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(values<double>(set.get(2).data), (std::vector<double>{2, 2.5}));
  EXPECT_EQ(set.get(2).target.item<int64_t>(), 12);
  EXPECT_EQ(values<int64_t>(set.get_batch({0, 2}).target), (std::vector<int64_t>{10, 12}));
}

TEST(Subset, OrderRepetitionAndBounds) {
  const auto rows = std::make_shared<TensorDataset>(arange(5), arange(5).mul(2));
  const Subset set(rows, {4, 1, 1});
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.get(0).data.item<int64_t>(), 4);
  EXPECT_EQ(values<int64_t>(set.get_batch({2, 0}).target), (std::vector<int64_t>{2, 8}));
  EXPECT_EQ(message([&] { Subset(rows, {0, 5}); }), "Subset: index 5 is out of range for 5 examples");
  EXPECT_EQ(message([&] { Subset(rows, {-1}); }), "Subset: index -1 is out of range for 5 examples");
}

// Samples whose shape is their index, to be stacked by the base class.
class Growing final : public AnyDataset {
 public:
  int64_t size() const override { return 4; }
  Example<> get(int64_t i) const override { return {zeros({i < 3 ? 2 : 3}), {}}; }
};

TEST(Dataset, SamplesOfOneBatchHaveOneShape) {
  const Growing set;
  EXPECT_EQ(set.get_batch({0, 1, 2}).data.sizes().vec(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(message([&] {
              set.get_batch({0, 3});
            }),
            "DataLoader: sample 3 does not have the shape [2] of the first sample of its batch");
}

TEST(Sampler, RandomOrderIsThatOfRandperm) {
  RandomSampler sampler(make_cpu_generator(3));
  EXPECT_EQ(sampler.next_order(10), values<int64_t>(randperm(10, make_cpu_generator(3))));
  manual_seed(3);
  RandomSampler by_default;
  EXPECT_EQ(by_default.next_order(10), values<int64_t>(randperm(10, make_cpu_generator(3))));
  EXPECT_EQ(by_default.next_order(0), std::vector<int64_t>{});
  EXPECT_EQ(SequentialSampler().next_order(3), (std::vector<int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace argand::data
