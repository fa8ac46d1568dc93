// The checkpoints of a run: files of torch.save in one folder, the newest few of them.
//
//   CheckpointFolder folder("run");                    // run/step-000000100.pt, run/step-000000200.pt ...
//   if (!folder.steps().empty()) restore(folder.load_latest().value);
//   folder.save(step, value);                          // or save_async
//
// When save() returns, the new file survives a power loss; only then are old ones removed.  So at any moment, whatever
// fails or is killed, all that was saved before is there: the newest of it is found by load_latest().
//
// One program writes into a folder at a time.  A CheckpointFolder is for one thread; the writing of save_async() goes
// on in a thread of its own.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/io/load.h"

namespace argand::io {

// A file that is there but could not be read, and why.
struct SkippedFile {
  std::string path, reason;
};

class CheckpointFolder {
 public:
  struct Loaded {
    Value value;
    int64_t step = 0;
    std::string path;
    std::vector<SkippedFile> skipped;  // newer ones, which are damaged
  };

  // A save under way.  Copies of the handle mean the same one.
  class Pending {
   public:
    // Until the file is written; throws what its writing threw.
    void wait() const;
    bool done() const;

   private:
    friend class CheckpointFolder;
    struct State;
    explicit Pending(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
  };

  // Makes nothing yet: the folder is made by the first save.  ValueError unless `keep` > 0.
  explicit CheckpointFolder(std::string path, int64_t keep = 3, Vfs& vfs = default_vfs());
  // As close(), but what failed is a warning.
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  // Writes a file, then removes temporary files that killed processes left and all but the newest `keep`.  If it
  // throws, what was there is there.  ValueError for a step below 0, and below that of a file in the folder, unless
  // load_latest() has skipped that one: a run that goes back must have a folder of its own, or its files would be taken
  // for the older ones.  A step that is there is replaced.  Returns the path.
  std::string save(int64_t step, const Value& value);
  // Copies the elements of tensors to memory of the host, then returns; the rest of save() is done meanwhile.  Waits
  // for the one before. An error that wait() did not throw is thrown by the next save(), save_async() or close().
  Pending save_async(int64_t step, const Value& value);
  // Waits for what is under way.
  void close();

  // The newest file that is whole: its checksums are compared.  What it passes over is named in a warning and in the
  // result. NoCheckpoint if there is no file; FileError (code 0) naming each one if all are damaged.  Other failures
  // (no memory, no permission, a device that is not there) are thrown as they are: then an older file is no better.
  Loaded load_latest(const LoadOptions& options = {});

  std::vector<int64_t> steps() const;  // of the files that are there, rising; damaged ones are among them
  std::string path_of(int64_t step) const;
  const std::string& path() const { return path_; }
  int64_t keep() const { return keep_; }

 private:
  void check_step(int64_t step) const;
  void write(const TorchImage& image, int64_t step);
  void remove_old();
  void finish();
  std::vector<std::string> names() const;

  const std::string path_;
  const int64_t keep_;
  Vfs& vfs_;
  std::vector<int64_t> damaged_;  // steps whose files load_latest() skipped
  std::shared_ptr<Pending::State> pending_;
  struct Writer;
  const std::unique_ptr<Writer> writer_;
};

// There is none; the message says what the folder holds.  Its code is ENOENT.
class NoCheckpoint : public FileError {
 public:
  using FileError::FileError;
};

}  // namespace argand::io
