// c10d's process groups as programs written for LibTorch use them.  Ranks are threads of this process.
#include <c10/util/tempfile.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <c10d/ProcessGroupMPI.hpp>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace {

using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<Tensors>;

#ifdef __SANITIZE_THREAD__
#define NEEDS_GLOO() GTEST_SKIP() << "libgloo is compiled without the thread sanitizer, which sees races in it"
#else
#define NEEDS_GLOO() \
  if (!argand::parallel::why_no_backend("gloo").empty()) GTEST_SKIP() << argand::parallel::why_no_backend("gloo")
#endif

// f(group) of each rank.
template <class F>
void with_gloo(int size, F f, bool ends_well = true) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(30));
        options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
        const auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store->clone(), rank, size, options);
        f(*group);
        if (ends_well) group->barrier()->wait();
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << rank << ": " << e.what();
      }
    });
  for (std::thread& t : threads) t.join();
}

at::Tensor of(double value) { return torch::full({2}, value); }
double first(const at::Tensor& t) { return t.reshape({-1})[0].item<double>(); }

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const c10::Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ProcessGroup, ReducesWithEachOp) {
  NEEDS_GLOO();
  with_gloo(3, [](c10d::ProcessGroup& group) {
    const auto reduced = [&](const c10d::ReduceOp& op) {
      Tensors tensors = {of(group.getRank() + 2)};  // 2, 3, 4
      c10d::AllreduceOptions options;
      options.reduceOp = op;
      group.allreduce(tensors, options)->wait();
      return first(tensors[0]);
    };
    using Op = c10d::ReduceOp;
    EXPECT_EQ(reduced(Op::SUM), 9);
    EXPECT_EQ(reduced(Op::AVG), 3);
    EXPECT_EQ(reduced(Op::PRODUCT), 24);
    EXPECT_EQ(reduced(Op::MIN), 2);
    EXPECT_EQ(reduced(Op::MAX), 4);
    EXPECT_EQ(reduced(c10d::makePreMulSum(0.5)), 4.5);
    EXPECT_EQ(reduced(c10d::makePreMulSum(torch::tensor(2.0))), 18);
    Tensors bits = {torch::full({1}, 1 << group.getRank(), torch::kLong)};
    c10d::AllreduceOptions options;
    options.reduceOp = Op::BOR;
    group.allreduce(bits, options)->wait();
    EXPECT_EQ(bits[0].item<int64_t>(), 7);
  });
}

TEST(ProcessGroup, CollectivesOfOneTensor) {
  NEEDS_GLOO();
  with_gloo(3, [](c10d::ProcessGroup& group) {
    const int rank = group.getRank();
    EXPECT_EQ(group.getSize(), 3);
    EXPECT_EQ(group.getBackendName(), "gloo");

    Tensors one = {of(rank)};
    c10d::BroadcastOptions from;
    from.rootRank = 1;
    group.broadcast(one, from)->wait();
    EXPECT_EQ(first(one[0]), 1);

    Tensors sum = {of(rank)};
    c10d::ReduceOptions to;
    to.rootRank = 2;
    group.reduce(sum, to)->wait();
    EXPECT_EQ(first(sum[0]), rank == 2 ? 3 : rank);

    Tensors input = {of(rank)};
    TensorLists all = {{of(-1), of(-1), of(-1)}};
    auto work = group.allgather(all, input);
    EXPECT_TRUE(work->wait());
    EXPECT_TRUE(work->isCompleted());
    EXPECT_TRUE(work->isSuccess());
    EXPECT_EQ(work->exception(), nullptr);
    EXPECT_EQ(work->retrieveOpType(), c10d::OpType::ALLGATHER);
    ASSERT_EQ(work->result().size(), 3u);
    for (int r = 0; r < 3; ++r) EXPECT_EQ(first(all[0][static_cast<size_t>(r)]), r);

    c10d::GatherOptions gather;
    gather.rootRank = 1;
    TensorLists gathered;
    if (rank == 1) gathered = {{of(-1), of(-1), of(-1)}};
    group.gather(gathered, input, gather)->wait();
    if (rank == 1) {
      EXPECT_EQ(first(gathered[0][2]), 2);
    }

    c10d::ScatterOptions scatter;
    TensorLists parts;
    if (rank == 0) parts = {{of(10), of(11), of(12)}};
    Tensors part = {of(-1)};
    group.scatter(part, parts, scatter)->wait();
    EXPECT_EQ(first(part[0]), 10 + rank);

    TensorLists addends = {{of(rank), of(rank + 10), of(rank + 20)}};
    group.reduce_scatter(part, addends)->wait();
    EXPECT_EQ(first(part[0]), 3 + 30 * rank);

    Tensors outputs = {of(-1), of(-1), of(-1)}, inputs = {of(rank * 3), of(rank * 3 + 1), of(rank * 3 + 2)};
    group.alltoall(outputs, inputs)->wait();
    for (int r = 0; r < 3; ++r) EXPECT_EQ(first(outputs[static_cast<size_t>(r)]), 3 * r + rank);
  });
}

