// A key-value store that the processes of a world share.  Keys are strings, values are bytes.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "argand/runtime/transport.h"

namespace argand::parallel {

// The error of queue_pop(key, false) if the queue is empty.
class QueueEmptyError : public StoreError {
 public:
  using StoreError::StoreError;
};

// Every method may be called from any thread.  Methods that wait throw StoreError ("wait timeout after 300ms, keys: a,
// b") after the store's timeout, and NetworkError if the connection is lost.  A timeout of 0 waits forever.
class Store {
 public:
  using Timeout = std::chrono::milliseconds;
  using Value = std::vector<uint8_t>;
  static constexpr Timeout kDefaultTimeout = std::chrono::minutes(5);
  static constexpr Timeout kNoTimeout{0};

  explicit Store(Timeout timeout = kDefaultTimeout) : timeout_(timeout) {}
  virtual ~Store() = default;

  virtual void set(const std::string& key, const Value& value) = 0;
  virtual Value get(const std::string& key) = 0;  // waits until it is set
  // Adds to a number that is stored as decimal text, 0 at first; returns the sum.  ValueError if the value is no
  // number.
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  virtual bool check(const std::vector<std::string>& keys) = 0;  // whether all are set; does not wait
  virtual void wait(const std::vector<std::string>& keys, Timeout timeout) = 0;
  // Sets `desired` if the value is `expected`, or if there is none and `expected` is empty.  Returns the value after
  // that, or `expected` if there is none.
  virtual Value compare_set(const std::string& key, const Value& expected, const Value& desired) = 0;
  virtual bool delete_key(const std::string& key) = 0;  // whether it was set
  virtual int64_t num_keys() = 0;
  virtual std::vector<std::string> list_keys() = 0;
  virtual void append(const std::string& key, const Value& value) = 0;
  virtual std::vector<Value> multi_get(const std::vector<std::string>& keys) = 0;  // waits for all
  virtual void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) = 0;
  // First in, first out.  pop waits for a value if `block`, else throws QueueEmptyError where there is none.  check()
  // and wait() count a queue with values as set, num_keys() and list_keys() do not.
  virtual void queue_push(const std::string& key, const Value& value) = 0;
  virtual Value queue_pop(const std::string& key, bool block = true) = 0;
  virtual int64_t queue_len(const std::string& key) = 0;
  // Another handle with a connection of its own, so that a thread that waits does not hold up the others.
  virtual std::shared_ptr<Store> clone() = 0;

  virtual bool has_extended_api() const { return true; }  // append, multi_get and multi_set in one step each

  // Waits until `size` processes have called it with this key, which can be used only once.
  virtual void barrier(const std::string& key, int64_t size, Timeout timeout) {
    const std::string last = key + "/last_member";
    if (add(key + "/num_members", 1) == size) set(last, Value{});
    wait({last}, timeout);
  }

  void wait(const std::vector<std::string>& keys) { wait(keys, this->timeout()); }
  void set(const std::string& key, const std::string& text) { set(key, Value(text.begin(), text.end())); }
  std::string get_text(const std::string& key) {
    const Value value = get(key);
    return {value.begin(), value.end()};
  }
  virtual Timeout timeout() const { return timeout_; }
  virtual void set_timeout(Timeout timeout) { timeout_ = timeout; }

 private:
  std::atomic<Timeout> timeout_;
};

}  // namespace argand::parallel
