// Collectives of ranks that are threads, against what each op says.
#include "argand/parallel/process_group.h"

#include <gtest/gtest.h>

#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/parallel/threads_world_test.h"

namespace argand::parallel {
namespace {

using testing::run_ranks;

// The tensor of a rank.  Each rank has other values; they are whole numbers, so that sums are exact.
Tensor of_rank(int rank, IntArrayRef sizes, ScalarType dtype = kFloat) {
  return (arange(empty(sizes).numel(), kLong) % 7 + rank + 1).to(dtype).reshape(sizes);
}

bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && equal(a, b); }

class Collectives : public ::testing::TestWithParam<std::tuple<int, int64_t>> {
 protected:
  int size() const { return std::get<0>(GetParam()); }
  int64_t n() const { return std::get<1>(GetParam()); }
};

TEST_P(Collectives, AllReduce) {
  run_ranks(size(), [&](ProcessGroup& group) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kLong, kByte, kComplexFloat}) {
      Tensor sum = zeros({n()}, dtype), got = of_rank(group.rank(), {n()}, dtype);
      for (int r = 0; r < group.size(); ++r) sum += of_rank(r, {n()}, dtype);
      group.all_reduce({got})->wait();
      EXPECT_TRUE(same(got, sum)) << str(dtype, " ", n());
    }
  });
}

TEST_P(Collectives, AllReduceOfEachKind) {
  run_ranks(size(), [&](ProcessGroup& group) {
    std::vector<Tensor> all;
    for (int r = 0; r < group.size(); ++r) all.push_back(of_rank(r, {n()}, kLong));
    const Tensor stacked = stack(all);
    const auto reduced = [&](CollectiveReduce kind) {
      const Tensor got = of_rank(group.rank(), {n()}, kLong);
      group.all_reduce({got}, kind)->wait();
      return got;
    };
    EXPECT_TRUE(same(reduced(CollectiveReduce::kProduct), stacked.prod(0)));
    EXPECT_TRUE(same(reduced(CollectiveReduce::kMin), stacked.amin(0)));
    EXPECT_TRUE(same(reduced(CollectiveReduce::kMax), stacked.amax(0)));
    Tensor band = all[0], bor = all[0], bxor = all[0];
    for (int r = 1; r < group.size(); ++r) {
      band = bitwise_and(band, all[static_cast<size_t>(r)]);
      bor = bitwise_or(bor, all[static_cast<size_t>(r)]);
      bxor = bitwise_xor(bxor, all[static_cast<size_t>(r)]);
    }
    EXPECT_TRUE(same(reduced(CollectiveReduce::kBand), band));
    EXPECT_TRUE(same(reduced(CollectiveReduce::kBor), bor));
    EXPECT_TRUE(same(reduced(CollectiveReduce::kBxor), bxor));
    const Tensor mean = of_rank(group.rank(), {n()}, kDouble);
    group.all_reduce({mean}, CollectiveReduce::kAvg)->wait();
    EXPECT_TRUE(allclose(mean, stacked.to(kDouble).mean(0), 1e-14, 0));
    const Tensor scaled = of_rank(group.rank(), {n()}, kDouble);
    group.all_reduce({scaled}, ReduceOp(CollectiveReduce::kPremulSum, 0.5))->wait();
    EXPECT_TRUE(same(scaled, stacked.to(kDouble).sum(0) * 0.5));
  });
}

TEST_P(Collectives, OfOneRoot) {
  run_ranks(size(), [&](ProcessGroup& group) {
    for (int root = 0; root < group.size(); ++root) {
      const Tensor sent = of_rank(group.rank(), {n()});
      group.broadcast({sent}, root)->wait();
      EXPECT_TRUE(same(sent, of_rank(root, {n()})));

      Tensor sum = zeros({n()});
      for (int r = 0; r < group.size(); ++r) sum += of_rank(r, {n()});
      const Tensor reduced = of_rank(group.rank(), {n()});
      group.reduce({reduced}, root)->wait();
      EXPECT_TRUE(same(reduced, group.rank() == root ? sum : of_rank(group.rank(), {n()})));

      std::vector<Tensor> gathered, given;
      for (int r = 0; r < group.size() && group.rank() == root; ++r) {
        gathered.push_back(zeros({n()}));
        given.push_back(of_rank(r + 10, {n()}));
      }
      group.gather(gathered, of_rank(group.rank(), {n()}), root)->wait();
      for (size_t r = 0; r < gathered.size(); ++r) EXPECT_TRUE(same(gathered[r], of_rank(static_cast<int>(r), {n()})));
      const Tensor got = zeros({n()});
      group.scatter(got, given, root)->wait();
      EXPECT_TRUE(same(got, of_rank(group.rank() + 10, {n()})));
    }
  });
}

