// Collectives on a device give what they give in host memory.  Run with the pretended device (ARGAND_CUDA_DRY_RUN=1).
#include "argand/parallel/device_collectives.h"

#include <gtest/gtest.h>

#include "argand/base/env.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/parallel/pretended_communicator_test.h"
#include "argand/parallel/threads_world_test.h"

namespace argand::parallel {
namespace {

class DeviceCollectivesTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!env_flag("ARGAND_CUDA_DRY_RUN", false)) GTEST_SKIP() << "the pretended device needs ARGAND_CUDA_DRY_RUN=1";
    testing::register_pretended();
  }
  static GroupOptions options() {
    GroupOptions options;
    options.device_backend = "pretended";
    return options;
  }
  void run(const std::function<void(ProcessGroup&)>& f) { testing::run_ranks(GetParam(), f, options()); }
};
INSTANTIATE_TEST_SUITE_P(Sizes, DeviceCollectivesTest, ::testing::Values(2, 3, 5));

using Tensors = std::vector<Tensor>;

// The pretended device runs no kernels, but copies.
Tensor on_device(const Tensor& t) { return t.to(Device(kCUDA)); }
Tensors on_device(const Tensors& all) {
  Tensors there;
  for (const Tensor& t : all) there.push_back(on_device(t));
  return there;
}

// Values that differ by rank and `seed`.
Tensor values(const ProcessGroup& g, int64_t n, ScalarType dtype, int seed = 0) {
  return (arange(n, kDouble) * (g.rank() + 1 + seed) + seed + 2).to(dtype);
}

