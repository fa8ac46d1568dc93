#include "argand/io/checkpoint_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "argand/base/log.h"
#include "argand/io/faulty_vfs_test.h"
#include "argand/io/folder_test.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::io {
namespace {

namespace fs = std::filesystem;
using testing::FaultyVfs;
using Names = std::vector<std::string>;

class CheckpointFolderTest : public ::testing::Test {
 protected:
  CheckpointFolderTest() {
    before_ = set_warning_handler([this](std::string_view text) { warnings_.emplace_back(text); });
  }
  ~CheckpointFolderTest() override { set_warning_handler(std::move(before_)); }

  Names files() const {
    Names out;
    for (const auto& entry : fs::directory_iterator(path_)) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }
  // Flips a bit of the elements.
  void damage(const std::string& path) const {
    std::string bytes = testing::content_of(path);
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(path, std::ios::binary) << bytes;
  }

  testing::TestFolder outer_;
  const std::string path_ = outer_ / "a/run";
  Names warnings_;
  WarningFunction before_;
};

Value state(int64_t step) {
  Value out = Value::dict();
  out.set("weight", full({400}, static_cast<double>(step), kLong));
  out.set("step", step);
  return out;
}

// The step that a whole state is of, -1 for a mixture.
int64_t step_of(const Value& state) {
  const int64_t step = state["step"].to_int();
  return equal(state["weight"].tensor(), full({400}, static_cast<double>(step), kLong)) ? step : -1;
}

TEST_F(CheckpointFolderTest, KeepsTheNewestFew) {
  CheckpointFolder folder(path_ + "/", 2);
  EXPECT_TRUE(folder.steps().empty());
  EXPECT_EQ(folder.save(0, state(0)), path_ + "/step-000000000.pt");
  EXPECT_EQ(folder.load_latest().step, 0);
  folder.save(5, state(5));
  folder.save(1'234'567'890'123, state(7));
  EXPECT_EQ(files(), (Names{"step-000000005.pt", "step-1234567890123.pt"}));
  EXPECT_EQ(folder.steps(), (std::vector<int64_t>{5, 1'234'567'890'123}));
  const auto loaded = CheckpointFolder(path_).load_latest();
  EXPECT_EQ(loaded.step, 1'234'567'890'123);
  EXPECT_EQ(step_of(loaded.value), 7);
  EXPECT_TRUE(loaded.skipped.empty());
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CheckpointFolderTest, FallsBackAndSaysSo) {
  CheckpointFolder folder(path_);
  for (const int64_t step : {1, 2, 3}) folder.save(step, state(step));
  damage(folder.path_of(3));
  fs::resize_file(folder.path_of(2), 100);
  const auto loaded = folder.load_latest();
  EXPECT_EQ(step_of(loaded.value), 1);
  EXPECT_EQ(loaded.step, 1);
  ASSERT_EQ(loaded.skipped.size(), 2u);
  EXPECT_EQ(loaded.skipped[0].path, folder.path_of(3));
  EXPECT_NE(loaded.skipped[0].reason.find("checksum"), std::string::npos) << loaded.skipped[0].reason;
  ASSERT_EQ(warnings_.size(), 3u);
  EXPECT_NE(warnings_[0].find(folder.path_of(3)), std::string::npos);
  EXPECT_EQ(warnings_[2], "CheckpointFolder: going on from " + folder.path_of(1));

  // It goes on from there; damaged files are replaced, or removed with those of their age.
  folder.save(2, state(2));
  EXPECT_EQ(step_of(folder.load_latest().value), 2);
  for (const int64_t step : {4, 5}) folder.save(step, state(step));
  EXPECT_EQ(folder.steps(), (std::vector<int64_t>{2, 3, 4, 5}));
  folder.save(6, state(6));
  EXPECT_EQ(folder.steps(), (std::vector<int64_t>{4, 5, 6}));

  for (const int64_t step : {4, 5, 6}) damage(folder.path_of(step));
  try {
    folder.load_latest();
    FAIL();
  } catch (const FileError& e) {
    EXPECT_EQ(e.code(), 0);
    EXPECT_NE(e.msg().find(folder.path_of(4)), std::string::npos) << e.msg();
  }
}

TEST_F(CheckpointFolderTest, SaysWhatIsThereIfThereIsNone) {
  const auto message = [&] {
    try {
      CheckpointFolder(path_).load_latest();
    } catch (const NoCheckpoint& e) {
      EXPECT_EQ(e.code(), ENOENT);
      return e.msg();
    }
    return std::string("none");
  };
  EXPECT_EQ(message(), "no checkpoint in '" + path_ + "': there is no such folder");
  fs::create_directories(path_);
  EXPECT_EQ(message(), "no checkpoint in '" + path_ + "': it is empty");
  for (const char* name : {"step-1.pt", "step-0000000001.pt", "step--00000001.pt", "step-000000001.pt.tmp"})
    std::ofstream(path_ + "/" + name) << "x";
  EXPECT_NE(message().find("it holds 4 other files: "), std::string::npos) << message();
  std::ofstream(path_ + "/step-000000001.ptx") << "x";
  std::ofstream(path_ + "/notes") << "x";
  EXPECT_NE(message().find(", ..."), std::string::npos);
}

TEST_F(CheckpointFolderTest, ARunThatGoesBackIsRefused) {
  CheckpointFolder(path_).save(10, state(10));
  CheckpointFolder folder(path_);
  EXPECT_THROW(folder.save(9, state(9)), ValueError);
  EXPECT_THROW(folder.save_async(9, state(9)), ValueError);
  EXPECT_THROW(folder.save(-1, state(0)), ValueError);
  folder.save(10, state(11));
  EXPECT_EQ(step_of(folder.load_latest().value), 11);
  EXPECT_EQ(folder.steps().size(), 1u);
  EXPECT_THROW(CheckpointFolder(path_, 0), ValueError);
}

TEST_F(CheckpointFolderTest, LeftoversGoButNotWhatIsBeingWritten) {
  CheckpointFolder folder(path_);
  folder.save(1, state(1));
  std::ofstream(path_ + "/step-000000002.pt.tmp") << "of a killed process";
  std::ofstream(path_ + "/notes.tmp") << "not ours";
  AtomicFile other(folder.path_of(7));
  EXPECT_EQ(folder.load_latest().step, 1);
  folder.save(3, state(3));
  EXPECT_EQ(files(), (Names{"notes.tmp", "step-000000001.pt", "step-000000003.pt", "step-000000007.pt.tmp"}));
}

TEST_F(CheckpointFolderTest, EveryCallMayFail) {
  // Three files are there, one goes; so all kinds of calls occur.
  const auto prepare = [&] {
    fs::remove_all(path_);
    CheckpointFolder folder(path_);
    for (const int64_t step : {1, 2, 3}) folder.save(step, state(step));
    std::ofstream(path_ + "/step-000000009.pt.tmp") << "left";
  };
  prepare();
  FaultyVfs counting;
  counting.max_write = 1000;
  CheckpointFolder(path_, 3, counting).save(4, state(4));
  ASSERT_EQ(counting.log,
            "list create mode allocate write write write write write fsync rename fsync_dir close list create unlink "
            "close unlink ");
  for (const bool async : {false, true}) {
    for (const int code : {EIO, ENOSPC, EDQUOT, EINTR}) {
      for (int call = 0; call < counting.calls; ++call) {
        prepare();
        warnings_.clear();
        FaultyVfs vfs;
        vfs.fail_at = call;
        vfs.code = code;
        vfs.max_write = 1000;
        bool failed = false;
        try {
          CheckpointFolder folder(path_, 3, vfs);
          if (async)
            folder.save_async(4, state(4)).wait();
          else
            folder.save(4, state(4));
        } catch (const FileError& e) {
          failed = true;
          EXPECT_EQ(e.code(), code);
        }
        EXPECT_FALSE(vfs.failed.empty());
        const auto loaded = CheckpointFolder(path_).load_latest();
        EXPECT_TRUE(loaded.skipped.empty());
        EXPECT_EQ(step_of(loaded.value), loaded.step);
        const bool renamed = vfs.log.find("rename fsync_dir") != std::string::npos;
        EXPECT_EQ(loaded.step, renamed ? 4 : 3) << vfs.log;
        if (code == EINTR) {
          EXPECT_FALSE(failed) << vfs.log;
          EXPECT_TRUE(warnings_.empty());
        } else {
          // Until the file is safe it is an error, after that at most a warning.
          const size_t calls_of_writing = 12;
          EXPECT_EQ(failed, static_cast<size_t>(call) <= calls_of_writing) << vfs.log;
        }
        EXPECT_FALSE(fs::exists(path_ + "/step-000000004.pt.tmp")) << vfs.log;
        // The next one cleans up what is left.
        CheckpointFolder(path_).save(5, state(5));
        EXPECT_EQ(files().size(), 3u) << vfs.log;
      }
    }
  }
}

TEST_F(CheckpointFolderTest, AsyncSavesWhatWasThereWhenItWasCalled) {
  CheckpointFolder folder(path_);
  const Tensor base = arange(1000), part = base.slice(0, 10, 20);
  Value value = Value::dict();
  value.set("base", base);
  value.set("part", part);
  const auto pending = folder.save_async(1, value);
  base.fill_(-1);
  value.clear();
  pending.wait();
  EXPECT_TRUE(pending.done());
  const auto loaded = folder.load_latest();
  EXPECT_TRUE(equal(loaded.value["base"].tensor(), arange(1000)));
  EXPECT_TRUE(equal(loaded.value["part"].tensor(), arange(10, 20)));
  EXPECT_EQ(loaded.value["part"].tensor().storage().get(), loaded.value["base"].tensor().storage().get());
  // The bytes are those of save().
  const std::string written = testing::content_of(folder.path_of(1));
  folder.save(1, loaded.value);
  EXPECT_EQ(testing::content_of(folder.path_of(1)), written);
}

TEST_F(CheckpointFolderTest, AsyncSavesFollowEachOther) {
  {
    CheckpointFolder folder(path_, 2);
    for (int64_t step = 0; step < 20; ++step) folder.save_async(step, state(step));
    EXPECT_EQ(folder.load_latest().step, 19);  // waits
    folder.save_async(20, state(20));
  }  // as does the destructor
  EXPECT_EQ(files(), (Names{"step-000000019.pt", "step-000000020.pt"}));
}

TEST_F(CheckpointFolderTest, AnAsyncErrorIsThrownOnce) {
  const auto failing = [&](auto&& f) {
    FaultyVfs vfs;
    vfs.fail_at = 7;
    fs::remove_all(path_);
    {
      CheckpointFolder folder(path_, 3, vfs);
      const auto pending = folder.save_async(1, state(1));
      f(folder, pending);
    }
    EXPECT_FALSE(vfs.failed.empty());
  };
  failing([](CheckpointFolder& folder, const auto& pending) {
    EXPECT_THROW(pending.wait(), FileError);
    EXPECT_THROW(pending.wait(), FileError);
    folder.save(1, state(1));  // it was told
  });
  failing([](CheckpointFolder& folder, const auto&) {
    EXPECT_THROW(folder.save(2, state(2)), FileError);
    folder.save(2, state(2));
  });
  failing([](CheckpointFolder& folder, const auto&) {
    EXPECT_THROW(folder.save_async(2, state(2)), FileError);
    folder.close();
  });
  failing([](CheckpointFolder& folder, const auto&) { EXPECT_THROW(folder.close(), FileError); });
  EXPECT_TRUE(warnings_.empty());
  failing([](CheckpointFolder&, const auto&) {});
  EXPECT_EQ(warnings_.size(), 1u);  // of the destructor
}

TEST_F(CheckpointFolderTest, WhatCannotBeSavedChangesNothing) {
  CheckpointFolder folder(path_);
  folder.save(1, state(1));
  Value bad = Value::list();
  bad.push_back(bad);
  EXPECT_THROW(folder.save(2, bad), ValueError);
  EXPECT_THROW(folder.save_async(2, bad), ValueError);
  EXPECT_EQ(files(), Names{"step-000000001.pt"});
  bad.clear();
}

}  // namespace
}  // namespace argand::io
