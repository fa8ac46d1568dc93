// The stores of torch.distributed, and what interrupts their waits.
#include "bindings/stores.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "argand/parallel/interrupt.h"
#include "argand/parallel/launch.h"
#include "argand/parallel/store/file_store.h"
#include "argand/parallel/store/hash_store.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/store/table.h"
#include "argand/parallel/store/tcp_store.h"
#include "bindings/errors.h"
#include "bindings/modules.h"

namespace argand::python {
namespace {

using namespace nb::literals;
using namespace parallel;
using Value = Store::Value;

template <class F>
auto without_gil(F f) {
  const NoGil unlocked;
  return f();
}

std::vector<std::string> to_keys(nb::handle keys, const char* function) {
  if (PyUnicode_Check(keys.ptr()) || PyBytes_Check(keys.ptr()))
    throw nb::type_error(str(function, ": expected keys to be a list of str, got ", type_name(keys.ptr())).c_str());
  std::vector<std::string> all;
  for (const nb::handle key : nb::iter(keys)) all.push_back(to_key(key, function));
  return all;
}

nb::list from_values(const std::vector<Value>& values) {
  nb::list list;
  for (const Value& value : values) list.append(from_value(value));
  return list;
}

void wait(Store& self, nb::handle keys, nb::handle timeout) {
  const std::vector<std::string> all = to_keys(keys, "Store.wait");
  const Store::Timeout limit = timeout.is_none() ? self.timeout() : to_timeout(timeout, "Store.wait");
  without_gil([&] { self.wait(all, limit); });
}

nb::bytes compare_set(Store& self, nb::handle key, nb::handle expected, nb::handle desired) {
  const char* const name = "Store.compare_set";
  const std::string k = to_key(key, name);
  const Value before = to_value(expected, name), after = to_value(desired, name);
  return from_value(without_gil([&] { return self.compare_set(k, before, after); }));
}

void multi_set(Store& self, nb::handle keys, nb::handle values) {
  const std::vector<std::string> all = to_keys(keys, "Store.multi_set");
  std::vector<Value> each;
  for (const nb::handle value : nb::iter(values)) each.push_back(to_value(value, "Store.multi_set"));
  check_multi_set(all.size(), each.size());
  without_gil([&] { self.multi_set(all, each); });
}

void barrier(Store& self, nb::handle key, int64_t world_size, nb::handle timeout) {
  const std::string k = to_key(key, "Store.barrier");
  const Store::Timeout limit = timeout.is_none() ? self.timeout() : to_timeout(timeout, "Store.barrier");
  without_gil([&] { self.barrier(k, world_size, limit); });
}

nb::list list_keys(Store& self) {
  nb::list keys;
  for (const std::string& key : without_gil([&] { return self.list_keys(); })) keys.append(from_key(key));
  return keys;
}

// A method whose first argument is a key: f(store, key, arguments...) runs without the interpreter's lock.
void add_methods_of_a_key(nb::class_<Store, StoreInPython>& store) {
  store.def(
      "set",
      [](Store& self, nb::handle key, nb::handle value) {
        const std::string k = to_key(key, "Store.set");
        const Value v = to_value(value, "Store.set");
        without_gil([&] { self.set(k, v); });
      },
      "key"_a, "value"_a);
  store.def(
      "get",
      [](Store& self, nb::handle key) {
        const std::string k = to_key(key, "Store.get");
        return from_value(without_gil([&] { return self.get(k); }));
      },
      "key"_a);
  store.def(
      "add",
      [](Store& self, nb::handle key, int64_t amount) {
        const std::string k = to_key(key, "Store.add");
        return without_gil([&] { return self.add(k, amount); });
      },
      "key"_a, "value"_a);
  store.def(
      "delete_key",
      [](Store& self, nb::handle key) {
        const std::string k = to_key(key, "Store.delete_key");
        return without_gil([&] { return self.delete_key(k); });
      },
      "key"_a);
  store.def(
      "append",
      [](Store& self, nb::handle key, nb::handle value) {
        const std::string k = to_key(key, "Store.append");
        const Value v = to_value(value, "Store.append");
        without_gil([&] { self.append(k, v); });
      },
      "key"_a, "value"_a);
  store.def(
      "queue_push",
      [](Store& self, nb::handle key, nb::handle value) {
        const std::string k = to_key(key, "Store.queue_push");
        const Value v = to_value(value, "Store.queue_push");
        without_gil([&] { self.queue_push(k, v); });
      },
      "key"_a, "value"_a);
  store.def(
      "queue_pop",
      [](Store& self, nb::handle key, bool block) {
        const std::string k = to_key(key, "Store.queue_pop");
        return from_value(without_gil([&] { return self.queue_pop(k, block); }));
      },
      "key"_a, "block"_a = true);
  store.def(
      "queue_len",
      [](Store& self, nb::handle key) {
        const std::string k = to_key(key, "Store.queue_len");
        return without_gil([&] { return self.queue_len(k); });
      },
      "key"_a);
}

void add_store(nb::module_& module) {
  nb::class_<Store, StoreInPython> store(module, "Store");
  store.def(nb::init<>());
  add_methods_of_a_key(store);
  store.def("compare_set", &compare_set, "key"_a, "expected_value"_a, "desired_value"_a);
  store.def(
      "check",
      [](Store& self, nb::handle keys) {
        const std::vector<std::string> all = to_keys(keys, "Store.check");
        return without_gil([&] { return self.check(all); });
      },
      "keys"_a);
  store.def("wait", &wait, "keys"_a, "timeout"_a = nb::none());
  store.def(
      "multi_get",
      [](Store& self, nb::handle keys) {
        const std::vector<std::string> all = to_keys(keys, "Store.multi_get");
        return from_values(without_gil([&] { return self.multi_get(all); }));
      },
      "keys"_a);
  store.def("multi_set", &multi_set, "keys"_a, "values"_a);
  store.def("barrier", &barrier, "key"_a, "world_size"_a, "timeout"_a = nb::none());
  store.def("num_keys", [](Store& self) { return without_gil([&] { return self.num_keys(); }); });
  store.def("list_keys", &list_keys);
  store.def("clone", [](Store& self) { return without_gil([&] { return self.clone(); }); });
  store.def("has_extended_api", &Store::has_extended_api);
  store.def_prop_ro("timeout", [](Store& self) { return from_timeout(self.timeout()); });
  store.def(
      "set_timeout",
      [](Store& self, nb::handle timeout) { self.set_timeout(to_timeout(timeout, "Store.set_timeout")); }, "timeout"_a);
}

// libuv or not: the server here is neither of PyTorch's two, so use_libuv chooses nothing.
void make_tcp_store(TCPStore* self, const std::string& host, uint16_t port, std::optional<int64_t> world_size,
                    bool is_master, nb::handle timeout, bool wait_for_workers, bool multi_tenant,
                    std::optional<int> master_listen_fd, bool) {
  TCPStoreOptions options;
  options.port = port;
  options.is_server = is_master;
  if (world_size && *world_size >= 0) options.num_workers = static_cast<size_t>(*world_size);
  options.wait_workers = wait_for_workers;
  if (!timeout.is_none()) options.timeout = to_timeout(timeout, "TCPStore");
  options.multi_tenant = multi_tenant;
  options.master_listen_fd = master_listen_fd;
  without_gil([&] { new (self) TCPStore(host, options); });
}

void add_kinds_of_store(nb::module_& module) {
  nb::class_<HashStore, Store>(module, "HashStore").def(nb::init<>());
  nb::class_<FileStore, Store>(module, "FileStore")
      .def(
          "__init__",
          [](FileStore* self, const std::string& path, int world_size) {
            without_gil([&] { new (self) FileStore(path, world_size); });
          },
          "file_name"_a, "world_size"_a = -1)
      .def_prop_ro("path", &FileStore::path);
  nb::class_<PrefixStore, Store>(module, "PrefixStore")
      .def(nb::init<std::string, std::shared_ptr<Store>>(), "prefix"_a, "store"_a)
      .def_prop_ro("underlying_store", &PrefixStore::underlying_store)
      .def_prop_ro("_underlying_non_prefix_store", &PrefixStore::underlying_non_prefix_store);
  nb::class_<TCPStore, Store>(module, "TCPStore")
      .def("__init__", &make_tcp_store, "host_name"_a, "port"_a, "world_size"_a = nb::none(), "is_master"_a = false,
           "timeout"_a = from_timeout(Store::kDefaultTimeout), "wait_for_workers"_a = true, "multi_tenant"_a = false,
           "master_listen_fd"_a = nb::none(), "use_libuv"_a = true)
      .def_prop_ro("host", &TCPStore::host)
      .def_prop_ro("port", &TCPStore::port)
      .def_prop_ro("libuvBackend", [](const TCPStore&) { return false; })
      .def("__repr__", [](const TCPStore& self) {
        return str("TCPStore(host=", self.host(), ", port=", self.port(),
                   ", server=", self.is_server() ? "True" : "False", ")");
      });
  module.def("_store_of_launch", [](const std::string& host, uint16_t port, int rank, int size, nb::handle timeout) {
    const Store::Timeout limit = to_timeout(timeout, "init_process_group");
    return without_gil([&] { return store_of_launch(host, port, rank, size, limit); });
  });
}

// Ctrl-C.  Python runs handlers of signals on its main thread only, which is that of the process.
void check_signals() {
  if (::gettid() != ::getpid() || !Py_IsInitialized()) return;
  const Gil gil;
  if (PyErr_CheckSignals() != 0) throw RaisedInPython(nb::python_error());
}

}  // namespace

void add_stores(nb::module_& module) {
  nb::module_ c10d = module.def_submodule("_stores", "What torch.distributed is made of.");
  add_store(c10d);
  add_kinds_of_store(c10d);
  set_interrupt_check(&check_signals);
}

}  // namespace argand::python