// `call` writes to its tensors: with those on the device they get what those on the host get.
void expect_same(const Tensors& read, const Tensors& written,
                 const std::function<WorkPtr(const Tensors& in, const Tensors& out)>& call) {
  const Tensors in = on_device(read), out = on_device(written);
  call(read, written)->wait();
  const WorkPtr work = call(in, out);
  work->wait();
  EXPECT_TRUE(work->is_success());
  EXPECT_NE(dynamic_cast<DeviceWork*>(work.get()), nullptr) << "went through host memory";
  for (size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(equal(out[i].cpu(), written[i])) << work->call();
}

TEST_P(DeviceCollectivesTest, Reductions) {
  run([](ProcessGroup& g) {
    for (const ScalarType dtype : {kFloat, kDouble, kLong})
      for (const CollectiveReduce kind : {CollectiveReduce::kSum, CollectiveReduce::kAvg, CollectiveReduce::kProduct,
                                          CollectiveReduce::kMin, CollectiveReduce::kMax}) {
        if (kind == CollectiveReduce::kAvg && dtype == kLong) continue;
        expect_same({}, {values(g, 7, dtype), values(g, 30, dtype, 1).view({5, 6})},
                    [&](const Tensors&, const Tensors& out) { return g.all_reduce(out, kind); });
        for (int root = 0; root < g.size(); ++root)
          expect_same({}, {values(g, 9, dtype, root)},
                      [&](const Tensors&, const Tensors& out) { return g.reduce(out, root, kind); });
        Tensors inputs;
        for (int r = 0; r < g.size(); ++r) inputs.push_back(values(g, 4, dtype, r));
        expect_same(inputs, {zeros({4}, dtype)},
                    [&](const Tensors& in, const Tensors& out) { return g.reduce_scatter(out[0], in, kind); });
        expect_same({values(g, 6 * g.size(), dtype)}, {zeros({6}, dtype)},
                    [&](const Tensors& in, const Tensors& out) { return g.reduce_scatter_from(out[0], in[0], kind); });
      }
  });
}

TEST_P(DeviceCollectivesTest, Moves) {
  run([](ProcessGroup& g) {
    const int size = g.size();
    const auto slots = [&](int64_t n) {
      Tensors all;
      for (int r = 0; r < size; ++r) all.push_back(zeros({n}, kHalf));
      return all;
    };
    const auto inputs = [&](int64_t n) {
      Tensors all;
      for (int r = 0; r < size; ++r) all.push_back(values(g, n, kHalf, r));
      return all;
    };
    expect_same({values(g, 5, kHalf)}, slots(5),
                [&](const Tensors& in, const Tensors& out) { return g.all_gather(out, in[0]); });
    expect_same({values(g, 5, kBool)}, {zeros({5 * size}, kBool)},
                [&](const Tensors& in, const Tensors& out) { return g.all_gather_into(out[0], in[0]); });
    expect_same(inputs(3), slots(3), [&](const Tensors& in, const Tensors& out) { return g.all_to_all(out, in); });
    for (int root = 0; root < size; ++root) {
      expect_same({}, {values(g, 4, kHalf), values(g, 2, kHalf, 3)},
                  [&](const Tensors&, const Tensors& out) { return g.broadcast(out, root); });
      const bool is_root = g.rank() == root;
      expect_same({values(g, 3, kHalf)}, is_root ? slots(3) : Tensors(),
                  [&](const Tensors& in, const Tensors& out) { return g.gather(out, in[0], root); });
      expect_same(is_root ? inputs(3) : Tensors(), {zeros({3}, kHalf)},
                  [&](const Tensors& in, const Tensors& out) { return g.scatter(out[0], in, root); });
    }
    // Rank r gets r + 1 rows of each, and one of two elements is a row.
    std::vector<int64_t> from(static_cast<size_t>(size), g.rank() + 1), to;
    int64_t rows = 0;
    for (int r = 0; r < size; ++r) rows += (to.push_back(r + 1), r + 1);
    expect_same({values(g, 2 * rows, kFloat).view({rows, 2})}, {zeros({size * (g.rank() + 1), 2})},
                [&](const Tensors& in, const Tensors& out) { return g.all_to_all_single(out[0], in[0], from, to); });
  });
}

TEST_P(DeviceCollectivesTest, WhatTheEngineCannotGoesThroughHostMemory) {
  run([](ProcessGroup& g) {
    const Tensor t = on_device(values(g, 4, kLong));
    const WorkPtr work = g.all_reduce({t}, CollectiveReduce::kBor);
    work->wait();
    EXPECT_EQ(dynamic_cast<DeviceWork*>(work.get()), nullptr);
    const Tensor host = values(g, 4, kLong);
    g.all_reduce({host}, CollectiveReduce::kBor)->wait();
    EXPECT_TRUE(equal(t.cpu(), host));
    // A call whose tensors are on two devices also goes through host memory.
    Tensors slots(static_cast<size_t>(g.size()), zeros({4}));
    for (Tensor& s : slots) s = zeros({4});
    g.all_gather(slots, on_device(values(g, 4, kFloat)))->wait();
    EXPECT_EQ(slots[1][1].item<float>(), 4);
  });
}

TEST_P(DeviceCollectivesTest, SubgroupsHaveTheirOwn) {
  run([&](ProcessGroup& g) {
    const auto pair = g.subgroup({0, 1}, options());
    ASSERT_EQ(pair != nullptr, g.rank() < 2);
    if (!pair) return;
    expect_same({}, {values(g, 3, kFloat)}, [&](const Tensors&, const Tensors& out) { return pair->all_reduce(out); });
  });
}

TEST_P(DeviceCollectivesTest, DifferentCallsAreAnErrorOnAllRanks) {
  std::atomic<int> failed{0};
  const auto f = [&](ProcessGroup& g) {
    const Tensor t = on_device(zeros({g.rank() == 1 ? 5 : 4}));
    try {
      g.all_reduce({t})->wait();
      ADD_FAILURE() << "ranks with different sizes went on";
    } catch (const BackendError& e) {
      EXPECT_NE(std::string(e.what()).find("float32 [5]"), std::string::npos) << e.what();
      ++failed;
      throw;
    }
  };
  EXPECT_THROW(run(f), BackendError);
  EXPECT_EQ(failed, GetParam());
}

TEST_P(DeviceCollectivesTest, ARankThatLeavesIsNamed) {
  std::atomic<int> named{0};
  const int last = GetParam() - 1;
  const auto f = [&](ProcessGroup& g) {
    g.barrier()->wait();
    if (g.rank() == last) throw Error("this rank ends");
    try {
      g.all_reduce({on_device(zeros({4}))})->wait();
      ADD_FAILURE() << "went on without rank " << last;
    } catch (const PeerLost& e) {
      EXPECT_EQ(e.rank(), last) << e.what();
      ++named;
    }
  };
  EXPECT_THROW(run(f), Error);
  EXPECT_EQ(named, last);
}

TEST(DeviceCollectives, AnEngineThatIsNotHere) {
  try {
    find_communicator("no such backend");
    FAIL();
  } catch (const NotImplementedError& e) {
    EXPECT_NE(std::string(e.what()).find("backend 'no such backend' is not available"), std::string::npos);
  }
}

}  // namespace
}  // namespace argand::parallel
