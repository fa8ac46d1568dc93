// Stores that programs write in Python.
#pragma once
#include <nanobind/trampoline.h>

#include "argand/parallel/store/store.h"
#include "bindings/object.h"

namespace argand::python {

// Calls the methods of a class that is derived from Store in Python.  What it raises passes through C++ unchanged.
class StoreInPython final : public parallel::Store {
 public:
  NB_TRAMPOLINE(parallel::Store, 16);
  void set(const std::string& key, const Value& value) override;
  Value get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, Timeout timeout) override;
  Value compare_set(const std::string& key, const Value& expected, const Value& desired) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  std::vector<std::string> list_keys() override;
  // By get and set, if the class does not have them.
  void append(const std::string& key, const Value& value) override;
  std::vector<Value> multi_get(const std::vector<std::string>& keys) override;
  void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) override;
  void queue_push(const std::string& key, const Value& value) override;
  Value queue_pop(const std::string& key, bool block) override;
  int64_t queue_len(const std::string& key) override;
  std::shared_ptr<Store> clone() override;
  bool has_extended_api() const override;

 private:
  // The method of that name; without one the error says that the class must have it.
  template <class... Args>
  nb::object call(const char* name, const Args&... args) const;
  bool overrides(const char* name) const;
};

// str, or bytes, as programs give keys and values; TypeError with the function's name for anything else.
std::string to_key(nb::handle object, const char* function);
parallel::Store::Value to_value(nb::handle object, const char* function);
nb::object from_key(const std::string& key);
nb::bytes from_value(const parallel::Store::Value& value);
parallel::Store::Timeout to_timeout(nb::handle object, const char* function);  // a timedelta
nb::object from_timeout(parallel::Store::Timeout timeout);

}  // namespace argand::python
