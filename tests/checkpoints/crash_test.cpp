// What a power loss may leave: every state that a recorded log of system calls allows must hold a whole checkpoint, not
// older than the last save that had returned.
//
// The model of the disk is the harshest that POSIX allows.  Any prefix of the writes to a file since its fsync may be
// there, with the last one cut or as zeros, and any subset of the changes to a folder since its fsync (names made,
// renamed and removed).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "argand/base/log.h"
#include "argand/io/checkpoint_folder.h"
#include "argand/io/folder_test.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::io {
namespace {

namespace fs = std::filesystem;

enum class Call { kCreate, kWrite, kFsync, kRename, kFsyncFolder, kUnlink, kReturned };

struct Record {
  Call call;
  int file = -1;         // the number of a file: each create() makes a new one
  std::string from, to;  // names without their folder
  std::string data;
  int64_t at = 0;  // of a write; of kReturned the step that is saved
};

// Lets everything happen for real and writes it down.  `forgets`: a call that does nothing and says it did.
class RecordingVfs final : public Vfs {
 public:
  std::vector<Record> log;
  std::optional<Call> forgets;
  size_t max_write = 700;

  int create(const char* path) override {
    const int fd = real_.create(path);
    if (fd >= 0) {
      files_[fd] = next_++;
      log.push_back({Call::kCreate, files_[fd], "", name(path), "", 0});
    }
    return fd;
  }
  int open(const char* path) override { return real_.open(path); }
  int status(int fd, struct stat& out) override { return real_.status(fd, out); }
  int duplicate(int fd) override { return real_.duplicate(fd); }
  ssize_t pread(int fd, void* out, size_t count, int64_t at) override { return real_.pread(fd, out, count, at); }
  int copy_mode(int fd, const char* path) override { return real_.copy_mode(fd, path); }
  int allocate(int fd, int64_t size) override { return real_.allocate(fd, size); }
  ssize_t pwrite(int fd, const void* data, size_t count, int64_t at) override {
    count = std::min(count, max_write);
    log.push_back({Call::kWrite, files_[fd], "", "", {static_cast<const char*>(data), count}, at});
    return real_.pwrite(fd, data, count, at);
  }
  int fsync(int fd) override {
    if (forgets != Call::kFsync) log.push_back({Call::kFsync, files_[fd], "", "", "", 0});
    return 0;
  }
  int rename(const char* from, const char* to) override {
    log.push_back({Call::kRename, -1, name(from), name(to), "", 0});
    return real_.rename(from, to);
  }
  int fsync_dir(const char*) override {
    if (forgets != Call::kFsyncFolder) log.push_back({Call::kFsyncFolder, -1, "", "", "", 0});
    return 0;
  }
  int close(int fd) override { return real_.close(fd); }
  int unlink(const char* path) override {
    log.push_back({Call::kUnlink, -1, name(path), "", "", 0});
    return real_.unlink(path);
  }
  int make_folder(const char* path) override { return real_.make_folder(path); }
  int list(const char* folder, std::vector<std::string>& names) override { return real_.list(folder, names); }

 private:
  static std::string name(const char* path) { return fs::path(path).filename().string(); }
  Vfs& real_ = posix_vfs();
  std::map<int, int> files_;
  int next_ = 0;
};

struct Content {
  std::string safe;                  // as of the last fsync
  std::vector<const Record*> since;  // writes
};
using Names = std::map<std::string, int>;

void apply(const Record& r, Names& names) {
  if (r.call == Call::kCreate) names[r.to] = r.file;
  if (r.call == Call::kUnlink) names.erase(r.from);
  if (r.call != Call::kRename) return;
  if (const auto it = names.find(r.from); it != names.end()) {
    names[r.to] = it->second;
    names.erase(r.from);
  }
}

void write(std::string& bytes, const Record& r, size_t count, bool zeros) {
  const auto end = static_cast<size_t>(r.at) + count;
  if (bytes.size() < end) bytes.resize(end, '\0');
  for (size_t i = 0; i < count; ++i) bytes[static_cast<size_t>(r.at) + i] = zeros ? '\0' : r.data[i];
}

// What may be left of a file: all writes up to some one, which is whole, cut or zeros.
std::vector<std::string> contents(const Content& c) {
  std::vector<std::string> out{c.safe};
  std::string bytes = c.safe;
  for (const Record* r : c.since) {
    for (const bool zeros : {false, true}) {
      out.push_back(bytes);
      write(out.back(), *r, zeros ? r->data.size() : r->data.size() / 2, zeros);
    }
    write(bytes, *r, r->data.size(), false);
    out.push_back(bytes);
  }
  return out;
}

Value state(int64_t step) {
  Value out = Value::dict();
  out.set("weight", full({300}, static_cast<double>(step), kLong));
  return out;
}

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() {
    before_ = set_warning_handler([](std::string_view) {});
  }
  ~CrashTest() override { set_warning_handler(std::move(before_)); }

