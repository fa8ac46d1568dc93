#include "bindings/tensor_object.h"

#include <structmember.h>

#include <mutex>

#include "argand/base/fork_mutex.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "bindings/dispatch.h"
#include "bindings/graph.h"
#include "bindings/literal.h"
#include "bindings/overrides.h"

// In every interpreter, but not in the headers of the stable ABI.
extern "C" int PyGILState_Check(void);
extern "C" int PyObject_CallFinalizerFromDealloc(PyObject*);

namespace argand::python {

PyTypeObject* tensor_type = nullptr;

// ---- references dropped by threads without the interpreter's lock

namespace {

constinit ProcessMutex dropped_mutex;
std::vector<nb::object*> dropped;

int free_dropped(void*) {
  std::vector<nb::object*> mine;
  {
    const std::lock_guard lock(dropped_mutex);
    mine.swap(dropped);
  }
  for (nb::object* object : mine) delete object;
  return 0;
}

}  // namespace

// Waiting for the interpreter's lock here could be a deadlock: the thread may hold a lock of the library's that a
// thread with the interpreter's waits for.  So the interpreter is asked to drop the reference when it gets to it.
void SharedRef::release(nb::object* object) {
  if (!Py_IsInitialized()) return;
  if (PyGILState_Check()) {
    delete object;
    return;
  }
  bool first;
  {
    const std::lock_guard lock(dropped_mutex);
    first = dropped.empty();
    dropped.push_back(object);
  }
  if (first) Py_AddPendingCall(free_dropped, nullptr);
}

// ---- the object

namespace {

TensorObject* cast(PyObject* self) { return reinterpret_cast<TensorObject*>(self); }

PyObject* allocate(PyTypeObject* type) {
  static const auto generic = reinterpret_cast<allocfunc>(PyType_GetSlot(tensor_type, Py_tp_alloc));
  PyObject* const self = generic(type, 0);
  if (self) new (&cast(self)->tensor) Tensor();
  return self;
}

// The object goes; a tensor that intercepts keeps what it was.
void leave(PyObject* self, TensorImpl& impl) {
  if (Front* const front = front_of(impl)) {
    front->object = nullptr;
    if (front->shared->living == self) front->shared->living = nullptr;
    PyObject* const attributes = cast(self)->dict;
    SharedRef& kept = front->shared->attributes;
    if (attributes && attributes != kept.get()) kept = SharedRef(nb::borrow(attributes));
  } else if (impl.front_object == self) {
    impl.front_object = nullptr;
  }
}

// The tensor of an object that its own tensor keeps (Note [Kept objects]), so that the two do not keep each other.
const Tensor& no_tensor() {
  static const Tensor& none = *new Tensor(exec::new_tensor({{0}, kFloat}, kCPU));
  return none;
}

// Whether the tensor lives on without the object, and somebody could tell the object from another one.
bool is_to_be_kept(PyObject* self) {
  const TensorObject& object = *cast(self);
  if (!object.tensor.defined() || object.tensor.use_count() == 1 || object.tensor.impl().front_object != self)
    return false;
  return Py_TYPE(self) != tensor_type || (object.dict && PyDict_Size(object.dict) > 0);
}

// Note [Kept objects]
void keep(PyObject* self) {
  const bool is_free = Py_REFCNT(self) == 1 && !cast(self)->weak_references;  // the caller's reference is the only one
  Tensor& tensor = cast(self)->tensor;
  tensor.impl().front_object = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(Py_NewRef(self)) | 2);
  if (!is_free) return;
  const Tensor last = std::exchange(tensor, no_tensor());
}

// The object that a tensor keeps is Python's again: a new reference.
PyObject* take_kept(PyObject* self, Tensor tensor) {
  // Python calls tp_finalize once, unless told otherwise: the lowest bit of the word before each object that it
  // collects.
  if (PyObject_GC_IsFinalized(self)) reinterpret_cast<uintptr_t*>(self)[-1] &= ~uintptr_t{1};
  tensor.impl().front_object = self;
  cast(self)->tensor = std::move(tensor);
  return self;
}

// The tensor of `self` knows its object.
void enter(PyObject* self) {
  TensorImpl& impl = cast(self)->tensor.impl();
  if (!intercepts(Py_TYPE(self))) {
    drop_front(impl);
    impl.front_object = self;
    return;
  }
  if (!cast(self)->dict) cast(self)->dict = PyDict_New();
  set_front(impl, Py_TYPE(self), cast(self)->dict);
  front_of(impl)->object = front_of(impl)->shared->living = self;
}

// Before anything of the object goes.
void finalize(PyObject* self) {
  Tensor& tensor = cast(self)->tensor;
  if (!tensor.defined()) return;
  if (is_to_be_kept(self)) return keep(self);
  Front* const front = front_of(tensor.impl());
  // Nobody else can ask for the values of a tensor that goes with its object.
  if (!front || !front->shared->has_slots || (tensor.use_count() == 1 && front->shared.use_count() == 1)) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    keep_slots(*front, self);
  } catch (nb::python_error& e) {
    e.discard_as_unraisable("a tensor's __slots__");
  }
  PyErr_Restore(type, value, trace);
}

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  // Python has asked the finalizers of subclasses.
  if (type == tensor_type && is_to_be_kept(self) && PyObject_CallFinalizerFromDealloc(self) < 0) return;
  PyObject_GC_UnTrack(self);
  if (cast(self)->weak_references) PyObject_ClearWeakRefs(self);
  Tensor& tensor = cast(self)->tensor;
  if (tensor.defined()) leave(self, tensor.impl());
  Py_CLEAR(cast(self)->dict);
  tensor.~Tensor();
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  // The tensor's other owners keep the object, so what it refers to is not garbage, even if nothing else leads to it.
  if (is_to_be_kept(self)) return 0;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->dict);
  const Tensor& tensor = cast(self)->tensor;
  if (tensor.defined() && tensor.use_count() == 1 && !NoGil::in_use())
    if (const Front* const front = front_of(tensor.impl())) {
      if (front->shared.use_count() == 1)
        for (const SharedRef* ref : {&front->shared->attributes, &front->shared->type, &front->shared->slots})
          if (ref->get())
            if (const int stop = ref->visit(visit, arg)) return stop;
    }
  return visit_owned(cast(self)->tensor, visit, arg);
}

int clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  Tensor& tensor = cast(self)->tensor;
  if (tensor.use_count() != 1) return 0;
  drop_front(tensor.impl());
  const Tensor last = std::move(tensor);  // what it drops may come back to this object, which has none any more
  return 0;
}

// As in PyTorch, hash(t) == id(t): objects like Symbol and set elements are ordered by it there, too.
Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self)); }

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    Tensor made = legacy_tensor(arguments, keywords);
    // A mode may have made a tensor that has a class of its own.
    const bool of_mode = type == tensor_type && argand::exec::DispatchHooks::intercepts(made.impl());
    return of_mode ? wrap(std::move(made)) : wrap_as(type, std::move(made));
  });
}

Py_ssize_t size(PyObject* self) {
  if (is_overridden(&self, 1)) {
    const nb::object length = nb::steal(call_override("__len__", self));
    return length.is_valid() ? PyLong_AsSsize_t(length.ptr()) : -1;
  }
  const Tensor& t = as_tensor(self);
  if (t.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return static_cast<Py_ssize_t>(t.sizes()[0]);
}

// Each object gets the other's tensor.
void swap_tensors(nb::handle a, nb::handle b) {
  for (const nb::handle t : {a, b}) {
    if (is_tensor(t.ptr())) continue;
    PyErr_Format(PyExc_TypeError, "swap_tensors: expected a Tensor, got %s", type_name(t.ptr()).c_str());
    throw nb::python_error();
  }
  std::swap(cast(a.ptr())->tensor, cast(b.ptr())->tensor);
  for (const nb::handle t : {a, b})
    if (cast(t.ptr())->tensor.defined()) enter(t.ptr());
}

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

static PyObject* object_of(Tensor tensor) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  TensorImpl& impl = tensor.impl();
  if (Front* const front = front_of(impl)) {
    if (front->object) return Py_NewRef(front->object);
    Front::Shared& shared = *front->shared;
    PyObject* const self = allocate(reinterpret_cast<PyTypeObject*>(shared.type.get()));
    if (!self) return nullptr;
    cast(self)->dict = Py_NewRef(shared.attributes.get());
    cast(self)->tensor = std::move(tensor);
    front->object = self;
    fill_slots(*front, self);
    shared.living = self;
    return self;
  }
  if (PyObject* const kept = kept_object(impl)) return take_kept(kept, std::move(tensor));
  if (void* const known = impl.front_object) return Py_NewRef(static_cast<PyObject*>(known));
  return wrap_as(tensor_type, std::move(tensor));
}

PyObject* wrap(Tensor tensor) {
  PyObject* const object = object_of(std::move(tensor));
  if (kept_results) [[unlikely]]
    Py_DECREF(std::exchange(kept_results, nullptr));
  return object;
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  PyObject* const self = allocate(type);
  if (!self) return nullptr;
  cast(self)->tensor = std::move(tensor);
  if (type == tensor_type)
    cast(self)->tensor.impl().front_object = self;
  else
    enter(self);
  return self;
}

void add_tensor_type(nb::module_& module) {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                                    {Py_tp_finalize, reinterpret_cast<void*>(finalize)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                    {Py_tp_hash, reinterpret_cast<void*>(hash)},
                                    {Py_tp_new, reinterpret_cast<void*>(make)},
                                    {Py_tp_richcompare, reinterpret_cast<void*>(tensor_compare)},
                                    {Py_tp_getset, tensor_properties},
                                    {Py_tp_members, members},
                                    {Py_mp_length, reinterpret_cast<void*>(size)},
                                    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                                    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)}};
  for (const PyType_Slot* slot = number_slots; slot->slot; ++slot) slots.push_back(*slot);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"argand.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw nb::python_error();
  module.attr("Tensor") = nb::borrow(reinterpret_cast<PyObject*>(tensor_type));
  module.def("_swap_tensors", swap_tensors);
}

}  // namespace argand::python