TEST(ProcessGroup, CollectivesOfFlatTensors) {
  NEEDS_GLOO();
  with_gloo(2, [](c10d::ProcessGroup& group) {
    const int rank = group.getRank();
    at::Tensor input = of(rank), all = torch::zeros({4});
    for (const bool old_name : {true, false}) {
      all.zero_();
      (old_name ? group._allgather_base(all, input) : group.all_gather_single(all, input))->wait();
      EXPECT_TRUE(all.equal(torch::tensor({0.F, 0.F, 1.F, 1.F})));
      at::Tensor halves = torch::arange(4).to(torch::kFloat) * (rank + 1), half = torch::zeros({2});
      (old_name ? group._reduce_scatter_base(half, halves) : group.reduce_scatter_single(half, halves))->wait();
      EXPECT_EQ(first(half), rank == 0 ? 0 : 6);
      // Rank 0 sends 1 row to itself and 2 to rank 1; rank 1 sends 3 and none.
      std::vector<int64_t> sends = rank == 0 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{3, 0};
      std::vector<int64_t> gets = rank == 0 ? std::vector<int64_t>{1, 3} : std::vector<int64_t>{2, 0};
      at::Tensor from = torch::arange(3).to(torch::kFloat) + 10 * rank, to = torch::zeros({rank == 0 ? 4 : 2});
      (old_name ? group.alltoall_base(to, from, gets, sends) : group.all_to_all_single(to, from, gets, sends))->wait();
      EXPECT_TRUE(to.equal(rank == 0 ? torch::tensor({0.F, 10.F, 11.F, 12.F}) : torch::tensor({1.F, 2.F})));
    }
    Tensors several = {of(rank), of(10 * rank)};
    group.allreduce_coalesced(several)->wait();
    EXPECT_EQ(first(several[1]), 10);
    TensorLists lists = {{of(0), of(0)}, {of(0), of(0)}};
    Tensors mine = {of(rank), of(10 * rank)};
    group.allgather_coalesced(lists, mine)->wait();
    EXPECT_EQ(first(lists[1][1]), 10);
    EXPECT_EQ(first(lists[0][1]), 0);
  });
}

TEST(ProcessGroup, Messages) {
  NEEDS_GLOO();
  with_gloo(3, [](c10d::ProcessGroup& group) {
    const int rank = group.getRank();
    if (rank == 0) {
      Tensors got = {of(-1)};
      group.recv(got, 1, 5)->wait();
      EXPECT_EQ(first(got[0]), 1);
      auto any = group.recvAnysource(got, 6);
      any->wait();
      EXPECT_EQ(any->sourceRank(), 2);
      EXPECT_EQ(first(got[0]), 2);
    } else {
      Tensors sent = {of(rank)};
      group.send(sent, 0, rank == 1 ? 5 : 6)->wait();
    }
    c10d::BarrierOptions options;
    group.barrier(options)->wait();
    group.monitoredBarrier(options);
  });
}

TEST(ProcessGroup, WhatItRefuses) {
  NEEDS_GLOO();
  with_gloo(2, [](c10d::ProcessGroup& group) {
    Tensors two = {of(1), of(2)};
    EXPECT_EQ(message_of([&] { group.reduce(two); }), "reduce: expected one tensor, got 2");
    Tensors unlike = {of(1), torch::ones({3})};
    EXPECT_EQ(message_of([&] { group.allreduce(unlike); }),
              "allreduce: expected tensors of one size and dtype, got float32 [2] and, at index 1, float32 [3]");
    Tensors one = {of(1)};
    c10d::AllreduceOptions options;
    c10d::BroadcastOptions root;
    root.rootTensor = 1;
    EXPECT_EQ(message_of([&] { group.broadcast(one, root); }), "broadcast: expected rootTensor to be 0 to 0, got 1");
    TensorLists none;
    EXPECT_EQ(message_of([&] { group.allgather(none, one); }), "allgather: expected one list of tensors, got 0");
    EXPECT_THROW((void)c10d::ReduceOp(c10d::ReduceOp::PREMUL_SUM), c10::Error);
  });
}

