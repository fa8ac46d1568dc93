// Gradients of ranks that are threads, against one process that has the whole batch.
#include "argand/parallel/reducer.h"

#include <gtest/gtest.h>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/parallel/threads_world_test.h"

namespace argand::parallel {
namespace {

using testing::run_ranks;

// Weights of a small net in float64, the same in every rank.
std::vector<Tensor> weights() {
  std::vector<Tensor> all;
  for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{6, 9}, {9, 5}, {5, 1}, {3, 3}})
    all.push_back((arange(n * m, kDouble).reshape({n, m}) * 0.37).sin().set_requires_grad(true));
  return all;
}
Tensor batch(int64_t rows) { return (arange(rows * 6, kDouble).reshape({rows, 6}) * 0.11).cos(); }

// The last weight is in the sum only if it is wanted.
Tensor loss(const std::vector<Tensor>& w, const Tensor& x, bool with_last = false) {
  Tensor sum = x.matmul(w[0]).tanh().matmul(w[1]).tanh().matmul(w[2]).pow(2).mean();
  return with_last ? sum + w[3].pow(2).sum() : sum;
}

std::vector<Tensor> grads_of_one(int64_t rows) {
  const std::vector<Tensor> w = weights();
  loss(w, batch(rows)).backward();
  std::vector<Tensor> grads;
  for (const Tensor& t : w) grads.push_back(t.grad());
  return grads;
}

ReducerOptions small_buckets(size_t bytes) {
  ReducerOptions options;
  options.bucket_bytes = {bytes};
  return options;
}

TEST(Reducer, TheMeanIsThatOfTheWholeBatch) {
  const std::vector<Tensor> expected = grads_of_one(12);
  for (const size_t bytes : {1, 100, 1 << 20})
    for (const int size : {1, 2, 3, 4})
      run_ranks(size, [&](ProcessGroup& group) {
        const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
        const std::vector<Tensor> w = weights();
        Reducer reducer(w, shared, small_buckets(bytes));
        EXPECT_EQ(reducer.buckets().size(), bytes == 1 ? 4u : bytes == 100 ? 3u : 1u);
        for (int step = 0; step < 3; ++step) {
          for (const Tensor& t : w) t.mutable_grad() = Tensor();
          loss(w, batch(12).chunk(group.size())[static_cast<size_t>(group.rank())]).backward();
          for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(allclose(w[i].grad(), expected[i], 1e-12, 1e-14));
          EXPECT_FALSE(w[3].grad().defined());  // no rank used it
          EXPECT_EQ(reducer.unused(), std::vector<size_t>{3});
        }
      });
}

TEST(Reducer, AParameterThatOneRankUsed) {
  run_ranks(3, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    Reducer reducer(w, shared, small_buckets(1));
    loss(w, batch(4), group.rank() == 1).backward();
    EXPECT_TRUE(allclose(w[3].grad(), 2 * w[3].detach() / 3, 1e-15, 0));
    EXPECT_TRUE(reducer.unused().empty());
  });
}

TEST(Reducer, GradientsThatWereNotSentAreSentWithTheNext) {
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights(), alone = weights();
    Reducer reducer(w, shared);
    for (int step = 0; step < 3; ++step) {
      reducer.set_enabled(step == 2);
      loss(w, batch(12).chunk(6)[static_cast<size_t>(2 * step + group.rank())]).backward();
    }
    for (const Tensor& part : batch(12).chunk(6)) (loss(alone, part) / 2).backward();
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(allclose(w[i].grad(), alone[i].grad(), 1e-12, 1e-14));
  });
}

// The last weight is used by the backward that does not send, on both ranks or on one, and not by the one that sends.
TEST(Reducer, WhatOnlyTheBackwardBeforeUsedIsSentToo) {
  for (const bool both : {true, false})
    run_ranks(2, [&](ProcessGroup& group) {
      const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
      const std::vector<Tensor> w = weights();
      Reducer reducer(w, shared);
      reducer.set_enabled(false);
      if (both || group.rank() == 0) (w[3].pow(2).sum() * (group.rank() + 1)).backward();
      reducer.set_enabled(true);
      loss(w, batch(4)).backward();
      EXPECT_TRUE(allclose(w[3].grad(), w[3].detach() * (both ? 3 : 1), 1e-15, 0)) << both;
      EXPECT_TRUE(reducer.unused().empty());
      loss(w, batch(4)).backward();  // no rank has used it since
      EXPECT_EQ(reducer.unused(), std::vector<size_t>{3});
    });
}

