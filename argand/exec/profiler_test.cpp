// Spans nest, per thread, whoever ends first; a session leaves nothing behind.
#include "argand/exec/profiler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <thread>

#include "argand/base/error.h"
#include "argand/exec/invoke.h"
#include "argand/exec/trace.h"

namespace argand::profiler {
namespace {

const RecordedEvent& find(const Recorded& recorded, const std::string& name) {
  for (const RecordedEvent& e : recorded.events)
    if (e.name == name) return e;
  throw ValueError("no event " + name);
}
std::string parent_of(const Recorded& recorded, const std::string& name) {
  const int64_t parent = find(recorded, name).parent;
  return parent < 0 ? "" : recorded.events[static_cast<size_t>(parent)].name;
}

TEST(Profiler, RangesNest) {
  const Span before("before");
  Session session({});
  {
    const Span outer("outer", Scope::kUser);
    { const Span first("first"); }
    const Span second("second", Scope::kUser);
    const Span third("third");
  }
  const Span open("open");
  const Recorded r = session.stop();
  std::vector<std::string> names;
  for (const RecordedEvent& e : r.events) names.push_back(e.name);
  EXPECT_EQ(names, (std::vector<std::string>{"outer", "first", "second", "third", "open"}));
  EXPECT_EQ(parent_of(r, "outer"), "");
  EXPECT_EQ(parent_of(r, "first"), "outer");
  EXPECT_EQ(parent_of(r, "second"), "outer");
  EXPECT_EQ(parent_of(r, "third"), "second");
  EXPECT_EQ(parent_of(r, "open"), "");
  EXPECT_EQ(find(r, "outer").scope, Scope::kUser);
  EXPECT_EQ(find(r, "third").scope, Scope::kFunction);
  for (const RecordedEvent& e : r.events) {
    EXPECT_LE(e.begin, e.end);
    if (e.parent < 0) continue;
    EXPECT_LE(r.events[static_cast<size_t>(e.parent)].begin, e.begin);
    EXPECT_GE(r.events[static_cast<size_t>(e.parent)].end, e.end);
  }
  EXPECT_EQ(r.system_threads.at(0), getpid());  // the test's only thread
  EXPECT_TRUE(session.stop().events.empty());
}

TEST(Profiler, RangesMayEndInAnotherOrder) {
  Session session({});
  auto a = std::make_unique<Span>("a");
  auto b = std::make_unique<Span>("b");
  a.reset();
  { const Span c("c"); }
  b.reset();
  { const Span d("d"); }
  const Recorded r = session.stop();
  EXPECT_EQ(parent_of(r, "b"), "");  // a ended before it
  EXPECT_EQ(parent_of(r, "c"), "b");
  EXPECT_EQ(parent_of(r, "d"), "");
}

TEST(Profiler, OneSessionAtATime) {
  EXPECT_FALSE(is_active());
  {
    Session session({});
    EXPECT_TRUE(is_active());
    EXPECT_THROW(Session({}), ValueError);
    EXPECT_TRUE(is_active());
  }
  EXPECT_FALSE(is_active());
  Session again({});
  { const Span here("here"); }
  EXPECT_EQ(again.stop().events.size(), 1u);
  EXPECT_FALSE(is_active());
  EXPECT_FALSE(Span("after").is_open());
}

TEST(Profiler, SpansOfEarlierSessionsAreNotOfLaterOnes) {
  auto first = std::make_unique<Session>(Options{});
  auto span = std::make_unique<Span>("old");
  first->stop();
  Session second({});
  const Span fresh("new");
  span.reset();
  const Recorded r = second.stop();
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(r.events[0].name, "new");
}

// For the thread sanitizer: spans on many threads while sessions come and go.
TEST(Profiler, ThreadsAndSessions) {
  constexpr int kThreads = 4, kSpans = 2000;
  std::atomic<bool> done{false};
  std::latch started(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      started.count_down();
      while (!done) {
        const Span outer("outer");
        const Span inner("inner");
        const Tensor bytes = exec::new_tensor({{16}, kFloat}, kCPU);
        bytes.impl().data();
      }
    });
  started.wait();
  size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    Session session({.memory = true});
    for (int s = 0; s < kSpans / 20; ++s) const Span mine("mine");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const Recorded r = session.stop();
    EXPECT_EQ(std::count_if(r.events.begin(), r.events.end(), [](const auto& e) { return e.name == "mine"; }),
              kSpans / 20);
    most = std::max(most, r.system_threads.size());
    for (const RecordedEvent& e : r.events) {
      if (e.name == "mine") {
        EXPECT_EQ(e.thread, 1);
      }
      if (e.name != "inner" || e.parent < 0) continue;
      const RecordedEvent& around = r.events[static_cast<size_t>(e.parent)];
      EXPECT_EQ(around.name, "outer");
      EXPECT_EQ(around.thread, e.thread);
    }
  }
  done = true;
  for (std::thread& t : threads) t.join();
  EXPECT_GT(most, 1u);
}

