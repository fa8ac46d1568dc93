// c10d's stores as programs written for LibTorch use them.
#include <c10/util/tempfile.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace {

using Bytes = std::vector<uint8_t>;

void use(c10d::Store& store, int64_t extra) {
  store.set("key0", "value0");
  store.set("key1", Bytes{1, 2});
  EXPECT_EQ(store.get_to_str("key0"), "value0");
  EXPECT_EQ(store.get("key1"), (Bytes{1, 2}));
  EXPECT_EQ(store.getNumKeys(), extra + 2);
  EXPECT_EQ(store.add("counter", 2), 2);
  EXPECT_EQ(store.compareSet("key0", "value0", "value1"), "value1");
  EXPECT_EQ(store.compareSet("key0", Bytes{}, Bytes{1}), (Bytes{'v', 'a', 'l', 'u', 'e', '1'}));
  EXPECT_TRUE(store.check({"key0", "counter"}));
  EXPECT_TRUE(store.deleteKey("key1"));
  EXPECT_EQ(store.listKeys().size(), 2u);
  store.multiSet({"a", "b"}, {{1}, {2}});
  store.append("a", {3});
  EXPECT_EQ(store.multiGet({"a", "b"}), (std::vector<Bytes>{{1, 3}, {2}}));
  store.queuePush("q", {7});
  EXPECT_EQ(store.queueLen("q"), 1);
  EXPECT_EQ(store.queuePop("q", true), Bytes{7});
  EXPECT_THROW(store.queuePop("q", false), c10::DistQueueEmptyError);
  store.barrier("barrier", 1);
  const c10d::StoreTimeoutGuard guard(store, std::chrono::milliseconds(20));
  EXPECT_EQ(store.getTimeout().count(), 20);
  EXPECT_THROW(store.wait({"missing"}), c10::DistStoreError);
  EXPECT_THROW(store.get("missing"), c10::DistError);
  EXPECT_THROW(store.wait({"missing"}, std::chrono::milliseconds(10)), c10::Error);
  EXPECT_TRUE(store.hasExtendedApi());
}

TEST(Stores, Hash) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  use(*store, 0);
  EXPECT_EQ(store->getTimeout(), c10d::Store::kDefaultTimeout);
  EXPECT_EQ(store->clone()->get_to_str("key0"), "value1");
}

TEST(Stores, File) {
  const auto file = c10::make_tempfile();
  const auto store = c10::make_intrusive<c10d::FileStore>(file.name, 1);
  use(*store, 1);
  EXPECT_EQ(store->getPath(), file.name);
}

TEST(Stores, TcpAndPrefix) {
  c10d::TCPStoreOptions options{};
  options.port = 0;
  options.isServer = true;
  options.numWorkers = 2;
  options.waitWorkers = false;
  const auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  EXPECT_EQ(server->getHost(), "127.0.0.1");
  options.isServer = false;
  options.port = server->getPort();
  const c10::intrusive_ptr<c10d::Store> client = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  const auto prefixed = c10::make_intrusive<c10d::PrefixStore>("p", client);
  use(*prefixed, 0);
  EXPECT_EQ(server->get_to_str("p/key0"), "value1");
  EXPECT_EQ(prefixed->getUnderlyingStore().get(), client.get());
  const auto twice = c10::make_intrusive<c10d::PrefixStore>("q", prefixed);
  EXPECT_EQ(twice->getUnderlyingNonPrefixStore().get(), client.get());
  options.timeout = std::chrono::milliseconds(50);
  options.port = 1;
  EXPECT_THROW(c10d::TCPStore("127.0.0.1", options), c10::DistNetworkError);
}

// A store that a program implements.
class MapStore : public c10d::Store {
 public:
  using Store::set;
  c10::intrusive_ptr<Store> clone() override { return c10::make_intrusive<MapStore>(); }
  void set(const std::string& key, const Bytes& value) override { values[key] = value; }
  Bytes get(const std::string& key) override { return values.at(key); }
  int64_t add(const std::string&, int64_t value) override { return value; }
  bool deleteKey(const std::string& key) override { return values.erase(key) != 0; }
  bool check(const std::vector<std::string>& keys) override { return values.count(keys.at(0)) != 0; }
  int64_t getNumKeys() override { return static_cast<int64_t>(values.size()); }
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}
  std::map<std::string, Bytes> values;
};

TEST(Stores, OfAProgram) {
  const auto mine = c10::make_intrusive<MapStore>();
  const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::PrefixStore>("p", mine);
  store->set("a", "1");
  store->append("a", Bytes{'2'});
  EXPECT_EQ(mine->values.at("p/a"), (Bytes{'1', '2'}));
  EXPECT_FALSE(store->hasExtendedApi());
  EXPECT_THROW(store->queueLen("q"), c10::NotImplementedError);
}

}  // namespace
