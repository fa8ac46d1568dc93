#include "argand/io/checkpoint_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "argand/base/log.h"
#include "argand/base/path.h"

namespace argand::io {

namespace {

constexpr std::string_view kBegin = "step-", kEnd = ".pt", kTemporary = ".tmp";
constexpr size_t kDigits = 9;

std::string name_of(int64_t step) {
  const std::string digits = std::to_string(step);
  return str(kBegin, std::string(kDigits - std::min(kDigits, digits.size()), '0'), digits, kEnd);
}

// The step of a file of this name; nothing for a name of another form.
std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  int64_t step = -1;
  std::from_chars(name.data() + kBegin.size(), name.data() + name.size(), step);
  if (step < 0 || name_of(step) != name) return std::nullopt;
  return step;
}

// A killed save left this temporary file.
bool is_temporary(std::string_view name) {
  return name.ends_with(kTemporary) && step_of(name.substr(0, name.size() - kTemporary.size()));
}

template <class Call>
int retry(Call call) {
  for (;;) {
    const int result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

[[noreturn]] void fail(const char* what, const std::string& path, int code) {
  throw FileError(str(what, " '", path, "': ", std::generic_category().message(code)), path, code);
}

void make_folders(const std::string& path, Vfs& vfs) {
  if (::access(path.c_str(), F_OK) == 0) return;
  const std::string parent = folder_of(path);
  make_folders(parent, vfs);
  if (retry([&] { return vfs.make_folder(path.c_str()); }) != 0 && errno != EEXIST)
    fail("cannot make the folder", path, errno);
  if (retry([&] { return vfs.fsync_dir(parent.c_str()); }) != 0) fail("cannot make the folder", path, errno);
}

std::string without_end(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.empty() ? "." : path;
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

struct CheckpointFolder::Pending::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, told = false;
  std::exception_ptr error;
};

struct CheckpointFolder::Writer {
  std::thread thread;
  int process = ::getpid();  // that `thread` is one of: a fork has none of its parent's threads
};

void CheckpointFolder::Pending::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done; });
  state_->told = true;
  if (state_->error) std::rethrow_exception(state_->error);
}

bool CheckpointFolder::Pending::done() const {
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

CheckpointFolder::CheckpointFolder(std::string path, int64_t keep, Vfs& vfs)
    : path_(without_end(std::move(path))), keep_(keep), vfs_(vfs), writer_(std::make_unique<Writer>()) {
  check_path(path_);
  ARGAND_CHECK(ValueError, keep > 0, "CheckpointFolder: expected keep > 0, got ", keep);
}

CheckpointFolder::~CheckpointFolder() {
  try {
    close();
  } catch (const std::exception& e) {
    try {
      warn("CheckpointFolder: ", e.what());
    } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor has nobody to tell
    }
  }
}

std::string CheckpointFolder::path_of(int64_t step) const { return str(path_, "/", name_of(step)); }

std::vector<std::string> CheckpointFolder::names() const {
  std::vector<std::string> out;
  const int status = retry([&] {
    out.clear();
    return vfs_.list(path_.c_str(), out);
  });
  if (status != 0 && errno != ENOENT) fail("cannot list", path_, errno);
  return out;
}

std::vector<int64_t> CheckpointFolder::steps() const {
  std::vector<int64_t> out;
  for (const std::string& name : names())
    if (const auto step = step_of(name)) out.push_back(*step);
  std::sort(out.begin(), out.end());
  return out;
}

void CheckpointFolder::check_step(int64_t step) const {
  ARGAND_CHECK(ValueError, step >= 0, "CheckpointFolder: expected a step >= 0, got ", step);
  for (const int64_t there : steps())
    ARGAND_CHECK(ValueError, there <= step || contains(damaged_, there), "CheckpointFolder: '", path_, "' holds step ",
                 there, ", which is later than ", step, ": go on from it (load_latest), use another folder, or remove ",
                 name_of(there));
}

std::string CheckpointFolder::save(int64_t step, const Value& value) {
  close();
  check_step(step);
  write(TorchImage(value), step);
  return path_of(step);
}