TEST_P(Collectives, OfAll) {
  run_ranks(size(), [&](ProcessGroup& group) {
    const int size = group.size(), me = group.rank();
    std::vector<Tensor> gathered, sent, received;
    for (int r = 0; r < size; ++r) {
      gathered.push_back(zeros({n() + r}));  // of another size for each rank
      sent.push_back(of_rank(10 * me + r, {n() + r}));
      received.push_back(zeros({n() + me}));
    }
    group.all_gather(gathered, of_rank(me, {n() + me}))->wait();
    for (int r = 0; r < size; ++r) EXPECT_TRUE(same(gathered[static_cast<size_t>(r)], of_rank(r, {n() + r})));
    group.all_to_all(received, sent)->wait();
    for (int r = 0; r < size; ++r)
      EXPECT_TRUE(same(received[static_cast<size_t>(r)], of_rank(10 * r + me, {n() + me})));

    const Tensor joined = zeros({size, n()});
    group.all_gather_into(joined, of_rank(me, {n()}))->wait();
    for (int r = 0; r < size; ++r) EXPECT_TRUE(same(joined[r], of_rank(r, {n()})));

    Tensor sum = zeros({size, n()});
    for (int r = 0; r < size; ++r) sum += of_rank(r, {size, n()});
    const Tensor part = zeros({n()});
    group.reduce_scatter_from(part, of_rank(me, {size, n()}))->wait();
    EXPECT_TRUE(same(part, sum[me]));
    const Tensor again = zeros({n()});
    group.reduce_scatter(again, of_rank(me, {size, n()}).unbind())->wait();
    EXPECT_TRUE(same(again, sum[me]));
    // The parts of the ranks may differ in size; the first is the shortest, the last is sent in several segments.
    const auto length = [](int r) { return int64_t{100'000} * r + 1; };
    std::vector<Tensor> uneven;
    Tensor mine = zeros({length(me)});
    for (int r = 0; r < size; ++r) {
      uneven.push_back(of_rank(10 * me + r, {length(r)}));
      mine += of_rank(10 * r + me, {length(me)});
    }
    const Tensor scattered = zeros({length(me)});
    group.reduce_scatter(scattered, uneven)->wait();
    EXPECT_TRUE(same(scattered, mine));
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 7),
                                            // empty, less than ranks, one step, two steps, pieces
                                            ::testing::Values(0, 1, 5, 1000, 5003, 70001)));

TEST(ProcessGroup, RowsByRank) {
  run_ranks(3, [](ProcessGroup& group) {
    const int me = group.rank();
    const Tensor out = zeros({3, 2}), in = of_rank(me, {3, 2});
    group.all_to_all_single(out, in, {}, {})->wait();
    for (int r = 0; r < 3; ++r) EXPECT_TRUE(same(out[r], of_rank(r, {3, 2})[me]));
    // Rank r sends j rows to rank j.
    const Tensor rows = of_rank(me, {3, 2}), got = zeros({3 * me, 2});
    group.all_to_all_single(got, rows, std::vector<int64_t>(3, me), {0, 1, 2})->wait();
    for (int r = 0; r < 3 && me > 0; ++r)
      EXPECT_TRUE(same(got.narrow(0, r * me, me), of_rank(r, {3, 2}).narrow(0, me == 1 ? 0 : 1, me)));
  });
}

// The bits do not depend on where an element lies, how many others are sent with it, or on timing.
TEST(ProcessGroup, TheSameBitsForAnyMessage) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf}) {
    run_ranks(5, [&](ProcessGroup& group) {
      manual_seed(group.rank());
      const Tensor values = randn({40000}).to(dtype), whole = values.clone();
      group.all_reduce({whole})->wait();
      for (const int64_t length : {1, 77, 3000, 20000}) {
        const Tensor part = values.narrow(0, 12345, length).clone();
        group.all_reduce({part})->wait();
        EXPECT_TRUE(same(part, whole.narrow(0, 12345, length)));
      }
      const Tensor scattered = empty({8000}, dtype);
      group.reduce_scatter_from(scattered, values)->wait();
      EXPECT_TRUE(same(scattered, whole.narrow(0, group.rank() * 8000, 8000)));
    });
  }
}

