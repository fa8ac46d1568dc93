// Whichever windows become graphs, all work on the tape is done, in order, with its arguments.
#include "argand/runtime/cuda/launch_tape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

namespace argand::cuda {
namespace {

using Log = std::vector<std::string>;

const KernelParameters kTwoInts{{0, 4}, {4, 4}, 8};

std::string text_of(const TapeRecord& r, const char* bytes) {
  return std::to_string(reinterpret_cast<uintptr_t>(r.function)) + " " + std::to_string(r.grid.blocks) + " " +
         std::string(bytes, r.nbytes);
}

// Replaces a device: each action is a line of the log.
class RecordingDevice final : public LaunchDevice {
 public:
  explicit RecordingDevice(Log& log) : log_(log) {}
  void issue(const TapeRecord& r, const char* bytes) override {
    if (fails || (failing && reinterpret_cast<uintptr_t>(r.function) == failing))
      throw std::runtime_error("launch failed");
    log_.push_back(text_of(r, bytes));
  }
  std::unique_ptr<LaunchGraph> build(const std::vector<TapeRecord>& records, const char* bytes) override {
    if (refuses) return nullptr;
    if (graphs_fail) throw std::runtime_error("no memory for a graph");
    return std::make_unique<Graph>(*this, records, bytes);
  }
  bool touches_exposed(const char* bytes, size_t nbytes) override {
    for (size_t i = 0; i < nbytes; i += 8)
      if (exposed && std::memcmp(bytes + i, &exposed, 8) == 0) return true;
    return false;
  }
  void lost(std::span<const TapeRecord> records, const char* bytes, std::exception_ptr) override {
    for (const TapeRecord& r : records) lost_log.push_back(text_of(r, bytes + r.at));
  }
  bool fails = false, refuses = false, graphs_fail = false;
  uintptr_t failing = 0;  // this kernel does
  int64_t exposed = 0;    // the arguments of what must not wait
  Log lost_log;

 private:
  class Graph final : public LaunchGraph {
   public:
    Graph(RecordingDevice& device, const std::vector<TapeRecord>& records, const char* bytes) : device_(device) {
      for (const TapeRecord& r : records) lines_.push_back(text_of(r, bytes + r.at));
    }
    void set_arguments(size_t record, const TapeRecord& r, const char* bytes) override {
      lines_[record] = text_of(r, bytes);
    }
    void launch() override {
      if (device_.graphs_fail) throw std::runtime_error("no memory for a graph");
      device_.log_.insert(device_.log_.end(), lines_.begin(), lines_.end());
    }

   private:
    RecordingDevice& device_;
    Log lines_;
  };
  Log& log_;
};

struct TapeTest : ::testing::Test {
  Log log, expected;
  RecordingDevice device{log};
  LaunchTape tape{device};

