// Modes and classes with __torch_dispatch__: Python's implementation of exec/dispatch_hooks.h.
//
// Note [Intercepting tensors]
// A tensor of a class with a __torch_dispatch__ of its own keeps the class and the attributes as long as it lives, also
// while it has no Python object, for example in the graph.  TensorImpl::front_object is then not the object itself but
// a Front, marked by its lowest bit, that knows the object if there is one and makes another if there is none.
// Aliases that are the same tensor without its history have Fronts of their own with the same attributes.
#pragma once
#include <memory>

#include "bindings/object.h"

namespace argand::python {

struct Front {
  // What the objects of a tensor and of its aliases have in common.
  struct Shared {
    SharedRef type, attributes;
    SharedRef slots;             // a dict of the values of __slots__, from the last object that went
    PyObject* living = nullptr;  // borrowed: an object whose __slots__ have the values
    bool has_slots = false;
    bool has_memory = true;  // false: of _make_wrapper_subclass()
  };
  PyObject* object = nullptr;  // borrowed
  std::shared_ptr<Shared> shared;
};

// Note [Kept objects]
// A tensor that outlives Python's references to its object, as a gradient or in the graph, keeps the object if anybody
// could tell it from a new one: if it is of a subclass, or has attributes.  The tensor owns the object then, which the
// second bit of TensorImpl::front_object marks, and gives it back when Python asks for the tensor again.  The object
// does not own the tensor meanwhile, so that nothing keeps memory; it only does where weak references lead to it: the
// garbage collector finds these when the tensor has no other owner.
inline PyObject* kept_object(const TensorImpl& t) {
  const auto bits = reinterpret_cast<uintptr_t>(t.front_object);
  return bits & 2 ? reinterpret_cast<PyObject*>(bits - 2) : nullptr;
}

// Null for a tensor that does not intercept.
inline Front* front_of(const TensorImpl& t) {
  const auto bits = reinterpret_cast<uintptr_t>(t.front_object);
  return bits & 1 ? reinterpret_cast<Front*>(bits - 1) : nullptr;
}

// Whether objects of this type are offered ops.
bool intercepts(PyTypeObject* type);
// Gives `t` a Front for objects of this type with these attributes, in place of the one that it has.
void set_front(TensorImpl& t, PyTypeObject* type, PyObject* attributes);
// Copies the values of __slots__ that the front's objects share to a new object.
void fill_slots(Front& front, PyObject* object);
// Keeps the values of __slots__ of `object`, an object of `front` that is about to be freed.
void keep_slots(Front& front, PyObject* object);
// Removes the Front of `t`, or its reference to a kept object.
void drop_front(TensorImpl& t);

// The objects that an interceptor gave last, so that they are still the tensors' objects when the caller asks for them:
// until the next tensor goes to Python.  Null if there are none; guarded by the interpreter's lock.
extern PyObject* kept_results;

// An object for a tensor that was made of Python's values, which modes may replace by another.
PyObject* shown(Tensor fresh);

void add_dispatch(nb::module_& module);

}  // namespace argand::python
