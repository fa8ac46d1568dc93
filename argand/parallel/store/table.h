// The values and queues of a store in the memory of one process: what HashStore, the server of TCPStore and FileStore
// share.  Not thread-safe; nothing waits here.
#pragma once
#include <deque>
#include <unordered_map>

#include "argand/parallel/store/store.h"

namespace argand::parallel {

// "wait timeout after 300ms, keys: a, b"
std::string wait_timeout_message(Store::Timeout timeout, const std::vector<std::string>& keys);

// ValueError unless multi_set got as many values as keys.
void check_multi_set(size_t keys, size_t values);

class StoreTable {
 public:
  using Value = Store::Value;
  using Stored = std::shared_ptr<const Value>;  // shared, so that many readers of a large value need one copy

  void set(const std::string& key, Value value);
  Stored get(const std::string& key) const;  // null if there is none
  // ValueError if the value is no number, or the sum does not fit in 64 bits; then nothing changes.
  int64_t add(const std::string& key, int64_t amount);
  int64_t number(const std::string& key) const;  // 0 if there is no value; ValueError if it is no number
  Stored compare_set(const std::string& key, const Value& expected, const Value& desired);
  bool erase(const std::string& key);
  void append(const std::string& key, const Value& value);
  bool has(const std::string& key) const;  // a value, or a queue with values
  bool has_all(const std::vector<std::string>& keys) const;
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  std::vector<std::string> keys() const;

  void push(const std::string& key, Value value);
  Stored pop(const std::string& key);  // null if there is none
  int64_t queue_size(const std::string& key) const;

 private:
  std::unordered_map<std::string, Stored> values_;
  std::unordered_map<std::string, std::deque<Stored>> queues_;  // none is empty
};

}  // namespace argand::parallel