TEST(Reducer, GradientsThatAreKeptStayAsTheyAre) {
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    Reducer reducer(w, shared);
    loss(w, batch(4)).backward();
    const Tensor kept = w[0].grad(), copy = kept.clone();
    w[0].mutable_grad() = Tensor();
    (loss(w, batch(4)) * 5).backward();
    EXPECT_TRUE(equal(kept, copy));
  });
}

TEST(Reducer, GradientsHaveTheMemoryOrderOfTheirParameters) {
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const auto x = [](int64_t n) { return (arange(n, kDouble) * 0.3).sin(); };
    const Tensor images = x(4 * 3 * 6 * 6).reshape({4, 3, 6, 6});
    const auto weight = [&] {
      const Tensor w = x(5 * 3 * 3 * 3).reshape({5, 3, 3, 3}).contiguous(MemoryFormat::ChannelsLast);
      return w.set_requires_grad(true);
    };
    const Tensor w = weight(), bias = x(5).set_requires_grad(true), alone = weight();
    Reducer reducer({w, bias}, shared);
    for (int step = 0; step < 2; ++step) {
      w.mutable_grad() = Tensor();
      conv2d(images.chunk(2)[static_cast<size_t>(group.rank())], w, bias).pow(2).mean().backward();
      EXPECT_EQ(w.grad().strides(), w.strides());
    }
    conv2d(images, alone, bias.detach()).pow(2).mean().backward();
    EXPECT_TRUE(allclose(w.grad(), alone.grad(), 1e-12, 1e-14));
  });
}

TEST(Reducer, ABackwardWithinAnother) {
  const std::vector<Tensor> expected = grads_of_one(8);
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    Reducer reducer(w, shared, small_buckets(1));
    // What checkpointing does: the first layer's gradient is computed by a backward within the gradient of another
    // node.
    const Tensor x = batch(8).chunk(2)[static_cast<size_t>(group.rank())], first = x.matmul(w[0]).tanh();
    const Tensor cut = first.detach().set_requires_grad(true);
    cut.register_hook([&](const Tensor& g) { first.backward(g); });
    cut.matmul(w[1]).tanh().matmul(w[2]).pow(2).mean().backward();
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(allclose(w[i].grad(), expected[i], 1e-12, 1e-14)) << i;
  });
}

// Note [Parameters that are used again]: a layer in two parts that are computed again, and, with static_graph, in the
// rest of the graph, too.
TEST(Reducer, BackwardsWithinAnotherUseAParameterSeveralTimes) {
  for (const bool in_the_rest : {false, true}) {
    const auto loss_of = [&](const Tensor& w, const Tensor& x, bool in_parts) {
      std::vector<Tensor> inputs{x};
      for (int i = 0; i < 2; ++i) {
        const Tensor out = inputs.back().matmul(w).tanh();
        inputs.push_back(in_parts ? out.detach().set_requires_grad(true) : out);
        if (in_parts) inputs.back().register_hook([out](const Tensor& g) { out.backward(g); });
      }
      return (in_the_rest ? inputs.back().matmul(w) : inputs.back()).pow(2).mean();
    };
    const auto weight = [] { return (arange(36, kDouble).reshape({6, 6}) * 0.37).sin().set_requires_grad(true); };
    const Tensor alone = weight();
    loss_of(alone, batch(8), false).backward();
    run_ranks(2, [&](ProcessGroup& group) {
      const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
      const Tensor w = weight();
      ReducerOptions options;
      options.static_graph = in_the_rest;
      Reducer reducer({w}, shared, options);
      for (int step = 0; step < 3; ++step) {
        w.mutable_grad() = Tensor();
        loss_of(w, batch(8).chunk(2)[static_cast<size_t>(group.rank())], true).backward();
        EXPECT_TRUE(allclose(w.grad(), alone.grad(), 1e-12, 1e-14)) << in_the_rest << step;
      }
    });
  }
}

