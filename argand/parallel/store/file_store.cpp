#include "argand/parallel/store/file_store.h"

#include <mutex>
#include <optional>
#include <thread>

#include "argand/parallel/interrupt.h"
#include "argand/parallel/store/file_log.h"
#include "argand/parallel/store/table.h"

namespace argand::parallel {

using wire::Op;
using wire::Request;
using Clock = std::chrono::steady_clock;

namespace {

// The keys that record the file's users have no slash; programs' keys begin with one.
const std::string kUsers = "refcount/", kGone = "cleanup/";

std::string in_file(const std::string& key) { return "/" + key; }
std::vector<std::string> in_file(std::vector<std::string> keys) {
  for (std::string& key : keys) key.insert(0, "/");
  return keys;
}

void apply(StoreTable& table, const Request& request) {
  switch (request.op) {
    case Op::kSet:
      return table.set(request.keys[0], request.values[0]);
    case Op::kAppend:
      return table.append(request.keys[0], request.values[0]);
    case Op::kDelete:
      return (void)table.erase(request.keys[0]);
    case Op::kPush:
      return table.push(request.keys[0], request.values[0]);
    case Op::kPop:
      return (void)table.pop(request.keys[0]);
    case Op::kMultiSet:
      for (size_t i = 0; i < request.keys.size(); ++i) table.set(request.keys[i], request.values[i]);
      return;
    default:
      throw wire::WireError("a record of an unknown kind");
  }
}

}  // namespace

struct FileStore::Shared {
  Shared(std::string path, int num_workers)
      : log(std::move(path)), num_workers(num_workers), generation(fork_generation()) {
    change([&] { add(kUsers, 1); });
    generation = fork_generation();
  }
  ~Shared() {
    if (generation != fork_generation()) return;  // the parent's
    try {
      change([&] {
        const int64_t gone = add(kGone, 1), users = add(kUsers, -1);
        if (users == 0 && num_workers >= 0 && gone >= num_workers) log.remove_file();
      });
    } catch (const std::exception&) {  // the file is gone or cannot be written: nothing is left to do
    }
  }

  template <class F>
  auto with(bool exclusive, F f) {
    const std::lock_guard lock(mutex);
    std::optional<decltype(f())> result;
    log.with_lock(
        exclusive, [&](const Request& request) { apply(table, request); }, [&] { result = f(); });
    return std::move(*result);
  }
  template <class F>
  auto look(F f) {
    return with(false, f);
  }
  template <class F>
  void change(F f) {
    with(true, [&] { return f(), true; });
  }
  // To be called within change(): writes the file first, as that may fail.
  void commit(const Request& request) {
    log.append(request);
    apply(table, request);
  }
  int64_t add(const std::string& key, int64_t amount) {
    StoreTable sum;
    if (const StoreTable::Stored now = table.get(key)) sum.set(key, *now);
    const int64_t result = sum.add(key, amount);
    commit({Op::kSet, 0, 0, {key}, {*sum.get(key)}});
    return result;
  }

