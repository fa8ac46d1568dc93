// Tests of the behaviour that all stores share.
#include "argand/parallel/store/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "argand/parallel/store/file_store.h"
#include "argand/parallel/store/hash_store.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/store/tcp_store.h"

namespace argand::parallel {
namespace {

using namespace std::chrono_literals;
using Value = Store::Value;

Value bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string text(const Value& value) { return {value.begin(), value.end()}; }

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::shared_ptr<Store> make_tcp() {
  TCPStoreOptions options;
  options.port = 0;
  options.is_server = true;
  return std::make_shared<TCPStore>("localhost", options);
}

std::shared_ptr<Store> make_file() {
  static std::atomic<int> count{0};
  const std::string path = "/tmp/argand-store-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  return std::make_shared<FileStore>(path, 1);
}

struct Kind {
  const char* name;
  std::function<std::shared_ptr<Store>()> make;
  const char* prefix;  // of keys in messages
};

class Stores : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    store = GetParam().make();
    other = store->clone();
  }
  std::shared_ptr<Store> store, other;  // two handles of one store
};

std::string missing(const std::string& keys, int ms) {
  return "wait timeout after " + std::to_string(ms) + "ms, keys: " + keys;
}

TEST_P(Stores, GivesWhatWasSet) {
  store->set("a", Value{0, 255, 'x'});
  EXPECT_EQ(other->get("a"), (Value{0, 255, 'x'}));
  store->set("a", "");
  EXPECT_EQ(other->get("a"), Value{});
  EXPECT_TRUE(other->check({"a"}));
  store->set("key with \n and \xff", "v");
  EXPECT_EQ(other->get_text("key with \n and \xff"), "v");
  store->set("", "no name");
  EXPECT_EQ(other->get_text(""), "no name");
}

TEST_P(Stores, LargeValues) {
  Value large(3 << 20);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<uint8_t>(i * 7 / 3);
  store->set("large", large);
  EXPECT_EQ(other->get("large"), large);
  EXPECT_EQ(other->multi_get({"large", "large"}), (std::vector<Value>{large, large}));
}

TEST_P(Stores, WaitsForWhatIsMissing) {
  store->set_timeout(60ms);
  const std::string prefix = GetParam().prefix;
  EXPECT_EQ(message_of<StoreError>([&] { store->get("x"); }), missing(prefix + "x", 60));
  EXPECT_EQ(message_of<StoreError>([&] { store->wait({"x", "y"}); }), missing(prefix + "x, " + prefix + "y", 60));
  EXPECT_EQ(message_of<StoreError>([&] { store->wait({"x"}, 30ms); }), missing(prefix + "x", 30));
  EXPECT_EQ(message_of<StoreError>([&] { store->multi_get({"x"}); }), missing(prefix + "x", 60));
  EXPECT_EQ(message_of<StoreError>([&] { store->queue_pop("x"); }), missing(prefix + "x", 60));
  store->wait({});
  EXPECT_TRUE(store->check({}));
}

TEST_P(Stores, IsWokenByASet) {
  std::thread later([this] {
    std::this_thread::sleep_for(50ms);
    other->set("x", "1");
    other->set("y", "2");
    other->add("z", 3);
    other->append("u", bytes("4"));
    other->compare_set("v", {}, bytes("5"));
    other->multi_set({"w"}, {bytes("6")});
  });
  EXPECT_EQ(store->get_text("x"), "1");
  store->wait({"x", "y", "z", "u", "v", "w"});
  EXPECT_EQ(store->multi_get({"w", "z"}), (std::vector<Value>{bytes("6"), bytes("3")}));
  later.join();
}

TEST_P(Stores, AZeroTimeoutWaitsForever) {
  store->set_timeout(0ms);
  std::thread later([this] {
    std::this_thread::sleep_for(150ms);
    other->set("x", "1");
  });
  EXPECT_EQ(store->get_text("x"), "1");
  later.join();
}

TEST_P(Stores, Adds) {
  EXPECT_EQ(store->add("n", 3), 3);
  EXPECT_EQ(other->add("n", -5), -2);
  EXPECT_EQ(store->get_text("n"), "-2");
  store->set("empty", "");
  EXPECT_EQ(store->add("empty", 1), 1);
  store->set("text", "12abc");
  EXPECT_NE(message_of<ValueError>([&] { store->add("text", 1); }).find("decimal integer"), std::string::npos);
  EXPECT_EQ(store->get_text("text"), "12abc");
  EXPECT_EQ(store->add("big", INT64_MAX), INT64_MAX);
  EXPECT_NE(message_of<ValueError>([&] { store->add("big", 1); }).find("64 bits"), std::string::npos);
  EXPECT_EQ(store->add("big", -1), INT64_MAX - 1);
}