  void kernel(uintptr_t function, unsigned blocks, int a, int b) {
    void* arguments[] = {&a, &b};
    const void* f = reinterpret_cast<const void*>(function);
    tape.add_kernel("op", f, kTwoInts, {.blocks = blocks}, arguments);
    char bytes[8];
    std::memcpy(bytes, &a, 4);
    std::memcpy(bytes + 4, &b, 4);
    expected.push_back(text_of({"op", f, &kTwoInts, {.blocks = blocks}, nullptr, 0, 8}, bytes));
  }
  void call(const std::string& data) {
    tape.add_call(
        "op", [](const void*, void*) {}, data.data(), data.size(), false);
    expected.push_back(
        text_of({"op", nullptr, nullptr, {}, nullptr, 0, static_cast<uint32_t>(data.size())}, data.data()));
  }
  void step(int number) {
    for (uintptr_t k = 1; k <= 5; ++k) kernel(k, 1, number, 7);
    call("product");
    tape.flush(FlushCause::kJoint);
  }
};

TEST_F(TapeTest, HoldsBackUntilItIsFlushed) {
  kernel(1, 1, 2, 3);
  EXPECT_TRUE(log.empty());
  tape.flush(FlushCause::kWait);
  EXPECT_EQ(log, expected);
}

TEST_F(TapeTest, AWindowThatRepeatsIsAGraph) {
  for (int i = 0; i < 10; ++i) step(5);
  EXPECT_EQ(log, expected);
  EXPECT_EQ(tape.stats().graphs_built, 1u);
  EXPECT_EQ(tape.stats().graph_launches, 8u);
  EXPECT_EQ(tape.stats().replayed, 48u);
  EXPECT_EQ(tape.stats().arguments_set, 0u);
}

TEST_F(TapeTest, ArgumentsThatChangeAreSetInTheGraph) {
  for (int i = 0; i < 10; ++i) step(i);
  EXPECT_EQ(log, expected);
  EXPECT_EQ(tape.stats().graphs_built, 1u);
  EXPECT_EQ(tape.stats().arguments_set, 35u);
}

TEST_F(TapeTest, AnotherGridIsAnotherGraph) {
  for (int i = 0; i < 12; ++i) {
    for (uintptr_t k = 1; k <= 5; ++k) kernel(k, i % 2 ? 3 : 4, i, 0);
    tape.flush(FlushCause::kJoint);
  }
  EXPECT_EQ(log, expected);
  EXPECT_EQ(tape.stats().graphs_built, 2u);
}

TEST_F(TapeTest, GraphsOutliveWindowsThatNeverRepeat) {
  for (int i = 0; i < 5; ++i) step(i);
  for (int i = 0; i < 3000; ++i) {
    step(i);
    for (uintptr_t k = 1; k <= 5; ++k) kernel(k, static_cast<unsigned>(i) + 2, i, 0);
    tape.flush(FlushCause::kJoint);
  }
  EXPECT_EQ(log, expected);
  EXPECT_EQ(tape.stats().graphs_built, 1u);
  EXPECT_EQ(tape.stats().graph_launches, 3003u);
}

TEST_F(TapeTest, LongWorkIsIssuedAtOnce) {
  kernel(1, 1, 2, 3);
  kernel(1, 1 << 20, 2, 3);
  EXPECT_EQ(log, expected);
  EXPECT_EQ(tape.stats().flushes[static_cast<size_t>(FlushCause::kLongWork)], 1u);
}

TEST_F(TapeTest, NothingIsHeldBackOnceSwitchedOff) {
  kernel(1, 1, 2, 3);
  tape.hold_back(false);
  kernel(2, 1, 2, 3);
  EXPECT_EQ(log, expected);
  tape.hold_back(true);
  kernel(3, 1, 2, 3);
  EXPECT_EQ(log.size(), 2u);
}

TEST_F(TapeTest, WhatNoGraphCanIsIssuedOneByOne) {
  device.refuses = true;
  for (int i = 0; i < 6; ++i) step(i);
  EXPECT_EQ(log, expected);
  EXPECT_EQ(tape.stats().graph_launches, 0u);
}

TEST_F(TapeTest, AFailedWindowIsGone) {
  device.fails = true;
  kernel(1, 1, 2, 3);
  EXPECT_THROW(tape.flush(FlushCause::kWait), std::runtime_error);
  device.fails = false;
  expected.clear();
  step(1);
  EXPECT_EQ(log, expected);
}

TEST_F(TapeTest, TheDeviceIsToldWhatIsLost) {
  device.failing = 3;
  for (uintptr_t k = 1; k <= 5; ++k) kernel(k, 1, 8, 9);
  EXPECT_THROW(tape.flush(FlushCause::kWait), std::runtime_error);
  EXPECT_EQ(log, Log(expected.begin(), expected.begin() + 2));
  EXPECT_EQ(device.lost_log, Log(expected.begin() + 2, expected.end()));
}

TEST_F(TapeTest, AGraphThatFailsIsDoneWithout) {
  for (int i = 0; i < 10; ++i) {
    device.graphs_fail = i == 3 || i > 6;  // when it is built; when it is launched
    step(i);
  }
  EXPECT_EQ(log, expected);
  EXPECT_TRUE(device.lost_log.empty());
}

TEST_F(TapeTest, WhatMayTouchExposedMemoryIsIssuedWithAllBeforeIt) {
  const int both[] = {4, 2};
  std::memcpy(&device.exposed, both, 8);
  kernel(1, 1, 2, 3);
  EXPECT_TRUE(log.empty());
  kernel(2, 1, 4, 2);
  EXPECT_EQ(log, expected);
  kernel(3, 1, 2, 4);
  EXPECT_EQ(log.size(), 2u);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 5; ++k) kernel(7, 1, i, k);
    kernel(2, 1, 4, 2);
    EXPECT_EQ(log, expected);
  }
  EXPECT_GT(tape.stats().replayed, 0u);
}

TEST_F(TapeTest, AProgramThatNeverRepeatsIsLetThroughAfterAWhile) {
  for (int i = 0; i < 600; ++i) {
    kernel(static_cast<uintptr_t>(i) + 1, 1, 2, 3);
    tape.flush(FlushCause::kJoint);
  }
  kernel(9, 1, 2, 3);
  EXPECT_EQ(log, expected);  // not held back
}

