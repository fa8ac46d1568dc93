// C++ scopes as objects for Python's `with` statement.
#pragma once
#include <memory>
#include <tuple>
#include <utility>

#include "bindings/object.h"

namespace argand::python {

// Makes a T(arguments...) when the statement begins, and destroys it when it ends.
template <class T, class... Arguments>
class WithStatement {
 public:
  explicit WithStatement(Arguments... arguments) : arguments_(std::move(arguments)...) {}
  void enter() {
    std::apply([&](const Arguments&... a) { scope_ = std::make_unique<T>(a...); }, arguments_);
  }
  void exit() { scope_.reset(); }
  // REQUIRES that the statement has begun and has not ended.
  T& operator*() { return *scope_; }

 private:
  const std::tuple<Arguments...> arguments_;
  std::unique_ptr<T> scope_;
};

// A class S with enter() and exit(), a WithStatement or another, as a class of Python.
template <class S>
nb::class_<S> with_statement(nb::module_& module, const char* name) {
  return nb::class_<S>(module, name)
      .def("__enter__", [](nb::object self) { return nb::cast<S&>(self).enter(), self; })
      .def("__exit__", [](S& self, nb::args) { self.exit(); });
}

}  // namespace argand::python