  // Polls until `ready` returns something.
  template <class F>
  auto await(bool exclusive, F ready, Timeout timeout, const std::vector<std::string>& keys) {
    const Clock::time_point begin = Clock::now();
    for (std::chrono::microseconds delay(200);; delay = std::min(2 * delay, std::chrono::microseconds(10'000))) {
      if (auto result = with(exclusive, ready)) return result;
      check_interrupt();
      if (timeout != kNoTimeout && Clock::now() - begin >= timeout)
        throw StoreError(wait_timeout_message(timeout, keys));
      std::this_thread::sleep_for(delay);
    }
  }

  std::mutex mutex;
  FileLog log;
  StoreTable table;
  const int num_workers;
  uint64_t generation;
};

FileStore::FileStore(std::string path, int num_workers, Timeout timeout)
    : FileStore(std::make_shared<Shared>(std::move(path), num_workers), timeout) {}
FileStore::FileStore(std::shared_ptr<Shared> shared, Timeout timeout) : Store(timeout), shared_(std::move(shared)) {}
FileStore::~FileStore() = default;

const std::string& FileStore::path() const { return shared_->log.path(); }
std::shared_ptr<Store> FileStore::clone() { return std::shared_ptr<Store>(new FileStore(shared_, timeout())); }

void FileStore::set(const std::string& key, const Value& value) {
  shared_->change([&] { shared_->commit({Op::kSet, 0, 0, {in_file(key)}, {value}}); });
}

Store::Value FileStore::get(const std::string& key) {
  return *shared_->await(false, [&] { return shared_->table.get(in_file(key)); }, timeout(), {key});
}

int64_t FileStore::add(const std::string& key, int64_t amount) {
  return shared_->with(true, [&] { return shared_->add(in_file(key), amount); });
}

bool FileStore::check(const std::vector<std::string>& keys) {
  return shared_->look([&] { return shared_->table.has_all(in_file(keys)); });
}

void FileStore::wait(const std::vector<std::string>& keys, Timeout timeout) {
  shared_->await(
      false, [&] { return shared_->table.has_all(in_file(keys)); }, timeout, keys);
}

Store::Value FileStore::compare_set(const std::string& key, const Value& expected, const Value& desired) {
  return shared_->with(true, [&] {
    const StoreTable::Stored now = shared_->table.get(in_file(key));
    if (now ? *now != expected : !expected.empty()) return now ? *now : expected;
    shared_->commit({Op::kSet, 0, 0, {in_file(key)}, {desired}});
    return desired;
  });
}

bool FileStore::delete_key(const std::string& key) {
  return shared_->with(true, [&] {
    if (!shared_->table.get(in_file(key))) return false;
    shared_->commit({Op::kDelete, 0, 0, {in_file(key)}, {}});
    return true;
  });
}

int64_t FileStore::num_keys() {
  return shared_->look([&] { return shared_->table.size(); });
}

std::vector<std::string> FileStore::list_keys() {
  const std::vector<std::string> all = shared_->look([&] { return shared_->table.keys(); });
  std::vector<std::string> keys;
  for (const std::string& key : all)
    if (key[0] == '/') keys.push_back(key.substr(1));
  return keys;
}

void FileStore::append(const std::string& key, const Value& value) {
  shared_->change([&] { shared_->commit({Op::kAppend, 0, 0, {in_file(key)}, {value}}); });
}

std::vector<Store::Value> FileStore::multi_get(const std::vector<std::string>& keys) {
  const auto all = [&]() -> std::optional<std::vector<Value>> {
    std::vector<Value> values;
    for (const std::string& key : keys) {
      const StoreTable::Stored value = shared_->table.get(in_file(key));
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  };
  return *shared_->await(false, all, timeout(), keys);
}

void FileStore::multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) {
  check_multi_set(keys.size(), values.size());
  shared_->change([&] { shared_->commit({Op::kMultiSet, 0, 0, in_file(keys), values}); });
}

void FileStore::queue_push(const std::string& key, const Value& value) {
  shared_->change([&] { shared_->commit({Op::kPush, 0, 0, {in_file(key)}, {value}}); });
}

Store::Value FileStore::queue_pop(const std::string& key, bool block) {
  const auto pop = [&]() -> StoreTable::Stored {
    if (shared_->table.queue_size(in_file(key)) == 0) return nullptr;
    shared_->log.append({Op::kPop, 0, 0, {in_file(key)}, {}});
    return shared_->table.pop(in_file(key));
  };
  if (block) return *shared_->await(true, pop, timeout(), {key});
  const StoreTable::Stored value = shared_->with(true, pop);
  if (!value) throw QueueEmptyError("queue is empty");
  return *value;
}

int64_t FileStore::queue_len(const std::string& key) {
  return shared_->look([&] { return shared_->table.queue_size(in_file(key)); });
}

}  // namespace argand::parallel
