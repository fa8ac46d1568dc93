// c10d::Store: the interface with LibTorch's names, which programs may implement.  The stores of this library are
// behind HashStore.hpp, FileStore.hpp, TCPStore.hpp and PrefixStore.hpp.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ATen/ATen.h"
#include "argand/parallel/store/store.h"
#include "c10/util/Exception.h"

namespace c10d {

class Store : public c10::intrusive_ptr_target {
 public:
  static constexpr std::chrono::milliseconds kDefaultTimeout = argand::parallel::Store::kDefaultTimeout;
  static constexpr std::chrono::milliseconds kNoTimeout = argand::parallel::Store::kNoTimeout;

  Store() = default;
  explicit Store(const std::chrono::milliseconds& timeout) : timeout_(timeout) {}
  ~Store() override = default;

  virtual c10::intrusive_ptr<Store> clone() = 0;
  virtual void set(const std::string& key, const std::vector<uint8_t>& value) = 0;
  virtual std::vector<uint8_t> get(const std::string& key) = 0;
  virtual int64_t add(const std::string& key, int64_t value) = 0;
  virtual bool deleteKey(const std::string& key) = 0;
  virtual bool check(const std::vector<std::string>& keys) = 0;
  virtual int64_t getNumKeys() = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;
  virtual std::vector<uint8_t> compareSet(const std::string& /*key*/, const std::vector<uint8_t>& /*expected*/,
                                          const std::vector<uint8_t>& /*desired*/) {
    lacks("compareSet");
  }
  virtual void queuePush(const std::string& /*key*/, const std::vector<uint8_t>& /*value*/) { lacks("queuePush"); }
  virtual std::vector<uint8_t> queuePop(const std::string& /*key*/, bool /*block*/) { lacks("queuePop"); }
  virtual int64_t queueLen(const std::string& /*key*/) { lacks("queueLen"); }
  virtual std::vector<std::string> listKeys() { lacks("listKeys"); }

  virtual void append(const std::string& key, const std::vector<uint8_t>& value) {
    std::vector<uint8_t> whole = check({key}) ? get(key) : std::vector<uint8_t>();
    whole.insert(whole.end(), value.begin(), value.end());
    set(key, whole);
  }
  virtual std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys) {
    std::vector<std::vector<uint8_t>> values;
    for (const std::string& key : keys) values.push_back(get(key));
    return values;
  }
  virtual void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
    for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values.at(i));
  }
  virtual bool hasExtendedApi() const { return false; }
  virtual const std::chrono::milliseconds& getTimeout() const noexcept { return timeout_; }
  virtual void setTimeout(const std::chrono::milliseconds& timeout) { timeout_ = timeout; }
  virtual void barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout) {
    const std::string last = key + "/last_member";
    if (add(key + "/num_members", 1) == world_size) set(last, std::vector<uint8_t>());
    wait({last}, timeout);
  }

  // Text instead of bytes.
  void set(const std::string& key, const std::string& value) {
    set(key, std::vector<uint8_t>(value.begin(), value.end()));
  }
  std::string compareSet(const std::string& key, const std::string& expected, const std::string& desired) {
    const std::vector<uint8_t> now = compareSet(key, std::vector<uint8_t>(expected.begin(), expected.end()),
                                                std::vector<uint8_t>(desired.begin(), desired.end()));
    return {now.begin(), now.end()};
  }
  std::string get_to_str(const std::string& key) {
    const std::vector<uint8_t> value = get(key);
    return {value.begin(), value.end()};
  }
  void barrier(const std::string& key, int64_t world_size) { barrier(key, world_size, getTimeout()); }

 protected:
  std::chrono::milliseconds timeout_ = kDefaultTimeout;

 private:
  [[noreturn]] static void lacks(const char* method) {
    throw argand::NotImplementedError(std::string("Store::") + method + ": this store does not have it");
  }
};

// Another timeout for a scope.
class StoreTimeoutGuard {
 public:
  StoreTimeoutGuard(Store& store, const std::chrono::milliseconds& timeout)
      : store_(store), before_(store.getTimeout()) {
    store.setTimeout(timeout);
  }
  ~StoreTimeoutGuard() { store_.setTimeout(before_); }
  StoreTimeoutGuard(const StoreTimeoutGuard&) = delete;
  StoreTimeoutGuard& operator=(const StoreTimeoutGuard&) = delete;

 private:
  Store& store_;
  std::chrono::milliseconds before_;
};

}  // namespace c10d
