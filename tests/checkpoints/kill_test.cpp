// Processes killed while they save, and disks of every size that fill up.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "argand/io/checkpoint_folder.h"
#include "argand/io/folder_test.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::io {
namespace {

Value state(int64_t step) {
  Value out = Value::dict();
  out.set("small", full({10}, static_cast<double>(step), kLong));
  out.set("large", full({20'000 + step % 7 * 10'000}, static_cast<double>(step), kLong));
  return out;
}

bool is_whole(const CheckpointFolder::Loaded& loaded) {
  const auto is = [&](const char* name) {
    const Tensor& t = loaded.value[name].tensor();
    return equal(t, full({t.numel()}, static_cast<double>(loaded.step), kLong));
  };
  return is("small") && is("large") && loaded.value["large"].tensor().numel() == 20'000 + loaded.step % 7 * 10'000;
}

// ARGAND_KILLS: how many.
TEST(Kill, AtAnyMomentNothingThatWasSavedIsLost) {
  const char* wanted = std::getenv("ARGAND_KILLS");
  const int kills = wanted ? std::atoi(wanted) : 300;
  const testing::TestFolder folder;
  auto* const saved = static_cast<std::atomic<int64_t>*>(
      ::mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(saved), MAP_FAILED);
  *saved = 0;
  std::mt19937 random(5);
  std::uniform_int_distribution<int> microseconds(0, 12000);
  int64_t between = 0, temporaries = 0, unacknowledged = 0;
  for (int i = 0; i < kills; ++i) {
    const int64_t before = *saved;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        CheckpointFolder run(folder.path(), 2);
        int64_t step = run.steps().empty() ? 0 : run.load_latest().step;
        for (;;) {
          ++step;
          if (step % 2)
            run.save(step, state(step));
          else
            run.save_async(step, state(step)).wait();
          *saved = step;
        }
      } catch (...) {
        ::_exit(1);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed after " << i << " kills";
    const int64_t acknowledged = *saved;
    between += acknowledged > before;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      temporaries += entry.path().extension() == ".tmp";
    if (acknowledged == 0 && CheckpointFolder(folder.path()).steps().empty()) continue;
    const auto loaded = CheckpointFolder(folder.path()).load_latest();
    ASSERT_GE(loaded.step, acknowledged) << "after " << i << " kills";
    ASSERT_TRUE(is_whole(loaded)) << "after " << i << " kills";
    ASSERT_TRUE(loaded.skipped.empty());
    unacknowledged += loaded.step > acknowledged;
  }
  std::printf(
      "%d kills over %ld saves: %ld after a save had returned, %ld left a temporary file, %ld a file not yet "
      "told of\n",
      kills, static_cast<long>(*saved), static_cast<long>(between), static_cast<long>(temporaries),
      static_cast<long>(unacknowledged));
  EXPECT_GT(temporaries, 0);
  CheckpointFolder run(folder.path(), 2);
  const int64_t next = run.steps().back() + 1;
  run.save(next, state(next));
  EXPECT_EQ(folder.files(), 2u);  // what killed processes left is gone
  ::munmap(saved, sizeof(*saved));
}

// In a process of its own, which may mount what nobody else sees; 77: it may not.
int fill_disks(const std::string& folder) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  int full = 0, fits = 0;
  for (int kib = 4; kib <= 2400; kib += 4) {
    if (::mount("none", folder.c_str(), "tmpfs", 0, ("size=" + std::to_string(kib) + "k").c_str()) != 0) return 77;
    CheckpointFolder run(folder, 3);
    int64_t saved = 0;
    for (int64_t step = 1; step <= 5; ++step) {
      try {
        if (step % 2)
          run.save(step, state(step));
        else
          run.save_async(step, state(step)).wait();
        saved = step;
      } catch (const FileError& e) {
        ++full;
        if (e.code() != ENOSPC || !e.space() || e.space()->needed < 160'000 ||
            e.space()->free >= e.space()->needed + 4096)
          return 2;
      }
    }
    fits += saved == 5;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".tmp") return 3;
    if (saved > 0) {
      const auto loaded = run.load_latest();
      if (loaded.step != saved || !loaded.skipped.empty() || !is_whole(loaded)) return 4;
    } else if (!run.steps().empty()) {
      return 5;
    }
    if (::umount(folder.c_str()) != 0) return 6;
  }
  return full > 100 && fits > 10 ? 0 : 7;
}

// The system would end a program that writes beyond its limit (SIGXFSZ).
TEST(Disk, LimitOfFileSizes) {
  const testing::TestFolder folder;
  CheckpointFolder(folder.path()).save(1, state(1));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int errors = 0;
    try {
      for (const rlim_t limit : {rlim_t{0}, rlim_t{1000}, rlim_t{100'000}}) {
        const rlimit value{limit, RLIM_INFINITY};
        ::setrlimit(RLIMIT_FSIZE, &value);
        for (const bool async : {false, true}) {
          try {
            CheckpointFolder run(folder.path());
            if (async)
              run.save_async(2, state(2)).wait();
            else
              run.save(2, state(2));
          } catch (const FileError& e) {
            errors += e.code() == EFBIG && e.path() == folder / "step-000000002.pt";
          }
        }
      }
      sigset_t pending;
      ::sigpending(&pending);
      if (::sigismember(&pending, SIGXFSZ) == 1) ::_exit(2);
      if (CheckpointFolder(folder.path()).load_latest().step != 1) ::_exit(3);
      const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &none);
      CheckpointFolder(folder.path()).save(2, state(2));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      ::_exit(4);
    }
    ::_exit(errors == 6 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(folder.files(), 2u);
}

TEST(Disk, FullAtEverySize) {
  const testing::TestFolder folder;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int status = 8;
    try {
      status = fill_disks(folder.path());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no tmpfs can be mounted here";
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace argand::io
