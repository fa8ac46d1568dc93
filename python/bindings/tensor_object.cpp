#include "bindings/tensor_object.h"

#include <cxxabi.h>
#include <structmember.h>
#include <unistd.h>

#include <mutex>

#include "bindings/graph.h"
#include "bindings/literal.h"
#include "bindings/overrides.h"

extern "C" int PyGILState_Check(void);  // in every interpreter, but not in the headers of the stable ABI

namespace argand::python {

PyTypeObject* tensor_type = nullptr;

// An interpreter that ends stops other threads when they ask for its lock, by unwinding their stacks; that must not run
// through code that knows nothing of it.  Such a thread sleeps instead until the process is gone.
NoGil::~NoGil() {
  try {
    PyEval_RestoreThread(state_);
    --threads_;
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

// ---- references dropped by threads without the interpreter's lock

namespace {

std::mutex dropped_mutex;
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

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (cast(self)->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(cast(self)->dict);
  Tensor& tensor = cast(self)->tensor;
  if (tensor.defined()) tensor.impl().front_object = nullptr;
  tensor.~Tensor();
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->dict);
  return visit_owned(cast(self)->tensor, visit, arg);
}

int clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  Tensor& tensor = cast(self)->tensor;
  if (tensor.use_count() != 1) return 0;
  tensor.impl().front_object = nullptr;
  const Tensor last = std::move(tensor);  // what it drops may come back to this object, which has none any more
  return 0;
}

Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4); }

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&] { return wrap_as(type, legacy_tensor(arguments, keywords)); });
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
    if (cast(t.ptr())->tensor.defined()) cast(t.ptr())->tensor.impl().front_object = t.ptr();
}

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  if (void* const known = tensor.impl().front_object) return Py_NewRef(static_cast<PyObject*>(known));
  return wrap_as(tensor_type, std::move(tensor));
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  PyObject* const self = allocate(type);
  if (!self) return nullptr;
  cast(self)->tensor = std::move(tensor);
  cast(self)->tensor.impl().front_object = self;
  return self;
}

void add_tensor_type(nb::module_& module) {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
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