  // Saves and looks at every state after every prefix of the log.  Counts those that are not as they must be.
  void run(RecordingVfs& vfs, int64_t saves) {
    testing::TestFolder real;
    CheckpointFolder folder(real.path(), 2, vfs);
    for (int64_t step = 1; step <= saves; ++step) {
      if (step % 2)
        folder.save(step, state(step));
      else
        folder.save_async(step, state(step)).wait();
      vfs.log.push_back({Call::kReturned, -1, "", "", "", step});
    }
    std::map<int, Content> files;
    Names safe;
    std::vector<const Record*> pending;
    int64_t acknowledged = 0;
    for (const Record& r : vfs.log) {
      if (r.call == Call::kWrite) files[r.file].since.push_back(&r);
      if (r.call == Call::kFsync) {
        for (const Record* w : files[r.file].since) write(files[r.file].safe, *w, w->data.size(), false);
        files[r.file].since.clear();
      }
      if (r.call == Call::kFsyncFolder) {
        for (const Record* p : pending) apply(*p, safe);
        pending.clear();
      }
      if (r.call == Call::kCreate || r.call == Call::kRename || r.call == Call::kUnlink) pending.push_back(&r);
      if (r.call == Call::kReturned) acknowledged = r.at;
      ASSERT_LT(pending.size(), 12u);
      for (size_t subset = 0; subset < size_t{1} << pending.size(); ++subset) {
        Names names = safe;
        for (size_t i = 0; i < pending.size(); ++i)
          if (subset >> i & 1) apply(*pending[i], names);
        look(names, files, acknowledged);
      }
    }
  }

  // Files whose content is uncertain are looked at one by one, the others then being as they were written.
  void look(const Names& names, const std::map<int, Content>& files, int64_t acknowledged) {
    std::map<std::string, std::string> whole;
    for (const auto& [name, file] : names) {
      const auto it = files.find(file);
      whole[name] = it == files.end() ? "" : contents(it->second).back();
    }
    check(whole, acknowledged);
    for (const auto& [name, file] : names) {
      const auto it = files.find(file);
      if (it == files.end() || it->second.since.empty()) continue;
      for (const std::string& content : contents(it->second)) {
        auto left = whole;
        left[name] = content;
        check(left, acknowledged);
      }
    }
  }

  void check(const std::map<std::string, std::string>& left, int64_t acknowledged) {
    if (!seen_.insert({left, acknowledged}).second) return;
    const testing::TestFolder after;
    for (const auto& [name, content] : left) after.put(name, content);
    try {
      const auto loaded = CheckpointFolder(after.path()).load_latest();
      const Tensor expected = full({300}, static_cast<double>(loaded.step), kLong);
      if (loaded.step < acknowledged || !equal(loaded.value["weight"].tensor(), expected)) ++bad_;
    } catch (const FileError&) {
      if (acknowledged > 0) ++bad_;
    }
  }

  std::set<std::pair<std::map<std::string, std::string>, int64_t>> seen_;
  int64_t bad_ = 0;
  WarningFunction before_;
};

// ARGAND_CRASHES: the number of saves.
TEST_F(CrashTest, EveryStateHoldsTheLastSave) {
  RecordingVfs vfs;
  vfs.max_write = 64;
  const char* saves = std::getenv("ARGAND_CRASHES");
  run(vfs, saves ? std::atoi(saves) : 8);
  EXPECT_EQ(bad_, 0);
  EXPECT_GT(seen_.size(), 1'000u);
  std::printf("%zu calls, %zu states after a crash\n", vfs.log.size(), seen_.size());
}

TEST_F(CrashTest, AForgottenFsyncIsFound) {
  RecordingVfs vfs;
  vfs.forgets = Call::kFsync;
  run(vfs, 3);
  EXPECT_GT(bad_, 0);
}

TEST_F(CrashTest, AForgottenFsyncOfTheFolderIsFound) {
  RecordingVfs vfs;
  vfs.forgets = Call::kFsyncFolder;
  run(vfs, 3);
  EXPECT_GT(bad_, 0);
}

}  // namespace
}  // namespace argand::io