// ---- Note [Epilogues]: the kernel writes 16 floats at kResult and reads as many at kRead

const KernelParameters kIntAndEpilogue{{0, 8}, {4, sizeof(Epilogue<void>)}, 8 + sizeof(Epilogue<void>)};
constexpr uintptr_t kResult = 0x1000, kRead = 0x2000, kOther = 0x3000, kMask = 0x4000;
constexpr size_t kBytes = 16 * sizeof(float);
template <class T = void>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

struct EpilogueTest : TapeTest {
  static std::string line(const Epilogue<void>& e, unsigned blocks = 1) {
    char bytes[8 + sizeof e] = {7};
    std::memcpy(bytes + 8, &e, sizeof e);
    return text_of({"op", at(1), &kIntAndEpilogue, {.blocks = blocks}, nullptr, 0, sizeof bytes}, bytes);
  }
  void producer(unsigned blocks = 1) {
    int number = 7;
    Epilogue<void> none{};
    void* arguments[] = {&number, &none};
    const EpilogueSlot slot{at(kResult), 16, kFloat, 8, {{at(kRead), kBytes}}};
    tape.add_kernel("op", at(1), kIntAndEpilogue, {.blocks = blocks}, arguments, &slot);
  }
  bool takes(uintptr_t in, const Epilogue<void>& e) { return tape.add_epilogue({at(in), 16, kFloat, e}); }

  // A call that can apply relu to a result that nothing else reads.
  static std::string call_line(void* out) {
    return text_of({"op", nullptr, nullptr, {}, nullptr, 0, sizeof out}, reinterpret_cast<const char*>(&out));
  }
  void calling_producer(bool long_work = false) {
    const auto take = [](void* data, const Epilogue<void>& e) {
      if (e.mask || e.keep) return false;
      std::memcpy(data, &e.out, sizeof e.out);
      return true;
    };
    const EpilogueSlot slot{at(kResult), 16, kFloat, 8, {{at(kRead), kBytes}}, take};
    const void* result = at(kResult);
    tape.add_call(
        "op", [](const void*, void*) {}, &result, sizeof result, long_work, &slot);
  }
};
constexpr unsigned kLong = 1 << 20;

TEST_F(EpilogueTest, TheLastKernelDoesIt) {
  const Epilogue<void> relu{at(kOther), nullptr, 0}, masked{at(kOther), at(kMask), 1},
      in_place{at(kResult), nullptr, 0};
  for (const Epilogue<void>& e : {relu, masked, in_place}) {
    producer();
    EXPECT_TRUE(takes(kResult, e));
    EXPECT_FALSE(takes(kResult, e)) << "a second one";
    tape.flush(FlushCause::kWait);
    EXPECT_EQ(log, Log{line(e)});
    log.clear();
  }
  EXPECT_EQ(tape.stats().launches, 3u);
}

TEST_F(EpilogueTest, NothingElseDoesIt) {
  const Epilogue<void> relu{at(kOther), nullptr, 0};
  EXPECT_FALSE(takes(kResult, relu)) << "nothing is on the tape";
  const auto refused = [&](const char* why, EpilogueOp op) {
    producer();
    EXPECT_FALSE(tape.add_epilogue(op)) << why;
    tape.flush(FlushCause::kWait);
    EXPECT_EQ(log.back(), line({})) << why;
  };
  refused("another input", {at(kOther), 16, kFloat, relu});
  refused("fewer elements", {at(kResult), 15, kFloat, relu});
  refused("another type", {at(kResult), 16, kInt, relu});
  refused("badly aligned", {at(kResult), 16, kFloat, {at(kOther + 4), nullptr, 0}});
  refused("a badly aligned mask", {at(kResult), 16, kFloat, {at(kOther), at(kMask + 4), 0}});
  refused("over what the kernel reads", {at(kResult), 16, kFloat, {at(kRead + kBytes - 8), nullptr, 0}});
  refused("over a part of the result", {at(kResult), 16, kFloat, {at(kResult + 8), nullptr, 0}});
  refused("over a result to be kept", {at(kResult), 16, kFloat, {at(kResult), nullptr, 1}});
  refused("masked by the result", {at(kResult), 16, kFloat, {at(kOther), at(kResult), 0}});
  producer();
  kernel(2, 1, 2, 3);
  EXPECT_FALSE(takes(kResult, relu)) << "not the last kernel";
  producer();
  tape.flush(FlushCause::kWait);
  EXPECT_FALSE(takes(kResult, relu)) << "issued";
  tape.hold_back(false);
  producer();
  EXPECT_FALSE(takes(kResult, relu)) << "not held back";
}

