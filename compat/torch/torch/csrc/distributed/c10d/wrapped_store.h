// Adapters between c10d::Store and the stores of this library, in both directions.
#pragma once
#include <utility>

#include "torch/csrc/distributed/c10d/Store.hpp"

namespace c10d::detail {

// A store of this library with LibTorch's names.
class WrappedStore : public Store {
 public:
  using Ours = argand::parallel::Store;
  explicit WrappedStore(std::shared_ptr<Ours> ours) : Store(ours->timeout()), ours_(std::move(ours)) {}
  const std::shared_ptr<Ours>& ours() const { return ours_; }

  using Store::barrier;
  using Store::compareSet;
  using Store::set;
  c10::intrusive_ptr<Store> clone() override { return c10::make_intrusive<WrappedStore>(ours_->clone()); }
  void set(const std::string& key, const std::vector<uint8_t>& value) override { ours_->set(key, value); }
  std::vector<uint8_t> get(const std::string& key) override { return ours_->get(key); }
  int64_t add(const std::string& key, int64_t value) override { return ours_->add(key, value); }
  bool deleteKey(const std::string& key) override { return ours_->delete_key(key); }
  bool check(const std::vector<std::string>& keys) override { return ours_->check(keys); }
  int64_t getNumKeys() override { return ours_->num_keys(); }
  void wait(const std::vector<std::string>& keys) override { ours_->wait(keys); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    ours_->wait(keys, timeout);
  }
  std::vector<uint8_t> compareSet(const std::string& key, const std::vector<uint8_t>& expected,
                                  const std::vector<uint8_t>& desired) override {
    return ours_->compare_set(key, expected, desired);
  }
  void queuePush(const std::string& key, const std::vector<uint8_t>& value) override { ours_->queue_push(key, value); }
  std::vector<uint8_t> queuePop(const std::string& key, bool block) override { return ours_->queue_pop(key, block); }
  int64_t queueLen(const std::string& key) override { return ours_->queue_len(key); }
  std::vector<std::string> listKeys() override { return ours_->list_keys(); }
  void append(const std::string& key, const std::vector<uint8_t>& value) override { ours_->append(key, value); }
  std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys) override {
    return ours_->multi_get(keys);
  }
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) override {
    ours_->multi_set(keys, values);
  }
  bool hasExtendedApi() const override { return ours_->has_extended_api(); }
  void setTimeout(const std::chrono::milliseconds& timeout) override {
    ours_->set_timeout(timeout);
    timeout_ = timeout;
  }
  void barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout) override {
    ours_->barrier(key, world_size, timeout);
  }

 private:
  std::shared_ptr<Ours> ours_;
};

// Adapts a store that a program implements to this library.
class StoreOfProgram final : public argand::parallel::Store {
 public:
  explicit StoreOfProgram(c10::intrusive_ptr<c10d::Store> theirs)
      : argand::parallel::Store(theirs->getTimeout()), theirs_(std::move(theirs)) {}
  const c10::intrusive_ptr<c10d::Store>& theirs() const { return theirs_; }

  using argand::parallel::Store::set;
  using argand::parallel::Store::wait;
  void set(const std::string& key, const Value& value) override { theirs_->set(key, value); }
  Value get(const std::string& key) override { return theirs_->get(key); }
  int64_t add(const std::string& key, int64_t amount) override { return theirs_->add(key, amount); }
  bool check(const std::vector<std::string>& keys) override { return theirs_->check(keys); }
  void wait(const std::vector<std::string>& keys, Timeout timeout) override { theirs_->wait(keys, timeout); }
  Value compare_set(const std::string& key, const Value& expected, const Value& desired) override {
    return theirs_->compareSet(key, expected, desired);
  }
  bool delete_key(const std::string& key) override { return theirs_->deleteKey(key); }
  int64_t num_keys() override { return theirs_->getNumKeys(); }
  std::vector<std::string> list_keys() override { return theirs_->listKeys(); }
  void append(const std::string& key, const Value& value) override { theirs_->append(key, value); }
  std::vector<Value> multi_get(const std::vector<std::string>& keys) override { return theirs_->multiGet(keys); }
  void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) override {
    theirs_->multiSet(keys, values);
  }
  void queue_push(const std::string& key, const Value& value) override { theirs_->queuePush(key, value); }
  Value queue_pop(const std::string& key, bool block = true) override { return theirs_->queuePop(key, block); }
  int64_t queue_len(const std::string& key) override { return theirs_->queueLen(key); }
  std::shared_ptr<argand::parallel::Store> clone() override {
    return std::make_shared<StoreOfProgram>(theirs_->clone());
  }
  bool has_extended_api() const override { return theirs_->hasExtendedApi(); }
  Timeout timeout() const override { return theirs_->getTimeout(); }
  void set_timeout(Timeout timeout) override { theirs_->setTimeout(timeout); }

 private:
  c10::intrusive_ptr<c10d::Store> theirs_;
};

inline std::shared_ptr<argand::parallel::Store> to_ours(const c10::intrusive_ptr<Store>& store) {
  if (!store) return nullptr;
  if (const auto* wrapped = dynamic_cast<const WrappedStore*>(store.get())) return wrapped->ours();
  return std::make_shared<StoreOfProgram>(store);
}

}  // namespace c10d::detail
