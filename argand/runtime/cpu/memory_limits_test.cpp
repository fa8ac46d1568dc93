#include "argand/runtime/cpu/memory_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "argand/base/str.h"
#include "argand/runtime/cpu/aligned_allocator.h"

namespace argand {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// A pretended root folder with the files that a process sees.
class Cgroups : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / str("argand_cgroups_", getpid());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  MemoryLimits read() { return read_memory_limits(root_.string()); }
  std::filesystem::path root_;
};

TEST_F(Cgroups, NoneLimitNothing) {
  EXPECT_EQ(read().cgroup, SIZE_MAX);
  write("proc/self/cgroup", "0::/a/b");
  EXPECT_EQ(read().cgroup, SIZE_MAX);
  write("sys/fs/cgroup/a/b/memory.max", "max");
  EXPECT_EQ(read().cgroup, SIZE_MAX);
  EXPECT_GT(read().machine, kMiB);
}

TEST_F(Cgroups, TheSmallestOfNestedOnesOfVersion2) {
  write("proc/self/cgroup", "0::/a/b/c");
  write("sys/fs/cgroup/a/b/c/memory.max", str(300 * kMiB));
  write("sys/fs/cgroup/a/b/c/memory.swap.max", "0");
  EXPECT_EQ(read().cgroup, 300 * kMiB);
  write("sys/fs/cgroup/a/memory.max", str(200 * kMiB));
  write("sys/fs/cgroup/a/memory.swap.max", "0");
  EXPECT_EQ(read().cgroup, 200 * kMiB);
  EXPECT_EQ(read().cgroup_folder, "/sys/fs/cgroup/a");
}

TEST_F(Cgroups, TheRootOfAContainer) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/memory.max", str(500 * kMiB));
  write("sys/fs/cgroup/memory.swap.max", "0");
  EXPECT_EQ(read().cgroup, 500 * kMiB);
  write("proc/self/cgroup", "0::/docker/1234");  // a path of the machine's, which is not to be seen here
  EXPECT_EQ(read().cgroup, 500 * kMiB);
  EXPECT_EQ(read().cgroup_folder, "/sys/fs/cgroup");
}

TEST_F(Cgroups, Version1) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:blkio,memory:/a/b\n0::/");
  write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(read().cgroup, SIZE_MAX);
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", str(100 * kMiB));
  write("sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes", str(100 * kMiB));
  EXPECT_EQ(read().cgroup, 100 * kMiB);
  EXPECT_EQ(read().cgroup_folder, "/sys/fs/cgroup/memory/a");
}

TEST(MemoryLimits, OfAddresses) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers map terabytes of addresses for themselves";
#endif
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const size_t free_before = most_memory(kMiB);
  struct rlimit limit = before;
  limit.rlim_cur = size_t{1} << 40;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const MemoryLimits limits = read_memory_limits();
  EXPECT_EQ(limits.addresses, size_t{1} << 40);
  EXPECT_GT(limits.addresses_used, kMiB);
  limit.rlim_cur = limits.addresses_used + 64 * kMiB;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_LE(most_memory(kMiB), 64 * kMiB);
  EXPECT_NE(memory_limits_text(read_memory_limits()).find("limit of addresses (RLIMIT_AS): "), std::string::npos);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(most_memory(kMiB), free_before);
}

}  // namespace
}  // namespace argand
