// Attributes of tensors.
#include "argand/autograd/assign_grad.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "bindings/constants.h"
#include "bindings/graph.h"
#include "bindings/numbers.h"
#include "bindings/object.h"
#include "bindings/overrides.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

template <class F>
PyObject* view(PyObject* self, const F& f) noexcept {
  return guarded([&] { return wrap(f(as_tensor(self))); });
}
int refuse(const char* message) {
  PyErr_SetString(PyExc_RuntimeError, message);
  return -1;
}

PyObject* shape(PyObject* self, void*) {
  return guarded([&] { return wrap_size(as_tensor(self).sizes()); });
}
PyObject* dtype(PyObject* self, void*) { return Py_NewRef(dtype_object(as_tensor(self).dtype())); }
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return wrap(as_tensor(self).device()); });
}
PyObject* layout(PyObject*, void*) {
  return guarded([&] { return Py_NewRef(strided_layout()); });
}
PyObject* ndim(PyObject* self, void*) { return PyLong_FromLongLong(as_tensor(self).dim()); }
PyObject* itemsize(PyObject* self, void*) { return PyLong_FromLongLong(as_tensor(self).itemsize()); }
PyObject* nbytes(PyObject* self, void*) { return PyLong_FromSize_t(as_tensor(self).nbytes()); }
PyObject* is_cpu(PyObject* self, void*) { return PyBool_FromLong(as_tensor(self).is_cpu()); }
PyObject* is_cuda(PyObject* self, void*) { return PyBool_FromLong(as_tensor(self).is_cuda()); }
PyObject* is_meta(PyObject* self, void*) { return PyBool_FromLong(as_tensor(self).is_meta()); }
PyObject* never(PyObject*, void*) { return Py_NewRef(Py_False); }

PyObject* requires_grad(PyObject* self, void*) { return PyBool_FromLong(as_tensor(self).requires_grad()); }
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] {
    ARGAND_CHECK(GradError, value, "Tensor.requires_grad cannot be deleted");
    ARGAND_CHECK(Error, PyBool_Check(value), "requires_grad must be a bool, but got ", type_name(value));
    as_tensor(self).set_requires_grad(value == Py_True);
  });
}
PyObject* is_leaf(PyObject* self, void*) { return PyBool_FromLong(as_tensor(self).is_leaf()); }
PyObject* retains_grad(PyObject* self, void*) { return PyBool_FromLong(as_tensor(self).retains_grad()); }
PyObject* grad(PyObject* self, void*) {
  return guarded([&] { return wrap(as_tensor(self).grad()); });
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] {
    const bool none = !value || value == Py_None;
    if (!none && !python::is_tensor(value)) {
      PyErr_Format(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got grad of type %s",
                   type_name(value).c_str());
      throw nb::python_error();
    }
    autograd::assign_grad(as_tensor(self), none ? Tensor() : as_tensor(value));
  });
}
PyObject* grad_fn(PyObject* self, void*) {
  return guarded([&] { return wrap(as_tensor(self).grad_fn()); });
}
// Only to None, which makes it a leaf.
int set_grad_fn(PyObject* self, PyObject* value, void*) {
  if (!value) return refuse("Tensor._grad_fn cannot be deleted; detach the tensor instead");
  if (value != Py_None) {
    PyErr_SetString(PyExc_TypeError, "Tensor._grad_fn can be only set to None");
    return -1;
  }
  return guarded_status([&] { Tensor(as_tensor(self)).detach_(); });
}
PyObject* output_nr(PyObject* self, void*) { return PyLong_FromUnsignedLong(as_tensor(self).output_nr()); }
PyObject* address(PyObject* self, void*) { return PyLong_FromVoidPtr(&as_tensor(self).impl()); }
PyObject* version(PyObject* self, void*) { return PyLong_FromUnsignedLong(as_tensor(self)._version()); }
PyObject* base(PyObject* self, void*) {
  return guarded([&] { return as_tensor(self).is_view() ? wrap(as_tensor(self)._base()) : Py_NewRef(Py_None); });
}
PyObject* data(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return exec::DispatchHooks::listens() ? t.detach() : t.data(); });
}
int set_data(PyObject* self, PyObject* value, void*) {
  if (!value) return refuse("Tensor.data cannot be deleted");
  if (!python::is_tensor(value)) {
    PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %s", type_name(value).c_str());
    return -1;
  }
  return guarded_status([&] { as_tensor(self).set_data(as_tensor(value)); });
}

