// A store in a file, for processes that see the same file system.
#pragma once
#include "argand/parallel/store/store.h"

namespace argand::parallel {

// The file, which a lock guards (flock), is created if it does not exist.  The last of `num_workers` stores to leave
// removes it; with -1 it stays.  Clones count as one store.  A process that is killed never leaves, so its file stays,
// too; nothing else is lost.  Waits read the file up to 100 times a second.  StoreError if the system refuses
// something.
class FileStore final : public Store {
 public:
  explicit FileStore(std::string path, int num_workers = -1, Timeout timeout = kDefaultTimeout);
  ~FileStore() override;
  using Store::set;
  using Store::wait;
  void set(const std::string& key, const Value& value) override;
  Value get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, Timeout timeout) override;
  Value compare_set(const std::string& key, const Value& expected, const Value& desired) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;  // counts one or two that tell who uses the file
  std::vector<std::string> list_keys() override;
  void append(const std::string& key, const Value& value) override;
  std::vector<Value> multi_get(const std::vector<std::string>& keys) override;
  void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) override;
  void queue_push(const std::string& key, const Value& value) override;
  Value queue_pop(const std::string& key, bool block = true) override;
  int64_t queue_len(const std::string& key) override;
  std::shared_ptr<Store> clone() override;

  const std::string& path() const;

 private:
  struct Shared;
  FileStore(std::shared_ptr<Shared> shared, Timeout timeout);
  std::shared_ptr<Shared> shared_;
};

}  // namespace argand::parallel
