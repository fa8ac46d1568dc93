#include "argand/base/small_object.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace argand {
namespace {

template <size_t N>
struct Object : SmallObject {
  unsigned char bytes[N];
};
struct Base : SmallObject {
  virtual ~Base() = default;
};
struct Derived final : Base {
  unsigned char bytes[200] = {};
};

// Objects of many sizes, made and freed in an order of their own, keep what was written to them.
template <size_t N>
void churn(unsigned seed) {
  std::vector<std::unique_ptr<Object<N>>> live;
  const auto mark = [](size_t i) { return static_cast<int>(i % 251); };
  for (size_t round = 0; round < 4; ++round) {
    for (size_t i = live.size(); i < 700; ++i) {
      live.push_back(std::make_unique<Object<N>>());
      std::memset(live[i]->bytes, mark(i), N);
    }
    for (size_t i = 0; i < live.size(); ++i) {
      ASSERT_EQ(live[i]->bytes[0], mark(i));
      ASSERT_EQ(live[i]->bytes[N - 1], mark(i));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(live[i].get()) % alignof(std::max_align_t), 0U);
    }
    live.resize((seed + round * 157) % 700);
  }
}
void churn_all(unsigned seed) {
  churn<1>(seed);
  churn<32>(seed);
  churn<33>(seed);
  churn<512>(seed);
  churn<513>(seed);
  churn<4000>(seed);
}

TEST(SmallObject, KeepsWhatIsWritten) { churn_all(1); }

TEST(SmallObject, Threads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(churn_all, t * 97);
  for (std::thread& t : threads) t.join();
}

TEST(SmallObject, FreedThroughTheBase) {
  for (int i = 0; i < 1000; ++i) std::unique_ptr<Base>(std::make_unique<Derived>());
}

TEST(SmallObject, MadeInOneThreadFreedInAnother) {
  std::vector<std::unique_ptr<Derived>> made;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) made.push_back(std::make_unique<Derived>());
  }).join();
  std::thread([&] { made.clear(); }).join();
}

// At the end of a thread, its own objects free memory after the thread has released the memory that it kept.
TEST(SmallObject, FreedAtTheEndOfAThread) {
  struct Holder {
    std::vector<std::unique_ptr<Derived>> objects;
  };
  std::thread([] {
    thread_local Holder holder;
    for (int i = 0; i < 300; ++i) holder.objects.push_back(std::make_unique<Derived>());
    delete new Derived;
  }).join();
}

}  // namespace
}  // namespace argand