TEST(ProcessGroup, AWaitThatEnds) {
  NEEDS_GLOO();
  with_gloo(2, [](c10d::ProcessGroup& group) {
    Tensors one = {of(1)};
    if (group.getRank() == 0) {
      auto work = group.allreduce(one);
      EXPECT_NE(message_of([&] { work->wait(std::chrono::milliseconds(50)); }).find("Operation timed out!"),
                std::string::npos);
      group.barrier();
      work->wait();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      group.allreduce(one)->wait();
      group.barrier()->wait();
    }
    EXPECT_EQ(first(one[0]), 2);
  });
}

TEST(ProcessGroup, TheTimeoutOfOneCall) {
  NEEDS_GLOO();
  with_gloo(
      2,
      [](c10d::ProcessGroup& group) {
        Tensors one = {of(1)};
        c10d::AllreduceOptions options;
        options.timeout = std::chrono::seconds(20);
        group.allreduce(one, options)->wait();
        options.timeout = std::chrono::milliseconds(300);
        if (group.getRank() == 1) std::this_thread::sleep_for(std::chrono::seconds(2));
        const auto begin = std::chrono::steady_clock::now();
        const std::string message = message_of([&] { group.allreduce(one, options)->wait(); });
        EXPECT_NE(message.find("rank 0 has waited for other ranks for 0.3 s in all_reduce"), std::string::npos)
            << message;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
      },
      /*ends_well=*/false);
}

// A message is waited for as long as the group says.
TEST(ProcessGroup, AMessageThatDoesNotCome) {
  NEEDS_GLOO();
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::milliseconds(500));
      c10d::ProcessGroupGloo group(store->clone(), rank, 2, options);
      Tensors one = {of(rank)};
      if (rank == 0) {
        const auto work = group.recv(one, 1, 0);
        const std::string message = message_of([&] { work->wait(); });
        EXPECT_NE(message.find("from rank 1): not finished after 0.5 s"), std::string::npos) << message;
        Tensors answer = {of(7)};
        group.send(answer, 1, 1)->wait();
        EXPECT_TRUE(work->wait());
        EXPECT_EQ(first(one[0]), 1);
      } else {
        group.recv(one, 0, 1)->wait(std::chrono::seconds(20));
        EXPECT_EQ(first(one[0]), 7);
        one[0].fill_(1);
        group.send(one, 0, 0)->wait();
      }
    });
  for (std::thread& t : threads) t.join();
}

// As LibTorch's Gloo: each becomes the result of all.
TEST(ProcessGroup, SeveralTensorsOfAProcess) {
  NEEDS_GLOO();
  with_gloo(2, [](c10d::ProcessGroup& group) {
    const int rank = group.getRank();
    const auto reduced = [&](const c10d::ReduceOp& op) {
      Tensors two = {of(1 + rank), of(10 + rank)};
      c10d::AllreduceOptions options;
      options.reduceOp = op;
      const auto work = group.allreduce(two, options);
      work->wait();
      EXPECT_EQ(work->result().size(), 2u);
      EXPECT_TRUE(torch::equal(two[0], two[1]));
      return first(two[1]);
    };
    EXPECT_EQ(reduced(c10d::ReduceOp::SUM), 24);
    EXPECT_EQ(reduced(c10d::ReduceOp::MAX), 11);
    EXPECT_EQ(reduced(c10d::ReduceOp::AVG), 6);
    EXPECT_EQ(reduced(c10d::makePreMulSum(0.5)), 12);
    Tensors two = {of(1 + rank), torch::full({2, 2}, 10. + rank).select(1, 0)};  // one has a stride
    c10d::BroadcastOptions options;
    options.rootRank = 1;
    options.rootTensor = 1;
    group.broadcast(two, options)->wait();
    EXPECT_EQ(first(two[0]), 11);
    EXPECT_EQ(first(two[1]), 11);
  });
}