TEST_F(EpilogueTest, LongWorkWaitsForTheNext) {
  const Epilogue<void> relu{at(kOther), nullptr, 0};
  producer(kLong);
  EXPECT_TRUE(log.empty());
  EXPECT_TRUE(takes(kResult, relu));
  EXPECT_EQ(log, Log{line(relu, kLong)}) << "issued with its epilogue";
  producer(kLong);
  kernel(2, 1, 2, 3);
  EXPECT_EQ(log.back(), line({}, kLong)) << "the next work issues it";
  EXPECT_EQ(log.size(), 2u);
  producer(kLong);
  call("product");
  EXPECT_EQ(log.back(), line({}, kLong));
}

TEST_F(EpilogueTest, AGraphGetsAnEpilogueAndLosesIt) {
  const Epilogue<void> relu{at(kOther), nullptr, 0};
  Log want;
  for (int i = 0; i < 12; ++i) {
    for (uintptr_t k = 1; k <= 4; ++k) kernel(k, 1, i, 7);
    want.insert(want.end(), expected.end() - 4, expected.end());
    producer();
    want.push_back(line(i % 2 ? relu : Epilogue<void>{}));
    if (i % 2) {
      EXPECT_TRUE(takes(kResult, relu));
    }
    tape.flush(FlushCause::kJoint);
  }
  EXPECT_EQ(log, want);
  EXPECT_EQ(tape.stats().graphs_built, 1u);
}

TEST_F(EpilogueTest, OfACallMakesItAnotherCall) {
  calling_producer();
  EXPECT_TRUE(takes(kResult, {at(kOther), nullptr, 0}));
  EXPECT_FALSE(takes(kResult, {at(kOther), nullptr, 0})) << "a second one";
  tape.flush(FlushCause::kWait);
  EXPECT_EQ(log, Log{call_line(at(kOther))});
  for (const Epilogue<void>& e : {Epilogue<void>{at(kOther), at(kMask), 0}, {at(kOther), nullptr, 1}}) {
    calling_producer();
    EXPECT_FALSE(takes(kResult, e)) << "what it cannot do";
    tape.flush(FlushCause::kWait);
    EXPECT_EQ(log.back(), call_line(at(kResult)));
  }
  calling_producer();
  EXPECT_FALSE(takes(kResult, {at(kRead), nullptr, 0})) << "over what the call reads";
  calling_producer(true);
  EXPECT_EQ(log.size(), 3u) << "long work waits for the next";
  EXPECT_TRUE(takes(kResult, {at(kOther), nullptr, 0}));
  EXPECT_EQ(log.back(), call_line(at(kOther)));
}

TEST_F(EpilogueTest, OfACallMakesAnotherGraph) {
  Log want;
  for (int i = 0; i < 20; ++i) {
    for (uintptr_t k = 1; k <= 4; ++k) kernel(k, 1, i, 7);
    want.insert(want.end(), expected.end() - 4, expected.end());
    calling_producer();
    want.push_back(call_line(at(i % 2 ? kOther : kResult)));
    if (i % 2) {
      EXPECT_TRUE(takes(kResult, {at(kOther), nullptr, 0}));
    }
    tape.flush(FlushCause::kJoint);
  }
  EXPECT_EQ(log, want);
  EXPECT_EQ(tape.stats().graphs_built, 2u);
  EXPECT_EQ(tape.stats().graph_launches, 16u);
}

TEST_F(TapeTest, RandomProgramsWithRepeatedParts) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    const int part = below(5);  // parts repeat; some of their arguments do not
    for (int k = 0; k < 3 + 4 * part; ++k) {
      if (k % 4 == 3)
        call("call " + std::to_string(part) + (below(20) ? "" : "!"));
      else
        kernel(static_cast<uintptr_t>(part * 10 + k + 1), static_cast<unsigned>(1 + k), part, below(2));
      if (below(400) == 0) tape.forget_graphs();
      if (below(100) == 0) tape.flush(FlushCause::kEvent);
    }
    tape.flush(FlushCause::kJoint);
    ASSERT_EQ(log, expected) << "round " << round;
  }
  EXPECT_GT(tape.stats().graph_launches, 50u);
  EXPECT_GT(tape.stats().arguments_set, 50u);
}

}  // namespace
}  // namespace argand::cuda