TEST(Reducer, EachBucketHasALimitOfItsOwn) {
  run_ranks(1, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    std::vector<Tensor> w;
    for (int i = 0; i < 7; ++i) w.push_back(zeros({1}, kDouble).set_requires_grad(true));
    ReducerOptions options;
    options.bucket_bytes = {8, 16, 24};
    EXPECT_EQ(Reducer(w, shared, options).buckets(), (std::vector<std::vector<size_t>>{{6}, {5, 4}, {3, 2, 1}, {0}}));
    options.bucket_bytes = {0};
    EXPECT_EQ(Reducer(w, shared, options).buckets().size(), 7u);
  });
}

TEST(Reducer, AFailedBackwardIsForgotten) {
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    Reducer reducer(w, shared, small_buckets(1 << 20));
    const Tensor broken = w[2] * 1;
    broken.register_hook([](const Tensor&) { throw Error("in a hook"); });
    EXPECT_THROW((loss(w, batch(4)) + broken.sum()).backward(), Error);
    for (const Tensor& t : w) t.mutable_grad() = Tensor();
    loss(w, batch(8).chunk(2)[static_cast<size_t>(group.rank())]).backward();
    EXPECT_TRUE(allclose(w[0].grad(), grads_of_one(8)[0], 1e-12, 1e-14));
  });
}

TEST(Reducer, AHookReplacesTheMean) {
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    Reducer reducer(w, shared, small_buckets(100));
    std::vector<size_t> seen;
    reducer.set_hook([&](const GradBucket& bucket) -> std::function<Tensor()> {
      seen.push_back(bucket.index);
      EXPECT_EQ(bucket.is_last, bucket.index == 2);
      EXPECT_EQ(bucket.gradients.size(), bucket.parameters.size());
      const WorkPtr work = group.all_reduce({bucket.buffer}, CollectiveReduce::kMax);
      return [work] {
        work->wait();
        return work->result()[0] * 10;
      };
    });
    loss(w, batch(4) * (1 + group.rank())).backward();
    std::vector<Tensor> most;
    for (int r = 0; r < 2; ++r) {
      const std::vector<Tensor> other = weights();
      loss(other, batch(4) * (1 + r)).backward();
      most.push_back(other[0].grad());
    }
    EXPECT_EQ(seen, (std::vector<size_t>{0, 1, 2}));
    EXPECT_TRUE(allclose(w[0].grad(), maximum(most[0], most[1]) * 10, 1e-13, 0));
    EXPECT_FALSE(w[3].grad().defined());
  });
}

TEST(Reducer, MemoryIsUsedAgainIfNobodyHoldsAGradient) {
  run_ranks(2, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    const Reducer reducer(w, shared, small_buckets(100));
    const auto backward = [&] {
      loss(w, batch(4)).backward();
      return w[0].grad().data_ptr();
    };
    const auto zero_grad = [&] {
      for (const Tensor& t : w) t.mutable_grad() = Tensor();
      group.barrier()->wait();  // the group's thread has let go of what it sent
    };
    const void* const first = backward();
    zero_grad();
    EXPECT_EQ(backward(), first);
    const Tensor kept = w[0].grad();
    const Tensor values = kept.clone();
    zero_grad();
    EXPECT_NE(backward(), first);
    EXPECT_TRUE(kept.equal(values));
  });
}

TEST(Reducer, ARankWithoutBatchesSendsZeros) {
  run_ranks(3, [&](ProcessGroup& group) {
    const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
    const std::vector<Tensor> w = weights();
    Reducer reducer(w, shared, small_buckets(100));
    reducer.set_divisor(2);
    if (group.rank() == 2) {
      reducer.shadow();
    } else {
      loss(w, batch(8).chunk(2)[static_cast<size_t>(group.rank())]).backward();
    }
    EXPECT_TRUE(allclose(w[0].grad(), grads_of_one(8)[0], 1e-12, 1e-14));
  });
}

}  // namespace
}  // namespace argand::parallel
