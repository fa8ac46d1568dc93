#include "argand/parallel/store_by_messages.h"

#include "argand/parallel/addresses_test.h"
#include "argand/parallel/store/socket.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/parallel/threads_world_test.h"

namespace argand::parallel {
namespace {

// f(store, rank) on each of three ranks; machines[r] is what rank r calls its machine.
void with_store(const std::vector<std::string>& machines, const std::string& host,
                const std::function<void(TCPStore&, int)>& f) {
  testing::Addresses addresses;
  std::vector<std::shared_ptr<Store>> stores(machines.size());  // that of rank 0 ends last
  std::vector<std::thread> threads;
  for (int r = 0; r < static_cast<int>(machines.size()); ++r)
    threads.emplace_back([&, r] {
      try {
        TransportOptions options;
        options.rank = r;
        options.size = static_cast<int>(machines.size());
        const auto transport = testing::make_threads_transport<>(addresses, options);
        const auto store = stores[static_cast<size_t>(r)] =
            store_by_messages(*transport, std::chrono::seconds(20), host, machines[static_cast<size_t>(r)]);
        f(dynamic_cast<TCPStore&>(*store), r);
        store->barrier("end", options.size, std::chrono::seconds(20));
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << r << ": " << e.what();
      }
    });
  for (std::thread& t : threads) t.join();
}

bool listens(const std::string& host, uint16_t port) {
  std::string why;
  return static_cast<bool>(try_connect(host, port, std::chrono::steady_clock::now() + std::chrono::seconds(5), why));
}

TEST(StoreByMessages, OfOneMachineListensAtItsLoopbackAlone) {
  with_store({"one", "one", "one"}, "", [](TCPStore& store, int rank) {
    EXPECT_EQ(store.host(), "127.0.0.1");
    if (rank == 0) store.set("from 0", std::string("here"));
    EXPECT_EQ(store.get_text("from 0"), "here");
    EXPECT_TRUE(listens("127.0.0.1", store.port()));
    EXPECT_FALSE(listens("127.0.0.2", store.port()));
    for (const std::string& address : addresses_of_host()) EXPECT_FALSE(listens(address, store.port()));
  });
}

TEST(StoreByMessages, OfSeveralMachinesListensAtOneAddressThatAllReach) {
  const std::vector<std::string> all = addresses_of_host();
  if (all.empty()) GTEST_SKIP() << "this host has a loopback interface only";
  with_store({"one", "one", "two"}, "", [&](TCPStore& store, int) {
    EXPECT_EQ(store.host(), all[0]);
    EXPECT_FALSE(listens("127.0.0.1", store.port()));
    for (size_t i = 1; i < all.size(); ++i) EXPECT_FALSE(listens(all[i], store.port()));
  });
}

TEST(StoreByMessages, ListensWhereItIsTold) {
  with_store({"one", "two"}, "127.0.0.3", [](TCPStore& store, int) {
    EXPECT_EQ(store.host(), "127.0.0.3");
    EXPECT_FALSE(listens("127.0.0.1", store.port()));
  });
}

TEST(StoreByMessages, AllLearnThatItCannotListen) {
  testing::Addresses addresses;
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      TransportOptions options;
      options.rank = r;
      options.size = 2;
      const auto transport = testing::make_threads_transport<>(addresses, options);
      EXPECT_THROW(store_by_messages(*transport, std::chrono::seconds(20), "198.51.100.77", "one"), NetworkError);
    });
  for (std::thread& t : threads) t.join();
}

TEST(StoreByMessages, TheSameMachine) {
  EXPECT_EQ(this_machine(), this_machine());
  EXPECT_GT(this_machine().size(), 10u);
}

}  // namespace
}  // namespace argand::parallel
