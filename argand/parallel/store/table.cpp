#include "argand/parallel/store/table.h"

#include <charconv>

namespace argand::parallel {

std::string wait_timeout_message(Store::Timeout timeout, const std::vector<std::string>& keys) {
  std::string message = str("wait timeout after ", timeout.count(), "ms, keys: ");
  for (size_t i = 0; i < keys.size(); ++i) message += (i ? ", " : "") + keys[i];
  return message;
}

void check_multi_set(size_t keys, size_t values) {
  ARGAND_CHECK(ValueError, keys == values, "multi_set: expected as many values as keys, got ", keys, " keys and ",
               values, " values");
}

namespace {

// An empty value counts as 0.
int64_t number_of(const std::string& key, const Store::Value& value) {
  if (value.empty()) return 0;
  int64_t number = 0;
  const char* const begin = reinterpret_cast<const char*>(value.data());
  const auto [end, error] = std::from_chars(begin, begin + value.size(), number);
  ARGAND_CHECK(ValueError, error == std::errc{} && end == begin + value.size(), "add: expected the value of key '", key,
               "' to be a decimal integer of 64 bits, got ", value.size(), " bytes that are none");
  return number;
}

StoreTable::Stored stored(StoreTable::Value value) {
  return std::make_shared<const StoreTable::Value>(std::move(value));
}

}  // namespace

void StoreTable::set(const std::string& key, Value value) { values_[key] = stored(std::move(value)); }

StoreTable::Stored StoreTable::get(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : it->second;
}

int64_t StoreTable::number(const std::string& key) const {
  const Stored value = get(key);
  return value ? number_of(key, *value) : 0;
}

int64_t StoreTable::add(const std::string& key, int64_t amount) {
  int64_t sum = 0;
  ARGAND_CHECK(ValueError, !__builtin_add_overflow(number(key), amount, &sum), "add: expected the sum at key '", key,
               "' to fit into 64 bits, got more after adding ", amount);
  const std::string text = std::to_string(sum);
  set(key, Value(text.begin(), text.end()));
  return sum;
}

StoreTable::Stored StoreTable::compare_set(const std::string& key, const Value& expected, const Value& desired) {
  const Stored now = get(key);
  if (now ? *now != expected : !expected.empty()) return now ? now : stored(expected);
  set(key, desired);
  return get(key);
}

bool StoreTable::erase(const std::string& key) { return values_.erase(key) != 0; }

void StoreTable::append(const std::string& key, const Value& value) {
  const Stored now = get(key);
  Value whole = now ? *now : Value{};
  whole.insert(whole.end(), value.begin(), value.end());
  set(key, std::move(whole));
}

bool StoreTable::has(const std::string& key) const { return values_.count(key) != 0 || queues_.count(key) != 0; }

bool StoreTable::has_all(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys)
    if (!has(key)) return false;
  return true;
}

std::vector<std::string> StoreTable::keys() const {
  std::vector<std::string> keys;
  keys.reserve(values_.size());
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

void StoreTable::push(const std::string& key, Value value) { queues_[key].push_back(stored(std::move(value))); }

StoreTable::Stored StoreTable::pop(const std::string& key) {
  const auto it = queues_.find(key);
  if (it == queues_.end()) return nullptr;
  Stored value = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) queues_.erase(it);
  return value;
}

int64_t StoreTable::queue_size(const std::string& key) const {
  const auto it = queues_.find(key);
  return it == queues_.end() ? 0 : static_cast<int64_t>(it->second.size());
}

}  // namespace argand::parallel
