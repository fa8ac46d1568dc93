// The items of a tuple or list that C++ walks.
//
// Converting an item may run Python code (`__index__`, `__float__`, `__torch_function__`), and waiting for a tensor
// lets other threads run.  Either may change the list and free the items that it had.  So a list is copied first: the
// items are those that it had when the walk began, whatever happens to it.  A tuple never changes and is only kept
// alive.
//
// Plain references, as every call with sizes makes some: nb::object asks for the interpreter's lock each time.
#pragma once
#include "bindings/object.h"

namespace argand::python {

// Keeps an object alive for a scope.
class Held {
 public:
  explicit Held(PyObject* object) : object_(Py_NewRef(object)) {}
  ~Held() { Py_DECREF(object_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

// Whether PyTorch takes the object for a list: tuples and lists, not text or tensors.
inline bool is_sequence(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

inline Py_ssize_t size_of_sequence(PyObject* sequence) {
  return PyTuple_Check(sequence) ? PyTuple_Size(sequence) : PyList_Size(sequence);
}
// Returns a borrowed reference, valid until Python code runs (Items keep theirs).
inline PyObject* item_of_sequence(PyObject* sequence, Py_ssize_t i) {
  return PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, i) : PyList_GetItem(sequence, i);
}

// The first item decides.  The others are checked when they are converted, and errors name them.
template <class F>
bool is_list_of(PyObject* object, const F& accepts) {
  if (!is_sequence(object)) return false;
  if (size_of_sequence(object) == 0) return true;
  const Held first(item_of_sequence(object, 0));  // whose __index__ may empty the list
  return accepts(first.get());
}

class Items {
 public:
  // REQUIRES a tuple or a list.
  explicit Items(PyObject* sequence)
      : Items(PyTuple_Check(sequence) ? Py_NewRef(sequence) : PyList_AsTuple(sequence), Owned{}) {}
  // Of any object that can be iterated.
  static Items of_iterable(PyObject* object) { return {PySequence_Tuple(object), Owned{}}; }
  ~Items() { Py_DECREF(tuple_); }
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;

  Py_ssize_t size() const { return size_; }
  // Borrowed from this object.
  PyObject* operator[](Py_ssize_t i) const { return PyTuple_GetItem(tuple_, i); }

 private:
  struct Owned {};
  Items(PyObject* tuple, Owned) : tuple_(tuple) {
    if (!tuple) throw nb::python_error();
    size_ = PyTuple_Size(tuple);
  }

  PyObject* tuple_;
  Py_ssize_t size_ = 0;
};

}  // namespace argand::python