PyObject* real(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return t.is_complex() ? argand::real(t) : t; });
}
PyObject* imag(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return argand::imag(t); });
}
// x.real = y: elements of the view are written.
template <Tensor (*Part)(const Tensor&)>
int set_part(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] {
    if (!value || !(python::is_tensor(value) || is_number(value, false))) {
      PyErr_SetString(PyExc_TypeError, "Tensor.real and Tensor.imag: expected a Tensor or a number");
      throw nb::python_error();
    }
    const Tensor& t = as_tensor(self);
    (t.is_complex() ? Part(t) : t)
        .copy_(python::is_tensor(value) ? as_tensor(value) : exec::wrapped_number(to_scalar(value)));
  });
}
PyObject* numpy_transposed(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return t.numpy_T(); });
}
PyObject* matrix_transposed(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return t.mT(); });
}
PyObject* adjoint(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return t.mH(); });
}
PyObject* matrix_adjoint(PyObject* self, void*) {
  return view(self, [](const Tensor& t) { return t.matrix_H(); });
}

// What a class or a mode that overrides makes of `Tensor.name.__get__`, or the attribute itself.
template <getter Get>
PyObject* get(PyObject* self, void* name) {
  if (is_overridden(&self, 1)) return override_attribute(static_cast<const char*>(name), self, nullptr);
  return Get(self, nullptr);
}
template <setter Set>
int set(PyObject* self, PyObject* value, void* name) {
  if (!value || !is_overridden(&self, 1)) return Set(self, value, nullptr);
  const nb::object done = nb::steal(override_attribute(static_cast<const char*>(name), self, value));
  return done.is_valid() ? 0 : -1;
}
template <getter Get, setter Set = nullptr>
PyGetSetDef attribute(const char* name, const char* text) {
  PyGetSetDef out{name, get<Get>, nullptr, text, const_cast<char*>(name)};
  if constexpr (Set != nullptr) out.set = set<Set>;
  return out;
}

}  // namespace

PyGetSetDef tensor_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, "The attributes that users have set.", nullptr},
    attribute<shape>("shape", "The sizes of the dimensions, a Size."),
    attribute<dtype>("dtype", "The type of the elements."),
    attribute<device>("device", "Where the elements are."),
    attribute<layout>("layout", "Always strided."),
    attribute<ndim>("ndim", "The number of dimensions."),
    attribute<itemsize>("itemsize", "Bytes of one element."),
    attribute<nbytes>("nbytes", "Bytes of all elements."),
    attribute<is_cpu>("is_cpu", "Whether the elements are in the host's memory."),
    attribute<is_cuda>("is_cuda", "Whether the elements are on a CUDA device."),
    attribute<is_meta>("is_meta", "Whether there are no elements, only a shape and a dtype."),
    attribute<never>("is_sparse", "False: there are no sparse tensors."),
    attribute<never>("is_quantized", "False: there are no quantized tensors."),
    attribute<never>("is_nested", "False: there are no nested tensors."),
    attribute<never>("is_mkldnn", "False."),
    attribute<never>("is_mps", "False."),
    attribute<never>("is_xpu", "False."),
    attribute<requires_grad, set_requires_grad>("requires_grad", "Whether gradients are computed for it."),
    attribute<is_leaf>("is_leaf", "Whether it is no result of an op that was recorded."),
    attribute<retains_grad>("retains_grad", "Whether it keeps its gradient though it is no leaf."),
    attribute<grad, set_grad>("grad", "The gradient that backward() has summed, or None."),
    attribute<grad, set_grad>("_grad", "As grad."),
    attribute<grad_fn>("grad_fn", "The node of the op it is a result of, or None."),
    attribute<grad_fn, set_grad_fn>("_grad_fn", "As grad_fn; set to None it makes the tensor a leaf."),
    attribute<output_nr>("output_nr", "Which result of its op it is."),
    attribute<address>("_cdata", "A number that tells tensors apart, whatever object stands for them."),
    attribute<version>("_version", "How often its memory was written in place."),
    attribute<base>("_base", "The tensor it is a view of, or None."),
    attribute<data, set_data>("data", "The same elements without history."),
    attribute<real, set_part<argand::real>>("real", "The real parts, a view."),
    attribute<imag, set_part<argand::imag>>("imag", "The imaginary parts, a view."),
    attribute<numpy_transposed>("T", "The dimensions reversed, a view."),
    attribute<matrix_transposed>("mT", "The last two dimensions swapped, a view."),
    attribute<matrix_adjoint>("H", "A matrix transposed and conjugated."),
    attribute<adjoint>("mH", "The last two dimensions swapped, and conjugated."),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace argand::python
