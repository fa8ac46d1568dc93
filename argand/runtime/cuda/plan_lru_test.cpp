#include "argand/runtime/cuda/plan_lru.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace argand::cuda {
namespace {

using Plans = PlanLru<int, int, std::hash<int>>;

void add(Plans& plans, int key) { plans.add(key, std::make_shared<int>(key)); }

TEST(PlanLru, KeepsTheLastUsed) {
  Plans plans(3);
  for (int key = 0; key < 3; ++key) add(plans, key);
  EXPECT_EQ(*plans.find(0), 0);  // now 1 is the oldest
  add(plans, 3);
  EXPECT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans.find(1), nullptr);
  for (const int key : {0, 2, 3}) EXPECT_NE(plans.find(key), nullptr) << key;
}

TEST(PlanLru, ManyKeysStayBounded) {
  Plans plans(100);
  size_t destroyed = 0;
  for (int key = 0; key < 10000; ++key) {
    add(plans, key);
    EXPECT_LE(plans.size(), 100u);
    destroyed += plans.take_unused().size();
  }
  EXPECT_EQ(destroyed + plans.size(), 10000u);
  EXPECT_NE(plans.find(9999), nullptr);
}

TEST(PlanLru, KeepsNothing) {
  Plans plans(0);
  const auto plan = plans.add(1, std::make_shared<int>(1));
  EXPECT_EQ(*plan, 1);
  EXPECT_EQ(plans.size(), 0u);
  EXPECT_TRUE(plans.take_unused().empty()) << "the plan is held";
}

TEST(PlanLru, APlanThatIsHeldIsNotTaken) {
  Plans plans(2);
  add(plans, 1);
  auto held = plans.find(1);
  plans.clear();
  EXPECT_EQ(plans.size(), 0u);
  EXPECT_TRUE(plans.take_unused().empty());
  held = nullptr;
  EXPECT_EQ(plans.take_unused().size(), 1u);
  EXPECT_TRUE(plans.take_unused().empty()) << "each once";
}

TEST(PlanLru, TheFirstOfTwoIsKept) {
  Plans plans(2);
  add(plans, 1);
  const auto first = plans.find(1);
  EXPECT_EQ(plans.add(1, std::make_shared<int>(5)), first);
  EXPECT_EQ(plans.take_unused().size(), 1u) << "the second is not used";
}

TEST(PlanLru, ASmallerMaximumDropsTheOldest) {
  Plans plans(8);
  for (int key = 0; key < 8; ++key) add(plans, key);
  plans.set_max_size(3);
  EXPECT_EQ(plans.max_size(), 3u);
  EXPECT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans.take_unused().size(), 5u);
  EXPECT_EQ(plans.find(4), nullptr);
  EXPECT_NE(plans.find(5), nullptr);
}

TEST(PlanLru, ThreadsAgree) {
  Plans plans(16);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        const int key = (i * (t + 1)) % 40;
        auto plan = plans.find(key);
        if (!plan) plan = plans.add(key, std::make_shared<int>(key));
        EXPECT_EQ(*plan, key);
        if (i % 50 == 0) plans.take_unused();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(plans.size(), 16u);
}

}  // namespace
}  // namespace argand::cuda
