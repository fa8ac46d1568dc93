// What C++ does with a store whose class is written in Python, and how keys, values and timeouts are converted.
#include <nanobind/stl/shared_ptr.h>

#include "bindings/errors.h"
#include "bindings/stores.h"

namespace argand::python {

using Value = parallel::Store::Value;

namespace {

[[noreturn]] void wrong_type(const char* function, const char* expected, nb::handle got) {
  throw nb::type_error(str(function, ": expected ", expected, ", got ", type_name(got.ptr())).c_str());
}

nb::list from_keys(const std::vector<std::string>& keys) {
  nb::list list;
  for (const std::string& key : keys) list.append(from_key(key));
  return list;
}

}  // namespace

std::string to_key(nb::handle object, const char* function) {
  if (PyBytes_Check(object.ptr())) {
    const auto bytes = nb::borrow<nb::bytes>(object);
    return {bytes.c_str(), bytes.size()};
  }
  if (!PyUnicode_Check(object.ptr())) wrong_type(function, "a key to be a str", object);
  const nb::object bytes = owned(PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogateescape"));
  return to_key(bytes, function);
}

Value to_value(nb::handle object, const char* function) {
  nb::object bytes = nb::borrow(object);
  if (PyByteArray_Check(object.ptr())) bytes = owned(PyBytes_FromObject(object.ptr()));
  if (!PyBytes_Check(bytes.ptr()) && !PyUnicode_Check(bytes.ptr()))
    wrong_type(function, "a value to be a str or bytes", object);
  const std::string text = to_key(bytes, function);
  return {text.begin(), text.end()};
}

nb::object from_key(const std::string& key) {
  return owned(PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), "surrogateescape"));
}

nb::bytes from_value(const Value& value) { return nb::bytes(value.data(), value.size()); }

// Rounded up: a positive timeout must not become 0, which is none.
parallel::Store::Timeout to_timeout(nb::handle object, const char* function) {
  if (!nb::isinstance(object, nb::module_::import_("datetime").attr("timedelta")))
    wrong_type(function, "timeout to be a datetime.timedelta", object);
  const auto part = [&](const char* name) { return nb::cast<int64_t>(object.attr(name)); };
  return std::chrono::seconds(part("days") * 86'400 + part("seconds")) +
         std::chrono::milliseconds((part("microseconds") + 999) / 1000);
}

nb::object from_timeout(parallel::Store::Timeout timeout) {
  return nb::module_::import_("datetime").attr("timedelta")(nb::arg("milliseconds") = timeout.count());
}

bool StoreInPython::overrides(const char* name) const {
  const Gil gil;
  const nb::handle type = nb_trampoline.base().type();
  return !type.attr(name).is(nb::type<parallel::Store>().attr(name));
}

template <class... Args>
nb::object StoreInPython::call(const char* name, const Args&... args) const {
  const nb::handle self = nb_trampoline.base();
  ARGAND_CHECK(NotImplementedError, overrides(name), "Store.", name, ": the class ", type_name(self.ptr()),
               " does not define it");
  try {
    return self.attr(name)(args...);
  } catch (nb::python_error& error) {
    throw RaisedInPython(std::move(error));
  }
}

void StoreInPython::set(const std::string& key, const Value& value) {
  const Gil gil;
  call("set", from_key(key), from_value(value));
}

Value StoreInPython::get(const std::string& key) {
  const Gil gil;
  return to_value(call("get", from_key(key)), "Store.get");
}

int64_t StoreInPython::add(const std::string& key, int64_t amount) {
  const Gil gil;
  return nb::cast<int64_t>(call("add", from_key(key), amount));
}

bool StoreInPython::check(const std::vector<std::string>& keys) {
  const Gil gil;
  return nb::cast<bool>(call("check", from_keys(keys)));
}

void StoreInPython::wait(const std::vector<std::string>& keys, Timeout timeout) {
  const Gil gil;
  call("wait", from_keys(keys), from_timeout(timeout));
}

Value StoreInPython::compare_set(const std::string& key, const Value& expected, const Value& desired) {
  const Gil gil;
  return to_value(call("compare_set", from_key(key), from_value(expected), from_value(desired)), "Store.compare_set");
}

bool StoreInPython::delete_key(const std::string& key) {
  const Gil gil;
  return nb::cast<bool>(call("delete_key", from_key(key)));
}

int64_t StoreInPython::num_keys() {
  const Gil gil;
  return nb::cast<int64_t>(call("num_keys"));
}

std::vector<std::string> StoreInPython::list_keys() {
  const Gil gil;
  std::vector<std::string> keys;
  const nb::object list = call("list_keys");
  for (const nb::handle key : list) keys.push_back(to_key(key, "Store.list_keys"));
  return keys;
}

void StoreInPython::append(const std::string& key, const Value& value) {
  if (overrides("append")) {
    const Gil gil;
    return (void)call("append", from_key(key), from_value(value));
  }
  Value whole = check({key}) ? get(key) : Value{};
  whole.insert(whole.end(), value.begin(), value.end());
  set(key, whole);
}

std::vector<Value> StoreInPython::multi_get(const std::vector<std::string>& keys) {
  std::vector<Value> values;
  if (overrides("multi_get")) {
    const Gil gil;
    const nb::object list = call("multi_get", from_keys(keys));
    for (const nb::handle value : list) values.push_back(to_value(value, "Store.multi_get"));
  } else {
    for (const std::string& key : keys) values.push_back(get(key));
  }
  return values;
}

void StoreInPython::multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) {
  if (overrides("multi_set")) {
    const Gil gil;
    nb::list list;
    for (const Value& value : values) list.append(from_value(value));
    return (void)call("multi_set", from_keys(keys), list);
  }
  for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values.at(i));
}

void StoreInPython::queue_push(const std::string& key, const Value& value) {
  const Gil gil;
  call("queue_push", from_key(key), from_value(value));
}

Value StoreInPython::queue_pop(const std::string& key, bool block) {
  const Gil gil;
  return to_value(call("queue_pop", from_key(key), block), "Store.queue_pop");
}

int64_t StoreInPython::queue_len(const std::string& key) {
  const Gil gil;
  return nb::cast<int64_t>(call("queue_len", from_key(key)));
}

std::shared_ptr<parallel::Store> StoreInPython::clone() {
  const Gil gil;
  return nb::cast<std::shared_ptr<parallel::Store>>(call("clone"));
}

bool StoreInPython::has_extended_api() const {
  if (!overrides("has_extended_api")) return false;
  const Gil gil;
  return nb::cast<bool>(call("has_extended_api"));
}

}  // namespace argand::python
