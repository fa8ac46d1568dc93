// What every file of the bindings needs: nanobind, owned references, and the interpreter's lock.
//
// Functions that Python calls directly return a new reference, or null with Python's error set; guarded() makes that of
// C++ functions that throw.
#pragma once
#include <nanobind/nanobind.h>

#include "argand/core/tensor.h"

namespace argand::python {

namespace nb = nanobind;

// Releases the interpreter's lock for a scope: ops run, and wait, without it.
class NoGil {
 public:
  NoGil() : state_((++threads_, PyEval_SaveThread())) {}
  ~NoGil();
  NoGil(const NoGil&) = delete;
  NoGil& operator=(const NoGil&) = delete;
  // Whether some thread is in such a scope, where it may change tensors; asked by a thread that has the lock.
  static bool in_use() { return threads_ > 0; }

 private:
  inline static int threads_ = 0;  // guarded by the lock
  PyThreadState* state_;
};

// A reference that C++ objects keep, which may be dropped by a thread that does not hold the interpreter's lock.
class SharedRef {
 public:
  SharedRef() = default;
  explicit SharedRef(nb::object object) : object_(new nb::object(std::move(object)), &release) {}
  PyObject* get() const { return object_ ? object_->ptr() : nullptr; }
  // For tp_traverse of the one object that owns this: nothing if there are copies.
  int visit(visitproc visitor, void* arg) const {
    return object_.use_count() == 1 && object_->is_valid() ? visitor(object_->ptr(), arg) : 0;
  }

 private:
  static void release(nb::object* object);
  std::shared_ptr<nb::object> object_;
};

// Sets Python's error from the C++ exception that is being handled.
void set_error();

template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
template <class F>
int guarded_status(F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (...) {
    set_error();
    return -1;
  }
}

// str(object) in UTF-8; what UTF-8 does not have, as the halves of surrogate pairs, is escaped.
std::string shown(nb::handle object);

// "list", "numpy.ndarray": the type of an object for messages.
std::string type_name(PyObject* object);

}  // namespace argand::python
