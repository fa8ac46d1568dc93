#include "argand/io/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "argand/io/faulty_vfs_test.h"
#include "argand/io/folder_test.h"

namespace argand::io {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::FaultyVfs;

class FileTest : public ::testing::Test {
 protected:
  size_t files() const { return folder_.files(); }

  testing::TestFolder folder_;
  const std::string path_ = folder_ / "target";
};

void save(const std::string& path, const std::string& text, Vfs& vfs) {
  AtomicFile file(path, vfs);
  file.reserve(static_cast<int64_t>(text.size()));
  for (size_t i = 0; i < text.size(); i += 100'000) file.write(std::string_view(text).substr(i, 100'000));
  file.commit();
}

const std::string kNew(600'000, 'n');

TEST_F(FileTest, WritesAndReadsBack) {
  write_file(path_, "hello");
  EXPECT_EQ(content_of(path_), "hello");
  const auto bytes = read_file(path_);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "hello");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, StepsComeInTheOrderThatSurvivesAPowerLoss) {
  FaultyVfs vfs;
  write_file(path_, "x", vfs);
  EXPECT_EQ(vfs.log, "create mode allocate write fsync rename fsync_dir close ");
}

TEST_F(FileTest, NothingIsVisibleBeforeCommit) {
  write_file(path_, "old");
  {
    AtomicFile file(path_);
    file.write(kNew);
    EXPECT_EQ(content_of(path_), "old");
  }
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, EveryCallMayFail) {
  FaultyVfs counting;
  save(path_, kNew, counting);
  ASSERT_GT(counting.calls, 8);
  for (const int code : {EIO, ENOSPC, EDQUOT}) {
    for (int call = 0; call < counting.calls; ++call) {
      fs::remove(path_);
      write_file(path_, "old");
      FaultyVfs vfs;
      vfs.fail_at = call;
      vfs.code = code;
      try {
        save(path_, kNew, vfs);
        FAIL() << "call " << call << " failed unseen: " << vfs.log;
      } catch (const FileError& error) {
        EXPECT_EQ(error.code(), code);
        EXPECT_EQ(error.path(), path_);
        EXPECT_NE(error.msg().find(path_), std::string::npos) << error.msg();
        const bool renamed = vfs.log.find("rename fsync_dir") != std::string::npos;
        EXPECT_EQ(content_of(path_), renamed ? kNew : "old") << vfs.log;
        EXPECT_EQ(files(), 1u) << "temporary left: " << vfs.log;
        if (code == ENOSPC && !renamed && vfs.failed != "create" && vfs.failed != "mode") {
          EXPECT_NE(error.msg().find("600000 bytes needed, "), std::string::npos) << vfs.failed << error.msg();
          ASSERT_TRUE(error.space());
          EXPECT_EQ(error.space()->needed, 600000);
          EXPECT_GT(error.space()->free, 0);
        }
      }
    }
  }
}

TEST_F(FileTest, InterruptedAndShortCallsAreInvisible) {
  FaultyVfs counting;
  save(path_, kNew, counting);
  for (int call = 0; call < counting.calls; ++call) {
    FaultyVfs vfs;
    vfs.fail_at = call;
    vfs.code = EINTR;
    vfs.max_write = 77'777;
    save(path_, kNew, vfs);
    EXPECT_EQ(vfs.failed.empty(), false);
    EXPECT_EQ(content_of(path_), kNew);
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(FileTest, ModeOfAReplacedFileStays) {
  write_file(path_, "old");
  ::chmod(path_.c_str(), 0640);
  write_file(path_, "new");
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST_F(FileTest, TemporaryOfAKilledWriterIsTakenOver) {
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path_);
    file.write(kNew);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(path_ + ".tmp"));
  EXPECT_FALSE(fs::exists(path_));
  write_file(path_, "new");
  EXPECT_EQ(content_of(path_), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, SecondWriterIsToldAndHarmsNothing) {
  AtomicFile first(path_);
  first.write("first");
  EXPECT_THROW(
      try { AtomicFile second(path_); } catch (const FileError& e) {
        EXPECT_EQ(e.code(), EBUSY);
        EXPECT_EQ(e.msg(), "cannot write '" + path_ + "': another process is writing it");
        throw;
      },
      FileError);
  first.commit();
  EXPECT_EQ(content_of(path_), "first");
}

TEST_F(FileTest, SizeLimitOfTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    try {
      write_file(path_, kNew);
    } catch (const FileError& e) {
      ::_exit(e.code() == EFBIG ? 42 : 43);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(files(), 0u);
}

TEST_F(FileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(InputFile{path_}, FileError);  // and does not wait for a writer
  EXPECT_THROW(AtomicFile{path_}, FileError);
  EXPECT_THROW(read_file(folder_.path()), FileError);
  EXPECT_THROW(read_file("/dev/zero"), FileError);
  EXPECT_THROW(AtomicFile("/dev/full"), FileError);
  EXPECT_THROW(AtomicFile{folder_.path()}, FileError);
  EXPECT_THROW(AtomicFile{path_ + "/missing/x"}, FileError);
  EXPECT_TRUE(read_file("/proc/self/mem").empty());
}

TEST_F(FileTest, ReadErrorsSayWhere) {
  write_file(path_, "12345");
  const InputFile file(path_);
  char out[8];
  file.read(1, out, 4);
  EXPECT_EQ(std::string(out, 4), "2345");
  try {
    file.read(3, out, 4);
    FAIL();
  } catch (const FileError& e) {
    EXPECT_EQ(e.msg(), "'" + path_ + "' ends at byte 5: expected 4 bytes from byte 3, got 2");
  }
  ASSERT_EQ(::truncate(path_.c_str(), 2), 0);
  EXPECT_THROW(file.read(0, out, 5), FileError);
  EXPECT_THROW(read_file(path_, 1), FileError);
  try {
    InputFile missing(path_ + "x");
    FAIL();
  } catch (const FileError& e) {
    EXPECT_EQ(e.msg(), "cannot read '" + path_ + "x': No such file or directory");
    EXPECT_EQ(e.code(), ENOENT);
  }
}

}  // namespace
}  // namespace argand::io
