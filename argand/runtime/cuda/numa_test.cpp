// The system reports the thread's policy as set, and afterwards as before.
#include "argand/runtime/cuda/numa.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace argand::cuda {
namespace {

struct Policy {
  int mode = -1;
  unsigned long nodes[16] = {};
  bool operator==(const Policy&) const = default;
};
Policy policy() {
  Policy p;
  syscall(SYS_get_mempolicy, &p.mode, p.nodes, sizeof p.nodes * 8, nullptr, 0);
  return p;
}

TEST(PreferNode, IsThePolicyWhileItLives) {
  const Policy before = policy();
  {
    const PreferNode outer(0);
    if (!outer.active()) GTEST_SKIP() << "this system does not let a process choose NUMA nodes";
    const Policy inside = policy();
    EXPECT_EQ(inside.mode, MPOL_PREFERRED);
    EXPECT_EQ(inside.nodes[0], 1u);
    Policy elsewhere;
    std::thread([&] { elsewhere = policy(); }).join();
    EXPECT_EQ(elsewhere.nodes[0], inside.nodes[0]) << "a thread begins with its maker's policy";
    { const PreferNode inner(0); }
    EXPECT_EQ(policy(), inside);
  }
  EXPECT_EQ(policy(), before);
}

TEST(PreferNode, NoNodeChangesNothing) {
  const Policy before = policy();
  for (const int node : {-1, 1024, 1 << 20}) {
    const PreferNode prefer(node);
    EXPECT_FALSE(prefer.active()) << node;
    EXPECT_EQ(policy(), before) << node;
  }
}

}  // namespace
}  // namespace argand::cuda
