// A store in the memory of one process, for its threads.
#pragma once
#include "argand/parallel/store/store.h"

namespace argand::parallel {

class HashStore final : public Store {
 public:
  explicit HashStore(Timeout timeout = kDefaultTimeout);
  using Store::set;
  using Store::wait;
  void set(const std::string& key, const Value& value) override;
  Value get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, Timeout timeout) override;
  Value compare_set(const std::string& key, const Value& expected, const Value& desired) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  std::vector<std::string> list_keys() override;
  void append(const std::string& key, const Value& value) override;
  std::vector<Value> multi_get(const std::vector<std::string>& keys) override;
  void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) override;
  void queue_push(const std::string& key, const Value& value) override;
  Value queue_pop(const std::string& key, bool block = true) override;
  int64_t queue_len(const std::string& key) override;
  // Clones share one table; each has its own timeout.
  std::shared_ptr<Store> clone() override;

 private:
  struct Shared;
  HashStore(std::shared_ptr<Shared> shared, Timeout timeout);
  std::shared_ptr<Shared> shared_;
};

}  // namespace argand::parallel