TEST_P(Stores, ComparesAndSets) {
  EXPECT_EQ(text(store->compare_set("c", bytes("a"), bytes("b"))), "a");
  EXPECT_FALSE(store->check({"c"}));
  EXPECT_EQ(text(store->compare_set("c", {}, bytes("b"))), "b");
  EXPECT_EQ(text(other->compare_set("c", bytes("z"), bytes("q"))), "b");
  EXPECT_EQ(text(other->compare_set("c", {}, bytes("q"))), "b");
  EXPECT_EQ(text(other->compare_set("c", bytes("b"), bytes("q"))), "q");
  EXPECT_EQ(store->get_text("c"), "q");
}

TEST_P(Stores, CountsListsAndDeletes) {
  const int64_t before = store->num_keys();
  store->set("a", "1");
  store->add("b", 1);
  other->queue_push("q", bytes("1"));
  EXPECT_EQ(other->num_keys(), before + 2);
  std::vector<std::string> keys = other->list_keys();
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(other->delete_key("a"));
  EXPECT_FALSE(store->delete_key("a"));
  EXPECT_FALSE(store->check({"a"}));
  EXPECT_TRUE(store->check({"b"}));
  EXPECT_FALSE(store->check({"b", "a"}));
  EXPECT_EQ(store->num_keys(), before + 1);
}

TEST_P(Stores, AppendsAndSetsSeveral) {
  store->append("a", bytes("x"));
  other->append("a", bytes("yz"));
  EXPECT_EQ(store->get_text("a"), "xyz");
  store->multi_set({"m", "n"}, {bytes("1"), bytes("2")});
  EXPECT_EQ(other->multi_get({"n", "m"}), (std::vector<Value>{bytes("2"), bytes("1")}));
  EXPECT_EQ(other->multi_get({}), std::vector<Value>{});
  EXPECT_NE(message_of<ValueError>([&] { store->multi_set({"m"}, {}); }).find("1 keys and 0 values"),
            std::string::npos);
}

TEST_P(Stores, Queues) {
  EXPECT_EQ(store->queue_len("q"), 0);
  EXPECT_EQ(message_of<QueueEmptyError>([&] { store->queue_pop("q", false); }), "queue is empty");
  store->queue_push("q", bytes("1"));
  store->queue_push("q", bytes("2"));
  EXPECT_EQ(other->queue_len("q"), 2);
  EXPECT_TRUE(other->check({"q"}));
  other->wait({"q"});
  EXPECT_EQ(text(other->queue_pop("q")), "1");
  EXPECT_EQ(text(other->queue_pop("q", false)), "2");
  EXPECT_FALSE(other->check({"q"}));
  std::thread later([this] {
    std::this_thread::sleep_for(30ms);
    other->queue_push("q", bytes("3"));
  });
  EXPECT_EQ(text(store->queue_pop("q")), "3");
  later.join();
}

TEST_P(Stores, ABarrierHoldsUntilAllAreThere) {
  store->barrier("one", 1, 100ms);
  EXPECT_THROW(store->barrier("two", 2, 50ms), StoreError);
  other->barrier("two", 2, 5s);
}

TEST_P(Stores, ManyThreadsEachWithAClone) {
  constexpr int kThreads = 16, kRounds = 40;
  std::vector<std::thread> threads;
  std::atomic<int64_t> popped{0};
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([this, i, &popped] {
      const std::shared_ptr<Store> mine = store->clone();
      const std::string next = std::to_string((i + 1) % kThreads);
      for (int round = 0; round < kRounds; ++round) {
        mine->add("count", 1);
        mine->queue_push("q", bytes(std::to_string(i)));
        mine->set("r" + std::to_string(round) + "/" + std::to_string(i), std::to_string(i));
        EXPECT_EQ(mine->get_text("r" + std::to_string(round) + "/" + next), next);
        popped += std::stoi(text(mine->queue_pop("q")));
      }
      mine->barrier("end", kThreads, 60s);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->get_text("count"), std::to_string(kThreads * kRounds));
  EXPECT_EQ(popped, int64_t{kRounds} * kThreads * (kThreads - 1) / 2);
  EXPECT_EQ(store->queue_len("q"), 0);
}

TEST_P(Stores, ManyThreadsWithOneHandle) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this] {
      for (int round = 0; round < 50; ++round) store->add("count", 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->get_text("count"), "400");
}

INSTANTIATE_TEST_SUITE_P(, Stores,
                         testing::Values(Kind{"Hash", [] { return std::make_shared<HashStore>(); }, ""},
                                         Kind{"File", make_file, ""}, Kind{"Tcp", make_tcp, "/"},
                                         Kind{"Prefix", [] { return std::make_shared<PrefixStore>("p", make_tcp()); },
                                              "/p/"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace argand::parallel