TEST(ProcessGroup, TensorsOfAnyLayout) {
  run_ranks(2, [](ProcessGroup& group) {
    const Tensor base = of_rank(group.rank(), {4, 6}), turned = base.t();
    group.all_reduce({turned})->wait();
    EXPECT_TRUE(same(base, of_rank(0, {4, 6}) + of_rank(1, {4, 6})));
    const Tensor column = zeros({5, 2});
    group.all_gather_into(column.select(1, 0).narrow(0, 0, 4), of_rank(group.rank(), {2}))->wait();
    EXPECT_TRUE(same(column.select(1, 0).narrow(0, 2, 2), of_rank(1, {2})));
    EXPECT_EQ(column.select(1, 1).sum().item<float>(), 0);
  });
}

TEST(ProcessGroup, ManyAtOnce) {
  run_ranks(3, [](ProcessGroup& group) {
    std::vector<Tensor> tensors;
    std::vector<WorkPtr> works;
    for (int i = 0; i < 100; ++i) {
      tensors.push_back(full({i * 10}, group.rank() + i, kLong));
      works.push_back(group.all_reduce({tensors.back()}));
    }
    for (int i = 0; i < 100; ++i) {
      works[static_cast<size_t>(i)]->wait();
      EXPECT_TRUE(works[static_cast<size_t>(i)]->is_success());
      EXPECT_TRUE(same(tensors[static_cast<size_t>(i)], full({i * 10}, 3 + 3 * i, kLong)));
    }
  });
}

TEST(ProcessGroup, Messages) {
  run_ranks(3, [](ProcessGroup& group) {
    const int me = group.rank();
    if (me == 0) {
      const Tensor first = zeros({3}), second = zeros({2}), any = zeros({1});
      const WorkPtr b = group.receive(second, 1, 7), a = group.receive(first, 1);
      a->wait();
      b->wait();
      EXPECT_EQ(a->source_rank(), 1);
      EXPECT_TRUE(same(first, of_rank(1, {3})));
      EXPECT_TRUE(same(second, of_rank(2, {2})));
      const WorkPtr work = group.receive(any, -1, 3);
      work->wait();
      EXPECT_EQ(work->source_rank(), 2);
      EXPECT_EQ(any.item<float>(), 42);
      for (int i = 0; i < 50; ++i) {  // in the order in which they were sent
        const Tensor one = zeros({1});
        group.receive(one, 2)->wait();
        EXPECT_EQ(one.item<float>(), i);
      }
      const Tensor wrong = zeros({5});
      try {
        group.receive(wrong, 1)->wait();
        ADD_FAILURE() << "took a message of another size";
      } catch (const ShapeError& e) {
        EXPECT_STREQ(e.what(), "recv(float32 [5], from rank 1): rank 1 of the world has sent 2 elements");
      }
      try {
        group.receive(zeros({2}, kLong), 1, 9)->wait();
        ADD_FAILURE() << "took a message of another dtype";
      } catch (const DtypeError& e) {
        EXPECT_STREQ(e.what(), "recv(int64 [2], from rank 1): rank 1 of the world has sent float32");
      }
    } else if (me == 1) {
      group.send(of_rank(1, {3}), 0)->wait();
      group.send(of_rank(2, {2}), 0, 7)->wait();
      group.send(zeros({2}), 0)->wait();
      group.send(zeros({4}), 0, 9)->wait();
    } else {
      group.send(full({1}, 42.f), 0, 3)->wait();
      for (int i = 0; i < 50; ++i) group.send(full({1}, static_cast<float>(i)), 0)->wait();
    }
  });
}

TEST(ProcessGroup, Subgroups) {
  run_ranks(4, [](ProcessGroup& group) {
    const int me = group.rank();
    const auto odd = group.subgroup({1, 3}, {}), turned = group.subgroup({3, 2, 0}, {});
    EXPECT_EQ(odd != nullptr, me % 2 == 1);
    EXPECT_EQ(turned != nullptr, me != 1);
    if (odd) {
      EXPECT_EQ(odd->rank(), me / 2);
      const Tensor t = full({3}, me);
      odd->all_reduce({t})->wait();
      EXPECT_EQ(t[0].item<int>(), 4);
    }
    if (turned) {
      EXPECT_EQ(turned->world_ranks(), (std::vector<int>{3, 2, 0}));
      const Tensor t = full({1}, me);
      turned->broadcast({t}, 0)->wait();
      EXPECT_EQ(t.item<int>(), 3);
    }
    if (me == 1 || me == 2) {  // known to its members alone
      const auto pair = group.subgroup({1, 2}, {}, "pair");
      const Tensor t = full({1}, me);
      pair->all_reduce({t})->wait();
      EXPECT_EQ(t.item<int>(), 3);
    }
  });
}

