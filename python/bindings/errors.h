// Argand's errors as exceptions of Python: each is a RuntimeError, as PyTorch's are, and the builtin of its kind too.
#pragma once
#include "bindings/gil.h"
#include "bindings/object.h"

namespace argand::python {

void add_errors(nb::module_& module);

// A new reference, as functions of Python's return it; null with Python's error set goes on as an exception.
nb::object owned(PyObject* object);

// Sets Python's error to this message, which need not be valid UTF-8.
void set_error(PyObject* type, std::string_view message);

// "Kind: text" of an exception.  Its text may be what UTF-8 does not have, which python_error::what() does not survive,
// and its __str__ may raise.
std::string message_of(const nb::python_error& error);

// Python code that C++ calls (hooks, backward of a Function) raised: what it raised passes through C++ unchanged.
class RaisedInPython : public Error {
 public:
  explicit RaisedInPython(nb::python_error error);
  void restore() const;

 private:
  std::shared_ptr<nb::python_error> error_;
};

// Calls f, which uses Python's objects, from code that does not hold the interpreter's lock.  RaisedInPython with what
// it raised.
template <class F>
auto in_python(F&& f) {
  const Gil gil;
  try {
    return f();
  } catch (nb::python_error& e) {
    throw RaisedInPython(std::move(e));
  }
}

}  // namespace argand::python
