#include "argand/parallel/store/hash_store.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "argand/parallel/interrupt.h"
#include "argand/parallel/store/table.h"

namespace argand::parallel {

struct HashStore::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  StoreTable table;

  template <class F>
  auto with(F f) {
    const std::lock_guard lock(mutex);
    return f(table);
  }
  template <class F>
  auto change(F f) {
    const std::lock_guard lock(mutex);
    changed.notify_all();
    return f(table);
  }

  // Waits until `ready(table)` is neither false nor null, which it returns; what is waited for is named in the error.
  template <class F>
  auto await(F ready, Timeout timeout, const std::vector<std::string>& keys) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    std::unique_lock lock(mutex);
    while (true) {
      if (auto result = ready(table)) return result;
      auto slice = kInterruptInterval;
      if (timeout != kNoTimeout) {
        const auto left = std::chrono::ceil<Timeout>(begin + timeout - Clock::now());
        if (left.count() <= 0) throw StoreError(wait_timeout_message(timeout, keys));
        slice = std::min(slice, left);
      }
      changed.wait_for(lock, slice);
      lock.unlock();
      check_interrupt();
      lock.lock();
    }
  }
};

HashStore::HashStore(Timeout timeout) : HashStore(std::make_shared<Shared>(), timeout) {}
HashStore::HashStore(std::shared_ptr<Shared> shared, Timeout timeout) : Store(timeout), shared_(std::move(shared)) {}

void HashStore::set(const std::string& key, const Value& value) {
  shared_->change([&](StoreTable& table) { table.set(key, value); });
}

Store::Value HashStore::get(const std::string& key) {
  return *shared_->await([&](StoreTable& table) { return table.get(key); }, timeout(), {key});
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
  return shared_->change([&](StoreTable& table) { return table.add(key, amount); });
}

bool HashStore::check(const std::vector<std::string>& keys) {
  return shared_->with([&](StoreTable& table) { return table.has_all(keys); });
}

void HashStore::wait(const std::vector<std::string>& keys, Timeout timeout) {
  shared_->await([&](StoreTable& table) { return table.has_all(keys); }, timeout, keys);
}

Store::Value HashStore::compare_set(const std::string& key, const Value& expected, const Value& desired) {
  return *shared_->change([&](StoreTable& table) { return table.compare_set(key, expected, desired); });
}

bool HashStore::delete_key(const std::string& key) {
  return shared_->change([&](StoreTable& table) { return table.erase(key); });
}

int64_t HashStore::num_keys() {
  return shared_->with([](StoreTable& table) { return table.size(); });
}

std::vector<std::string> HashStore::list_keys() {
  return shared_->with([](StoreTable& table) { return table.keys(); });
}

void HashStore::append(const std::string& key, const Value& value) {
  shared_->change([&](StoreTable& table) { table.append(key, value); });
}

std::vector<Store::Value> HashStore::multi_get(const std::vector<std::string>& keys) {
  const auto all = [&](StoreTable& table) {
    std::optional<std::vector<StoreTable::Stored>> values(std::in_place);
    for (const std::string& key : keys) values->push_back(table.get(key));
    for (const StoreTable::Stored& value : *values)
      if (!value) return decltype(values)();
    return values;
  };
  const auto found = shared_->await(all, timeout(), keys);
  std::vector<Value> values;
  for (const StoreTable::Stored& value : *found) values.push_back(*value);
  return values;
}

void HashStore::multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) {
  check_multi_set(keys.size(), values.size());
  shared_->change([&](StoreTable& table) {
    for (size_t i = 0; i < keys.size(); ++i) table.set(keys[i], values[i]);
  });
}

void HashStore::queue_push(const std::string& key, const Value& value) {
  shared_->change([&](StoreTable& table) { table.push(key, value); });
}

Store::Value HashStore::queue_pop(const std::string& key, bool block) {
  const auto pop = [&](StoreTable& table) { return table.pop(key); };
  if (block) return *shared_->await(pop, timeout(), {key});
  const StoreTable::Stored value = shared_->change(pop);
  if (!value) throw QueueEmptyError("queue is empty");
  return *value;
}

int64_t HashStore::queue_len(const std::string& key) {
  return shared_->with([&](StoreTable& table) { return table.queue_size(key); });
}

std::shared_ptr<Store> HashStore::clone() { return std::shared_ptr<Store>(new HashStore(shared_, timeout())); }

}  // namespace argand::parallel
