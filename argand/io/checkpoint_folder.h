// The checkpoints of a run: files of torch.save in one folder, the newest few of them.
//
//   CheckpointFolder folder("run");                    // run/step-000000100.pt, run/step-000000200.pt ...
//   if (!folder.steps().empty()) restore(folder.load_latest().value);
//   folder.save(step, value);                          // or save_async
//
// When save() returns, the new file survives a power loss; only then are old ones removed.  So at any moment, after any
// failure, all saved checkpoints that were kept are there, and load_latest() finds the newest.
//
// One program writes into a folder at a time.  A CheckpointFolder is for one thread; the writing of save_async() goes
// on in a thread of its own.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/io/load.h"

namespace argand::io {

// A file that exists but could not be read, and the reason.
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

  // A save that is under way.  Copies of the handle refer to the same save.
  class Pending {
   public:
    // Waits until the file is written; throws the error of the write.
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
  // As close(), but an error becomes a warning.
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  // Writes a file, then removes temporary files of killed processes and all but the newest `keep` files.  If it throws,
  // the existing files stay.  ValueError for a negative step, and for a step below that of a file in the folder, unless
  // load_latest() has skipped that file: a run that goes back needs a folder of its own, or its files would count as
  // the older ones.  An existing step is replaced.  Returns the path.
  std::string save(int64_t step, const Value& value);
  // Copies the elements of tensors to host memory, then returns; a thread does the rest of save().  Waits for the save
  // before. An error that wait() did not throw is thrown by the next save(), save_async() or close().
  Pending save_async(int64_t step, const Value& value);
  // Waits for the save that is under way.
  void close();

  // Loads the newest intact file, by its checksums.  Skipped files are named in a warning and in the result.
  // NoCheckpoint if there is no file; FileError (code 0) naming each file if all are damaged.  Other failures (no
  // memory, no permission, no such device) are thrown as they are, because an older file would not help.
  Loaded load_latest(const LoadOptions& options = {});

  std::vector<int64_t> steps() const;  // the steps of all files, ascending, including damaged ones
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

// There is no checkpoint; the message lists the folder's contents.  Its code is ENOENT.
class NoCheckpoint : public FileError {
 public:
  using FileError::FileError;
};

}  // namespace argand::io