TEST(ProcessGroup, Futures) {
  NEEDS_GLOO();
  with_gloo(2, [](c10d::ProcessGroup& group) {
    Tensors one = {of(group.getRank() + 1)};
    if (group.getRank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const c10::intrusive_ptr<c10::ivalue::Future> future = group.allreduce(one)->getFuture();
    const auto half = future->then(
        [](c10::ivalue::Future& sum) {
          return c10::IValue(std::vector<at::Tensor>{sum.value().toTensorVector()[0] / 2});
        },
        future->elementType());
    const auto number = half->thenAsync(
        [](c10::ivalue::Future& f) {
          auto made = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
          made->markCompleted(f.value().toTensorVector()[0].sum());
          return made;
        },
        c10::TensorType::get());
    const auto failed =
        number->then([](c10::ivalue::Future&) -> c10::IValue { throw std::runtime_error("no"); }, c10::NoneType::get());
    std::atomic<bool> called{false};
    future->addCallback([&](c10::ivalue::Future& f) { called = f.hasValue(); });
    failed->wait();
    for (int i = 0; !called && i < 1000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // may come later
    EXPECT_TRUE(called);
    EXPECT_TRUE(future->completed() && future->hasValue() && !future->hasError());
    EXPECT_EQ(first(future->value().toTensorVector()[0]), 3);
    EXPECT_EQ(first(half->value().toTensorVector()[0]), 1.5);
    EXPECT_EQ(number->constValue().toTensor().item<double>(), 3);
    EXPECT_EQ(future->elementType()->str(), "List[Tensor]");
    EXPECT_TRUE(failed->hasError());
    EXPECT_EQ(failed->tryRetrieveErrorMessage(), "no");
    EXPECT_THROW(failed->waitAndThrow(), std::runtime_error);
    EXPECT_THROW(failed->value(), std::runtime_error);
    EXPECT_NE(message_of([&] { number->markCompleted(); }).find("Future can only be marked completed once"),
              std::string::npos);
  });
  c10::ivalue::Future none(c10::NoneType::get());
  EXPECT_FALSE(none.completed());
  EXPECT_NE(message_of([&] { (void)none.value(); }).find("it is not complete"), std::string::npos);
  none.setErrorIfNeeded(std::make_exception_ptr(c10::ivalue::Future::FutureError("first")));
  none.setErrorIfNeeded(std::make_exception_ptr(c10::ivalue::Future::FutureError("second")));
  EXPECT_EQ(none.tryRetrieveErrorMessage(), "first");
}

TEST(ProcessGroup, AFutureOfACallThatFails) {
  NEEDS_GLOO();
  with_gloo(
      2,
      [](c10d::ProcessGroup& group) {
        Tensors one = {torch::ones({2 + group.getRank()})};
        const auto future = group.allreduce(one)->getFuture();
        future->wait();
        EXPECT_NE(future->tryRetrieveErrorMessage().find("different things"), std::string::npos)
            << future->tryRetrieveErrorMessage();
      },
      /*ends_well=*/false);
}

TEST(ProcessGroup, Splits) {
  NEEDS_GLOO();
  with_gloo(4, [](c10d::ProcessGroup& group) {
    const int rank = group.getRank();
    const std::vector<int> mine = rank < 3 ? std::vector<int>{2, 0, 1} : std::vector<int>{3};
    for (int again = 0; again < 2; ++again) {
      const auto part = group.splitGroup(mine, std::chrono::seconds(20), std::nullopt, std::nullopt, "a part");
      EXPECT_EQ(part->getSize(), rank < 3 ? 3 : 1);
      EXPECT_EQ(part->getRank(), rank < 3 ? (rank + 1) % 3 : 0);
      EXPECT_EQ(part->getGroupDesc(), "a part");
      EXPECT_EQ(part->getBackendName(), "gloo");
      Tensors one = {of(rank)};
      part->allreduce(one)->wait();
      EXPECT_EQ(first(one[0]), 3);
      if (rank < 3) {
        const auto pair = part->splitGroup(part->getRank() == 1 ? std::vector<int>{1} : std::vector<int>{0, 2});
        pair->allreduce(one)->wait();
        EXPECT_EQ(first(one[0]), part->getRank() == 1 ? 3 : 6);
      }
    }
    EXPECT_EQ(message_of([&] { group.splitGroup({}); }), "splitGroup: expected at least one rank");
    EXPECT_EQ(message_of([&] {
                group.splitGroup({rank, rank});
              }),
              argand::str("splitGroup: rank ", rank, " is given twice"));
    EXPECT_EQ(message_of([&] { group.splitGroup({rank, 4}); }), "splitGroup: expected ranks to be 0 to 3, got 4");
    EXPECT_EQ(message_of([&] { group.splitGroup({(rank + 1) % 4}); }),
              argand::str("splitGroup: expected this rank, ", rank, ", to be among the ranks"));
    // A group of several backends is split backend by backend.
    c10d::ProcessGroup of_backends(nullptr, rank, 4);
    of_backends.setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::GLOO,
                           group.splitGroup({0, 1, 2, 3}, std::nullopt, std::nullopt, "all"));
    const auto pair = of_backends.splitGroup({rank / 2 * 2, rank / 2 * 2 + 1});
    Tensors one = {of(rank)};
    pair->allreduce(one)->wait();
    EXPECT_EQ(first(one[0]), rank < 2 ? 1 : 5);
    EXPECT_EQ(pair->getBackendType(), c10d::ProcessGroup::GLOO);
  });
}

// A backend that the program itself implements.  It only copies.
class Alone : public c10d::Backend {
 public:
  Alone() : Backend(0, 1) {}
  const std::string getBackendName() const override { return "alone"; }
  c10::intrusive_ptr<c10d::Work> allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    if (options.reduceOp == c10d::ReduceOp::SUM) tensors[0].add_(1);
    return c10::make_intrusive<Done>();
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions&) override {
    output.copy_(input);
    return c10::make_intrusive<Done>();
  }

 private:
  struct Done : c10d::Work {
    Done() { finish(); }
  };
};

