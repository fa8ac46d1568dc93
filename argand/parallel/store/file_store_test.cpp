// The file of a FileStore: who removes it, and what becomes of it when a process is killed.
#include "argand/parallel/store/file_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "argand/parallel/store/child_test.h"

namespace argand::parallel {
namespace {

namespace fs = std::filesystem;

class FileStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/argand-store-XXXXXX";
    folder = ::mkdtemp(name);
    path = folder + "/store";
  }
  void TearDown() override { fs::remove_all(folder); }
  template <class F>
  std::string message_of(F f) {
    try {
      f();
    } catch (const StoreError& e) {
      return e.what();
    }
    return "nothing was thrown";
  }
  void write(const std::string& text, std::ios::openmode mode) { std::ofstream(path, mode | std::ios::binary) << text; }
  std::string folder, path;
};

#define EXPECT_SAYS(text, message) EXPECT_NE((message).find(text), std::string::npos) << (message)

TEST_F(FileStoreTest, TheLastToLeaveRemovesTheFile) {
  {
    auto first = std::make_shared<FileStore>(path, 2);
    first->set("a", "1");
    first = nullptr;
    EXPECT_TRUE(fs::exists(path));
    FileStore second(path, 2);
    EXPECT_EQ(second.get_text("a"), "1");
    const auto clone = second.clone();
    clone->set("b", "1");
  }
  EXPECT_FALSE(fs::exists(path));
  {
    FileStore first(path, 3), second(path, 3);
    EXPECT_FALSE(first.check({"a"}));
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
  { FileStore kept(path); }
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(FileStoreTest, CountsAndPath) {
  FileStore store(path, 1);
  EXPECT_EQ(store.path(), path);
  EXPECT_EQ(store.num_keys(), 1);
  EXPECT_TRUE(store.list_keys().empty());
}

TEST_F(FileStoreTest, AnEmptyFileMayBeThere) {
  write("", std::ios::out);
  FileStore store(path, 1);
  store.set("a", "1");
  EXPECT_EQ(FileStore(path, 2).get_text("a"), "1");
}

TEST_F(FileStoreTest, OtherFilesAreLeftAlone) {
  write("a letter", std::ios::out);
  EXPECT_SAYS("is no file of a FileStore", message_of([&] { FileStore(path, 1); }));
  EXPECT_EQ(fs::file_size(path), 8u);
  EXPECT_SAYS("/none/x: No such file", message_of([&] { FileStore(folder + "/none/x", 1); }));
}

TEST_F(FileStoreTest, ATornRecordIsIgnored) {
  FileStore store(path, 3);
  store.set("a", "1");
  store.set("b", std::string(100, 'b'));
  const auto whole = fs::file_size(path);
  // The file is cut off after `bytes` bytes.
  for (uintmax_t bytes = 0; bytes < whole; bytes += 7) {
    const std::string torn = path + "." + std::to_string(bytes);
    fs::copy_file(path, torn);
    fs::resize_file(torn, bytes);
    FileStore reader(torn, 9);
    EXPECT_TRUE(!reader.check({"a"}) || reader.get_text("a") == "1");
    EXPECT_FALSE(reader.check({"b"}));
    reader.set("c", "3");
    FileStore again(torn, 9);
    EXPECT_EQ(again.get_text("c"), "3");
    EXPECT_FALSE(again.check({"b"}));
  }
  // One whose last bytes never reached the disk.
  const std::string zeros = path + ".zeros";
  fs::copy_file(path, zeros);
  fs::resize_file(zeros, whole - 10);
  fs::resize_file(zeros, whole);
  FileStore reader(zeros, 9);
  EXPECT_EQ(reader.get_text("a"), "1");
  EXPECT_FALSE(reader.check({"b"}));
}

TEST_F(FileStoreTest, DamageBeforeTheEndIsAnError) {
  FileStore store(path, 3);
  const auto begin = fs::file_size(path);
  store.set("a", "1");
  store.set("b", "2");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(begin) + 6);
  file.put('\x77');
  file.close();
  EXPECT_SAYS("is damaged at byte", message_of([&] { FileStore(path, 3); }));
}

TEST_F(FileStoreTest, ARemovedFileIsAnError) {
  FileStore store(path, 1);
  fs::remove(path);
  EXPECT_SAYS("cannot open", message_of([&] { store.set("a", "1"); }));
  FileStore other(path, 1);
  EXPECT_SAYS("was replaced", message_of([&] { store.set("a", "1"); }));
}

#if !defined(__SANITIZE_THREAD__)  // its runtime does not go on in the child of a program with threads

TEST_F(FileStoreTest, ProcessesShareAndMayBeKilled) {
  constexpr int kChildren = 6;
  FileStore store(path, kChildren + 1);
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    children.push_back(test::in_child([&] {
      FileStore mine(path, kChildren + 1);
      for (int round = 0; round < 50; ++round) mine.add("count", 1);
      while (i % 2) mine.set("mine", std::string(5000, 'x'));  // until it is killed
    }));
  }
  while (store.add("count", 0) < 50 * kChildren) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  for (int i = 0; i < kChildren; ++i) {
    if (i % 2) ::kill(children[static_cast<size_t>(i)], SIGKILL);
    ::waitpid(children[static_cast<size_t>(i)], nullptr, 0);
  }
  EXPECT_EQ(store.add("count", 1), 50 * kChildren + 1);
  EXPECT_EQ(store.get("mine").size(), 5000u);
}

TEST_F(FileStoreTest, AChildOfForkIsNoUserOfItsOwn) {
  auto store = std::make_unique<FileStore>(path, 1);
  const pid_t child = test::in_child([&] {
    store->set("from child", "1");
    store = nullptr;
  });
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(store->get_text("from child"), "1");
}

#endif

}  // namespace
}  // namespace argand::parallel
