// A part of another store: its keys begin with a prefix.
#pragma once
#include "argand/parallel/store/store.h"

namespace argand::parallel {

// The key "k" is "prefix/k" of the other store.  The timeout is the other store's.
class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  using Store::set;
  using Store::wait;
  void set(const std::string& key, const Value& value) override;
  Value get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, Timeout timeout) override;
  Value compare_set(const std::string& key, const Value& expected, const Value& desired) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;                    // the other store's number, with keys of all prefixes
  std::vector<std::string> list_keys() override;  // those with the prefix, without it
  void append(const std::string& key, const Value& value) override;
  std::vector<Value> multi_get(const std::vector<std::string>& keys) override;
  void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) override;
  void queue_push(const std::string& key, const Value& value) override;
  Value queue_pop(const std::string& key, bool block = true) override;
  int64_t queue_len(const std::string& key) override;
  std::shared_ptr<Store> clone() override;
  Timeout timeout() const override { return store_->timeout(); }
  void set_timeout(Timeout timeout) override { store_->set_timeout(timeout); }
  bool has_extended_api() const override { return store_->has_extended_api(); }

  const std::string& prefix() const { return prefix_; }
  const std::shared_ptr<Store>& underlying_store() const { return store_; }
  std::shared_ptr<Store> underlying_non_prefix_store() const;  // the store below all prefixes

 private:
  std::string with_prefix(const std::string& key) const { return prefix_ + "/" + key; }
  std::vector<std::string> with_prefix(std::vector<std::string> keys) const;

  std::string prefix_;
  std::shared_ptr<Store> store_;
};

}  // namespace argand::parallel