TEST(ProcessGroup, BackendsOfTheProgramByDevice) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  c10d::ProcessGroup group(store, 0, 1);
  const c10::intrusive_ptr<c10d::Backend> alone = c10::make_intrusive<Alone>();
  group.setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::CUSTOM, alone);
  EXPECT_EQ(group.getBackendName(), "alone");
  EXPECT_EQ(group.getDefaultBackend().get(), alone.get());
  Tensors one = {of(1)};
  const std::shared_ptr<c10d::ProcessGroup::Work> work = group.allreduce(one);  // as before LibTorch 1.8
  EXPECT_TRUE(work->wait());
  EXPECT_TRUE(work->isSuccess());
  EXPECT_EQ(first(one[0]), 2);
  at::Tensor output = of(0), input = of(3);
  group.all_gather_single(output, input)->wait();  // the other name
  EXPECT_EQ(first(output), 3);
  EXPECT_EQ(message_of([&] { group.reduce_scatter_single(output, input); }),
            "Backend alone does not support reduce_scatter_single");
  EXPECT_EQ(message_of([&] { group.barrier(); }), "Backend alone does not support barrier");
  Tensors meta = {torch::empty({1}, torch::kMeta)};
  EXPECT_NE(message_of([&] { group.allreduce(meta); }).find("no backend for tensors of device type"),
            std::string::npos);
}

TEST(ProcessGroup, NcclSaysWhyNot) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  if (!argand::parallel::why_no_backend("nccl").empty()) {
    EXPECT_EQ(message_of([&] { c10::make_intrusive<c10d::ProcessGroupNCCL>(store, 0, 2); }),
              "ProcessGroupNCCL: " + argand::parallel::why_no_backend("nccl"));
  }
  c10d::ProcessGroupNCCL alone(store, 0, 1);
  EXPECT_EQ(alone.getBackendName(), "nccl");
  Tensors one = {of(4)};
  alone.allreduce(one)->wait();
  EXPECT_EQ(first(one[0]), 4);
}

TEST(ProcessGroup, NcclOnGpus) {
  const std::string why_not = argand::parallel::why_no_backend("nccl");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const torch::Device gpu(torch::kCUDA, static_cast<c10::DeviceIndex>(rank));
        c10d::ProcessGroupNCCL group(store->clone(), rank, 2);
        Tensors one = {of(rank + 1).to(gpu)};
        group.allreduce(one)->wait();
        EXPECT_EQ(first(one[0]), 3);
        TensorLists all = {{of(0).to(gpu), of(0).to(gpu)}};
        Tensors mine = {of(rank).to(gpu)};
        group.allgather(all, mine)->wait();
        EXPECT_EQ(first(all[0][1]), 1);
        group.barrier()->wait();
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << rank << ": " << e.what();
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(ProcessGroup, AGroupThatWasAborted) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  c10d::ProcessGroupGloo group(store, 0, 1);
  group.abort();
  Tensors one = {of(4)};
  EXPECT_NE(message_of([&] { group.allreduce(one); }).find("the process group was destroyed"), std::string::npos);
}

}  // namespace