// ---- what goes wrong

std::string failure_of(ProcessGroup& group, const std::function<WorkPtr()>& call) {
  try {
    call()->wait();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "rank " << group.rank() << ": nothing was thrown";
  return "";
}

void without_barrier(int size, const std::function<void(ProcessGroup&)>& f, GroupOptions options = {}) {
  EXPECT_THROW(run_ranks(size, f, options), Error);  // the barrier of run_ranks
}

TEST(ProcessGroup, DifferentCallsAreAnErrorOnAllRanks) {
  const auto start = std::chrono::steady_clock::now();
  without_barrier(4, [](ProcessGroup& group) {
    const Tensor t = zeros({group.rank() == 2 ? 3 : 2});
    set_call_site(str("train.py:", group.rank()));
    const std::string text = failure_of(group, [&] { return group.all_reduce({t}); });
    EXPECT_NE(text.find("the ranks of the group call different things"), std::string::npos) << text;
    EXPECT_NE(text.find("[3]) at train.py:2"), std::string::npos) << text;
    EXPECT_NE(text.find("[2]) at train.py:"), std::string::npos) << text;
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

// Each half passes the comparison with a neighbour, and must not take the other half's messages for its own.
TEST(ProcessGroup, TwoHalvesThatDiffer) {
  without_barrier(4, [](ProcessGroup& group) {
    const Tensor t = zeros({group.rank() == 1 || group.rank() == 2 ? 5000 : 2});
    const std::string text = failure_of(group, [&] { return group.all_reduce({t}); });
    EXPECT_NE(text.find("the ranks of the group call different things"), std::string::npos) << text;
  });
}

TEST(ProcessGroup, AnotherCollectiveIsAnError) {
  without_barrier(2, [](ProcessGroup& group) {
    const Tensor t = zeros({2});
    const std::string text =
        failure_of(group, [&] { return group.rank() == 0 ? group.all_reduce({t}) : group.broadcast({t}, 0); });
    EXPECT_NE(text.find("all_reduce(SUM, "), std::string::npos) << text;
    EXPECT_NE(text.find("broadcast(from rank 0, "), std::string::npos) << text;
    EXPECT_NE(failure_of(group, [&] { return group.barrier(); }).find("different things"), std::string::npos);
  });
}

TEST(ProcessGroup, SizesThatDoNotFitAreAnErrorOnAllRanks) {
  without_barrier(3, [](ProcessGroup& group) {
    std::vector<Tensor> out(3, Tensor()), in;
    for (Tensor& t : out) t = zeros({group.rank() == 1 ? 5 : 4});
    for (int r = 0; r < 3; ++r) in.push_back(zeros({4}));
    const std::string text = failure_of(group, [&] { return group.all_to_all(out, in); });
    EXPECT_NE(text.find("16 bytes to rank 1, which expects 20"), std::string::npos) << text;
  });
}

// Note [Ranks that have left]
TEST(ProcessGroup, ARankThatLeavesWithoutClosingItsConnectionsIsNamed) {
  GroupOptions options;
  options.backend = "threads that do not close";
  const auto start = std::chrono::steady_clock::now();
  without_barrier(
      3,
      [](ProcessGroup& group) {
        const Tensor t = zeros({100});
        if (group.rank() == 1) {
          group.send(t, 0)->wait();
          return group.shutdown();
        }
        if (group.rank() == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1500));
          group.receive(t, 1)->wait();  // what it sent before is no failure
        }
        const std::string text =
            failure_of(group, [&] { return group.rank() == 0 ? group.receive(t, 1) : group.all_reduce({t}); });
        EXPECT_NE(text.find("rank 1 has left the group"), std::string::npos) << text;
      },
      options);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

TEST(ProcessGroup, ARankThatLeavesIsNamed) {
  without_barrier(3, [](ProcessGroup& group) {
    if (group.rank() == 1) throw Error("this rank has had enough");
    const Tensor t = zeros({100});
    try {
      group.all_reduce({t})->wait();
      ADD_FAILURE() << "went on without rank 1";
    } catch (const PeerLost& e) {
      EXPECT_EQ(e.rank(), 1);
      EXPECT_NE(std::string(e.what()).find("all_reduce("), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("rank 1 has left the group"), std::string::npos) << e.what();
    }
  });
}

// Rank 1 ends because the store is gone, and cannot say so; the others do not take it for the one that is lost.
TEST(ProcessGroup, WithoutTheStoreItsHolderIsNamed) {
  TCPStoreOptions options;
  options.port = 0;
  options.is_server = true;
  auto server = std::make_shared<TCPStore>("localhost", options);
  options.port = server->port();
  options.is_server = false;
  const auto client = std::make_shared<TCPStore>("localhost", options);
  const auto lost_rank = [&](ProcessGroup& group) {
    group.barrier()->wait();
    if (group.rank() == 0) server.reset();
    if (group.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      throw Error("this rank ends");
    }
    try {
      group.all_reduce({zeros({100})})->wait();
      ADD_FAILURE() << "went on without rank 1";
    } catch (const PeerLost& e) {
      EXPECT_EQ(e.rank(), 0) << e.what();
    }
  };
  EXPECT_THROW(run_ranks(3, lost_rank, {}, client), Error);
}

TEST(ProcessGroup, ATimeoutNamesWhoIsNotThere) {
  GroupOptions options;
  options.timeout = std::chrono::milliseconds(1200);
  without_barrier(
      3,
      [](ProcessGroup& group) {
        const Tensor t = zeros({1});
        group.all_reduce({t})->wait();
        if (group.rank() == 2) std::this_thread::sleep_for(std::chrono::seconds(3));
        const std::string text = failure_of(group, [&] { return group.barrier(); });
        EXPECT_NE(text.find("has waited for other ranks for 1.2 s in barrier()"), std::string::npos) << text;
        EXPECT_NE(text.find("the last call of rank 2 is all_reduce("), std::string::npos) << text;
      },
      options);
}

TEST(ProcessGroup, ArgumentsAreCheckedAtTheCall) {
  run_ranks(2, [](ProcessGroup& group) {
    const auto says = [&](const char* text, const std::function<void()>& f) {
      try {
        f();
        ADD_FAILURE() << "nothing was thrown: " << text;
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), text);
      }
    };
    const Tensor t = zeros({4}), i = zeros({4}, kLong);
    says("broadcast: expected root to be a rank of the group, 0 to 1, got 2", [&] { group.broadcast({t}, 2); });
    says("all_reduce: expected at least one tensor", [&] { group.all_reduce({}); });
    says("all_reduce: ReduceOp.AVG expects floating-point or complex numbers, got int64",
         [&] { group.all_reduce({i}, CollectiveReduce::kAvg); });
    says("all_reduce: ReduceOp.BOR expects integers or bool, got float32",
         [&] { group.all_reduce({t}, CollectiveReduce::kBor); });
    says("all_gather: expected 2 outputs, one for each rank, got 1", [&] { group.all_gather({t}, t); });
    says("all_gather: expected all tensors to be float32, got int64", [&] { group.all_gather({i, i}, t); });
    says("all_gather_into_tensor: expected output to have 2 times the elements of input, got sizes [4] and [4]",
         [&] { group.all_gather_into(t, t); });
    says("all_to_all_single: expected the input split sizes to sum to 4, got [1, 2]", [&] {
      group.all_to_all_single(t, t, {2, 2}, {1, 2});
    });
    says(group.rank() == 0 ? "send: rank 0 is this process; a message needs another one"
                           : "send: rank 1 is this process; a message needs another one",
         [&] { group.send(t, group.rank()); });
    says("new_group: rank 1 is given twice", [&] { group.subgroup({1, 1}, {}); });
  });
  const auto store = std::make_shared<HashStore>();
  EXPECT_THROW(make_process_group(store, 2, 2), ValueError);
  EXPECT_THROW(make_process_group(store, 0, 0), ValueError);
  GroupOptions unknown;
  unknown.backend = "pigeons";
  EXPECT_THROW(make_process_group(store, 0, 2, unknown), NotImplementedError);
}

}  // namespace
}  // namespace argand::parallel
