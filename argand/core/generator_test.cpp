#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "argand/core/cpu_generator.h"

namespace argand {
namespace {

CpuGeneratorImpl& impl(Generator& g) { return *g.get<CpuGeneratorImpl>(); }

TEST(Generator, UndefinedUntilGivenAnImplementation) {
  Generator none;
  EXPECT_FALSE(none.defined());
  EXPECT_THROW(none.current_seed(), ValueError);
  EXPECT_THROW(none.mutex(), ValueError);
  EXPECT_TRUE(make_cpu_generator(1).defined());
}

TEST(Generator, DefaultSeedIsPyTorchs) {
  EXPECT_EQ(make_cpu_generator().current_seed(), 67280421310721u);
  EXPECT_EQ(&default_cpu_generator(), &default_cpu_generator());
  EXPECT_TRUE(default_cpu_generator().device().is_cpu());
}

TEST(Generator, CopiesShareTheStreamAndClonesDoNot) {
  Generator a = make_cpu_generator(5);
  Generator copy = a, clone = a.clone();
  EXPECT_TRUE(a == copy);
  EXPECT_FALSE(a == clone);
  std::mt19937 standard(5);
  const uint32_t first = static_cast<uint32_t>(standard()), second = static_cast<uint32_t>(standard());
  EXPECT_EQ(impl(a).random(), first);
  EXPECT_EQ(impl(copy).random(), second);
  EXPECT_EQ(impl(clone).random(), first);
}

TEST(Generator, SixtyFourBitsAreTwoDrawsUpperHalfFirst) {
  Generator g = make_cpu_generator(9);
  std::mt19937 standard(9);
  const uint64_t high = standard(), low = standard();
  EXPECT_EQ(impl(g).random64(), high << 32 | low);
}

TEST(Generator, SeedKeepsAll64BitsButTheEngineTakes32) {
  Generator g = make_cpu_generator((uint64_t{1} << 40) + 7), h = make_cpu_generator(7);
  EXPECT_EQ(g.current_seed(), (uint64_t{1} << 40) + 7);
  EXPECT_EQ(impl(g).random(), impl(h).random());
}

TEST(Generator, SeedingForgetsTheKeptNormalSample) {
  Generator g = make_cpu_generator(1);
  impl(g).cache_normal(0.5);
  g.set_current_seed(1);
  EXPECT_FALSE(impl(g).take_cached_normal().has_value());
}

TEST(Generator, ManualSeedSeedsTheDefaultGenerator) {
  Generator g = manual_seed(123);
  EXPECT_TRUE(g == default_cpu_generator());
  EXPECT_EQ(default_cpu_generator().current_seed(), 123u);
  default_cpu_generator().set_current_seed(kDefaultSeed);
}

TEST(Generator, SeedIsFreshEachTime) {
  Generator g = make_cpu_generator(1);
  std::set<uint64_t> seeds;
  for (int i = 0; i < 8; ++i) {
    seeds.insert(g.seed());
    EXPECT_TRUE(seeds.count(g.current_seed()));
  }
  EXPECT_GT(seeds.size(), 6u);
}

TEST(Generator, GoesOnFromASavedState) {
  for (int used : {0, 1, 623, 624, 1000}) {
    Generator g = make_cpu_generator(77);
    for (int i = 0; i < used; ++i) impl(g).random();
    impl(g).cache_normal(-1.25);
    Generator restored = make_cpu_generator(1);
    restored.set_state(g.state());
    EXPECT_EQ(restored.state(), g.state());
    EXPECT_EQ(restored.current_seed(), 77u);
    EXPECT_EQ(impl(restored).take_cached_normal(), -1.25);
    for (int i = 0; i < 1300; ++i) ASSERT_EQ(impl(restored).random(), impl(g).random()) << "after " << used;
  }
}

TEST(Generator, RefusesADamagedStateAndKeepsItsOwn) {
  Generator g = make_cpu_generator(4);
  impl(g).random();
  const std::vector<uint8_t> before = g.state();
  EXPECT_EQ(before.size(), 5056u);
  EXPECT_THROW(g.set_state({1, 2, 3}), ValueError);
  std::vector<uint8_t> damaged = before;
  damaged[16] = 200;  // the position, which no longer fits what is left of the block
  EXPECT_THROW(g.set_state(damaged), ValueError);
  damaged = before;
  damaged[17] = 255;  // beyond the block
  EXPECT_THROW(g.set_state(damaged), ValueError);
  EXPECT_EQ(g.state(), before);
}

// Note [Generators at a fork]
TEST(Generator, AForkWaitsForThoseThatDraw) {
  Generator busy = make_cpu_generator(3);
  std::atomic<bool> drawing{false};
  std::thread thread([&] {
    const std::lock_guard lock(busy.mutex());
    drawing = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const Generator another = busy.clone();  // asks for the list of generators while a fork waits
    impl(busy).random();
  });
  while (!drawing) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that waits for ever
    const std::lock_guard lock(busy.mutex());
    Generator fresh = make_cpu_generator(3);
    impl(fresh).random();
    _exit(impl(busy).random() == impl(fresh).random() && manual_seed(1).current_seed() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  thread.join();
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(busy.mutex().try_lock());
  busy.mutex().unlock();
}

}  // namespace
}  // namespace argand
