#include "argand/parallel/store/prefix_store.h"

namespace argand::parallel {

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
  ARGAND_CHECK(ValueError, store_, "PrefixStore: expected store to be a store, got none");
}

std::vector<std::string> PrefixStore::with_prefix(std::vector<std::string> keys) const {
  for (std::string& key : keys) key = with_prefix(key);
  return keys;
}

void PrefixStore::set(const std::string& key, const Value& value) { store_->set(with_prefix(key), value); }
Store::Value PrefixStore::get(const std::string& key) { return store_->get(with_prefix(key)); }
int64_t PrefixStore::add(const std::string& key, int64_t amount) { return store_->add(with_prefix(key), amount); }
bool PrefixStore::check(const std::vector<std::string>& keys) { return store_->check(with_prefix(keys)); }

void PrefixStore::wait(const std::vector<std::string>& keys, Timeout timeout) {
  store_->wait(with_prefix(keys), timeout);
}

Store::Value PrefixStore::compare_set(const std::string& key, const Value& expected, const Value& desired) {
  return store_->compare_set(with_prefix(key), expected, desired);
}

bool PrefixStore::delete_key(const std::string& key) { return store_->delete_key(with_prefix(key)); }
int64_t PrefixStore::num_keys() { return store_->num_keys(); }

std::vector<std::string> PrefixStore::list_keys() {
  const std::string begin = with_prefix("");
  std::vector<std::string> keys;
  for (const std::string& key : store_->list_keys())
    if (key.compare(0, begin.size(), begin) == 0) keys.push_back(key.substr(begin.size()));
  return keys;
}

void PrefixStore::append(const std::string& key, const Value& value) { store_->append(with_prefix(key), value); }

std::vector<Store::Value> PrefixStore::multi_get(const std::vector<std::string>& keys) {
  return store_->multi_get(with_prefix(keys));
}

void PrefixStore::multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) {
  store_->multi_set(with_prefix(keys), values);
}

void PrefixStore::queue_push(const std::string& key, const Value& value) {
  store_->queue_push(with_prefix(key), value);
}

Store::Value PrefixStore::queue_pop(const std::string& key, bool block) {
  return store_->queue_pop(with_prefix(key), block);
}

int64_t PrefixStore::queue_len(const std::string& key) { return store_->queue_len(with_prefix(key)); }
std::shared_ptr<Store> PrefixStore::clone() { return std::make_shared<PrefixStore>(prefix_, store_->clone()); }

std::shared_ptr<Store> PrefixStore::underlying_non_prefix_store() const {
  std::shared_ptr<Store> store = store_;
  while (const auto* prefixed = dynamic_cast<const PrefixStore*>(store.get())) store = prefixed->store_;
  return store;
}

}  // namespace argand::parallel