CheckpointFolder::Pending CheckpointFolder::save_async(int64_t step, const Value& value) {
  close();
  check_step(step);
  auto image = std::make_unique<TorchImage>(value, /*copied=*/true);
  const auto state = std::make_shared<Pending::State>();
  pending_ = state;
  writer_->process = ::getpid();
  try {
    writer_->thread = std::thread([this, step, state, image = std::move(image)]() mutable {
      std::exception_ptr error;
      try {
        write(*image, step);
      } catch (...) {
        error = std::current_exception();
      }
      image.reset();
      const std::lock_guard lock(state->mutex);
      state->error = error;
      state->done = true;
      state->changed.notify_all();
    });
  } catch (...) {
    pending_ = nullptr;
    throw;
  }
  return Pending(state);
}

void CheckpointFolder::finish() {
  std::thread& thread = writer_->thread;
  if (!thread.joinable()) return;
  if (writer_->process == ::getpid())
    thread.join();
  else
    thread.detach();
}

void CheckpointFolder::close() {
  finish();
  const auto pending = std::exchange(pending_, nullptr);
  if (!pending || writer_->process != ::getpid()) return;
  const std::lock_guard lock(pending->mutex);
  if (pending->error && !pending->told) std::rethrow_exception(pending->error);
}

void CheckpointFolder::write(const TorchImage& image, int64_t step) {
  make_folders(path_, vfs_);
  image.write_to(path_of(step), vfs_);
  damaged_.erase(std::remove(damaged_.begin(), damaged_.end(), step), damaged_.end());
  // The new file is safe: a failure from here on costs only disk space, and the next save tries again.
  try {
    remove_old();
  } catch (const FileError& e) {
    warn("CheckpointFolder: ", e.what(), "; step ", step, " is saved");
  }
}

void CheckpointFolder::remove_old() {
  const auto remove = [&](const std::string& path) {
    if (retry([&] { return vfs_.unlink(path.c_str()); }) != 0 && errno != ENOENT) fail("cannot remove", path, errno);
  };
  std::vector<int64_t> all, whole;
  for (const std::string& name : names()) {
    if (const auto step = step_of(name)) {
      all.push_back(*step);
      if (!contains(damaged_, *step)) whole.push_back(*step);
    } else if (is_temporary(name)) {
      // A file that is being written is locked.
      const std::string path = str(path_, "/", name);
      const int fd = retry([&] { return vfs_.create(path.c_str()); });
      if (fd < 0) continue;
      const int code = retry([&] { return vfs_.unlink(path.c_str()); }) != 0 ? errno : 0;
      vfs_.close(fd);
      if (code != 0) fail("cannot remove", path, code);
    }
  }
  std::sort(whole.begin(), whole.end());
  const auto count = static_cast<int64_t>(whole.size());
  if (count <= keep_) return;
  std::sort(all.begin(), all.end());
  for (const int64_t step : all)
    if (step < whole[static_cast<size_t>(count - keep_)]) remove(path_of(step));
}

CheckpointFolder::Loaded CheckpointFolder::load_latest(const LoadOptions& options) {
  finish();
  const std::vector<int64_t> steps = this->steps();
  if (steps.empty()) {
    const std::vector<std::string> found = names();
    std::string holds = ::access(path_.c_str(), F_OK) != 0 ? "there is no such folder"
                        : found.empty()                    ? "it is empty"
                                                           : str("it holds ", found.size(), " other files:");
    for (size_t i = 0; i < std::min<size_t>(found.size(), 5); ++i) holds += str(i ? ", " : " ", found[i]);
    if (found.size() > 5) holds += ", ...";
    throw NoCheckpoint(str("no checkpoint in '", path_, "': ", holds), path_, ENOENT);
  }
  LoadOptions checked = options;
  checked.verify = true;
  Loaded out;
  damaged_.clear();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    out.path = path_of(*step);
    try {
      out.value = load(out.path, checked);
    } catch (const FileError& e) {
      if (e.code() != 0 && e.code() != EIO) throw;
      out.skipped.push_back({out.path, e.msg()});
      damaged_.push_back(*step);
      continue;
    }
    out.step = *step;
    for (const SkippedFile& s : out.skipped) warn("CheckpointFolder: passed over ", s.path, ": ", s.reason);
    if (!out.skipped.empty()) warn("CheckpointFolder: going on from ", out.path);
    return out;
  }
  std::string message = str("every checkpoint in '", path_, "' is damaged:");
  for (const SkippedFile& s : out.skipped) message += "\n  " + s.reason;
  throw FileError(message, path_, 0);
}

}  // namespace argand::io