TEST(Profiler, ASpanMayEndOnAnotherThread) {
  Session session({});
  auto span = std::make_unique<Span>("moved");
  std::thread([&] { span.reset(); }).join();
  { const Span after("after"); }
  const Recorded r = session.stop();
  EXPECT_EQ(find(r, "moved").thread, 1);
  EXPECT_EQ(parent_of(r, "after"), "");
}

TEST(Profiler, BytesOfStorages) {
  Tensor kept = exec::new_tensor({{100}, kFloat}, kCPU);
  kept.impl().data();  // before the session
  Session session({.memory = true});
  Tensor returned;
  {
    const Span outer("outer");
    returned = exec::new_tensor({{10}, kFloat}, kCPU);
    returned.impl().data();
    {
      const Span inner("inner");
      const Tensor gone = exec::new_tensor({{1000}, kFloat}, kCPU);
      gone.impl().data();
      const Tensor never = exec::new_tensor({{1000}, kFloat}, kCPU);  // Note [Lazy storage]
      const Tensor also = exec::new_tensor({{3}, kDouble}, kCPU);
      also.impl().data();
      returned = also;
    }
  }
  kept = Tensor();
  const Recorded r = session.stop();
  EXPECT_EQ(find(r, "inner").cpu_bytes, 24 - 40);
  EXPECT_EQ(find(r, "outer").cpu_bytes, 40);
  EXPECT_EQ(find(r, "[memory]").cpu_bytes, -400);
  EXPECT_EQ(find(r, "[memory]").scope, Scope::kMemory);
}

std::vector<std::string>& told() {
  static std::vector<std::string> all;
  return all;
}

TEST(Profiler, TellsOthers) {
  told().clear();
  Options options;
  options.push = [](const char* name) { told().push_back(name); };
  options.pop = [] { told().push_back("."); };
  Session session(std::move(options));
  {
    const Span outer("outer");
    const Span inner("inner");
  }
  EXPECT_TRUE(session.stop().events.empty());
  EXPECT_EQ(told(), (std::vector<std::string>{"outer", "inner", ".", "."}));
}

TEST(Profiler, WhereItIsCalled) {
  int calls = 0;
  Session session({.where = [&] { return 7 + calls++; }});
  {
    const Span a("a");
    const Span b("b");
  }
  const Recorded r = session.stop();
  EXPECT_EQ(find(r, "a").where, 7);
  EXPECT_EQ(find(r, "b").where, 8);
}

TEST(Profiler, SeesTheSpansOfTracing) {
  { const tracing::Span nobody("nobody", 0); }
  Session session({});
  { const tracing::Span copy("copy batch", 1); }
  EXPECT_EQ(find(session.stop(), "copy batch").parent, -1);
}

TEST(Profiler, AChildOfForkRecordsForItself) {
  Session session({.memory = true});
  const Span before("before");
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    if (is_active()) wrong |= 1;
    exec::new_tensor({{16}, kFloat}, kCPU).impl().data();
    if (!session.stop().events.empty()) wrong |= 2;
    {
      Session own({});
      { const Span here("here"); }
      if (own.stop().events.size() != 1) wrong |= 4;
    }
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(is_active());
  EXPECT_EQ(find(session.stop(), "before").thread, 1);
}

}  // namespace
}  // namespace argand::profiler
