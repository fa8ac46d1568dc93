#include "bindings/dispatch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

#include "argand/base/fork_mutex.h"
#include "argand/exec/check_out.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "bindings/argument_object.h"
#include "bindings/constants.h"
#include "bindings/errors.h"
#include "bindings/numbers.h"
#include "bindings/tensor_object.h"

namespace argand::python {

PyObject* kept_results = nullptr;

namespace {

using exec::DispatchHooks;

PyObject* default_dispatch = nullptr;  // _C._disabled_torch_dispatch_impl
// Functions that argand._dispatch registers: for calls of ops, and for reads of the one number of a tensor.
PyObject* offer_call = nullptr;
PyObject* offer_number = nullptr;
PyObject* offer_fresh = nullptr;
PyObject* depth_of = nullptr;
PyObject* slots_of = nullptr;

// The calling thread's modes, the innermost last; null if there are none.  Not Python's thread-local data: a C++ thread
// loses that when it releases the interpreter's lock.
thread_local PyObject* stack = nullptr;

nb::object modes_of_thread() { return stack ? nb::object(nb::borrow(stack)) : nb::object(nb::list()); }
void set_modes_of_thread(nb::handle modes) {
  const bool any = modes.is_valid() && nb::len(modes) > 0;
  Py_XDECREF(std::exchange(stack, any ? modes.inc_ref().ptr() : nullptr));
  DispatchHooks::state =
      static_cast<uint8_t>((DispatchHooks::state & ~DispatchHooks::kModes) | (any ? DispatchHooks::kModes : 0));
}

// ---- results

Tensor to_result(const OpInfo& op, nb::handle object) {
  if (object.is_none()) return {};
  if (is_tensor(object.ptr())) return as_tensor(object.ptr());
  if (is_number(object.ptr(), true)) return exec::wrapped_number(to_scalar(object.ptr()));
  PyErr_Format(
      PyExc_RuntimeError,
      "Unable to cast Python instance of type %s to C++ type 'at::Tensor': what __torch_dispatch__ gave for %s",
      type_name(object.ptr()).c_str(), static_cast<const char*>(op.name));
  throw nb::python_error();
}

std::shared_ptr<void> held(nb::object object) { return std::make_shared<SharedRef>(std::move(object)); }

class PythonInterceptor final : public exec::Interceptor {
 public:
  bool offer(const exec::OfferedCall& call, std::vector<Tensor>& results) override {
    return in_python([&] {
      ArgumentValues values;
      call.op.args.values(call.args, values);
      nb::dict arguments;
      for (const auto& [name, value] : values) arguments[name] = to_object(value);
      nb::list outs;
      for (const Tensor& out : call.outs) outs.append(to_object(out));
      const bool whole = call.op.kind == OpKind::kComposite;
      const nb::object result =
          nb::handle(offer_call)(static_cast<const char*>(call.op.name), static_cast<int>(call.form), call.op.schema,
                                 whole, call.records, arguments, outs);
      if (result.ptr() == Py_NotImplemented) return false;
      for (const nb::handle r : nb::borrow<nb::list>(result)) results.push_back(to_result(call.op, r));
      Py_XDECREF(std::exchange(kept_results, result.inc_ref().ptr()));
      return true;
    });
  }

  std::optional<Scalar> read(const Tensor& t) override {
    return in_python([&]() -> std::optional<Scalar> {
      const nb::object result = nb::handle(offer_number)(to_object(t));
      if (result.ptr() == Py_NotImplemented) return std::nullopt;
      return to_scalar(result.ptr());
    });
  }

  int64_t depth(const Tensor& t) override {
    return in_python([&] { return nb::cast<int64_t>(nb::handle(depth_of)(to_object(t))); });
  }
  std::shared_ptr<void> modes() override {
    return in_python([] { return held(modes_of_thread()); });
  }
  std::shared_ptr<void> exchange_modes(std::shared_ptr<void> modes) override {
    return in_python([&] {
      auto before = held(modes_of_thread());
      set_modes_of_thread(static_cast<SharedRef*>(modes.get())->get());
      return before;
    });
  }

  void share(const Tensor& alias, const Tensor& of) noexcept override {
    const Front& front = *front_of(of.impl());
    mark(alias.impl(), new Front{nullptr, front.shared});
  }

  void forget(void* front_object) noexcept override {
    const auto bits = reinterpret_cast<uintptr_t>(front_object);
    if (bits & 1) delete reinterpret_cast<Front*>(bits - 1);
    if (bits & 2) {
      const SharedRef last(nb::steal(reinterpret_cast<PyObject*>(bits - 2)));
    }
  }

  static void mark(TensorImpl& t, Front* front) {
    t.front_object = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(front) | 1);
  }
};

// ---- tensors without memory

class NoMemory final : public Allocator {
 public:
  explicit NoMemory(const Device& device) : device_(device) {}
  void* allocate(size_t) override {
    ARGAND_THROW(
        ValueError,
        "Cannot access data pointer of Tensor that doesn't have storage (Attempted to access the data pointer on an "
        "invalid python storage.): it is one that "
        "_make_wrapper_subclass() made, whose elements are what its __torch_dispatch__ makes of them");
  }
  void deallocate(void*, size_t) noexcept override {}
  Device device() const override { return device_; }

 private:
  Device device_;
};

Allocator& no_memory_of(const Device& device) {
  static constinit ProcessMutex mutex;
  const std::lock_guard lock(mutex);
  static auto& all = *new std::map<std::pair<DeviceType, int>, NoMemory>;
  return all.try_emplace({device.type(), device.index()}, device).first->second;
}

Tensor without_memory(const std::vector<int64_t>& sizes, const std::optional<std::vector<int64_t>>& strides,
                      int64_t offset, ScalarType dtype, const Device& device) {
  const Dims shape(sizes.begin(), sizes.end());
  Dims steps = strides ? Dims(strides->begin(), strides->end()) : contiguous_strides(shape);
  ARGAND_CHECK(ShapeError, steps.size() == shape.size(),
               "_make_wrapper_subclass: expected as many strides as sizes, got ", steps, " for ", shape);
  int64_t elements = offset + (numel_of(shape) > 0 ? 1 : 0);
  if (numel_of(shape) > 0)
    for (size_t i = 0; i < shape.size(); ++i) elements += (shape[i] - 1) * steps[i];
  auto storage = make_intrusive<StorageImpl>(static_cast<size_t>(elements * element_size(dtype)), no_memory_of(device));
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), shape, std::move(steps), offset, dtype));
}

}  // namespace

bool intercepts(PyTypeObject* type) {
  if (type == tensor_type || !default_dispatch) return false;
  const nb::object method = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__torch_dispatch__"));
  if (!method.is_valid()) PyErr_Clear();
  return method.is_valid() && method.ptr() != default_dispatch;
}

void set_front(TensorImpl& t, PyTypeObject* type, PyObject* attributes) {
  const std::unique_ptr<Front> before(front_of(t));
  auto shared = std::make_shared<Front::Shared>();
  shared->type = SharedRef(nb::borrow(reinterpret_cast<PyObject*>(type)));
  shared->attributes = SharedRef(nb::borrow(attributes));
  shared->has_memory = !before || before->shared->has_memory;
  const nb::object slots = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__slots__"));
  if (!slots.is_valid()) PyErr_Clear();
  shared->has_slots = slots.is_valid();
  PythonInterceptor::mark(t, new Front{nullptr, std::move(shared)});
  DispatchHooks::tensors.store(true, std::memory_order_relaxed);
}

void fill_slots(Front& front, PyObject* object) {
  Front::Shared& shared = *front.shared;
  if (!shared.has_slots) return;
  if (shared.living) keep_slots(front, shared.living);
  if (!shared.slots.get()) return;
  for (const auto& [name, value] : nb::borrow<nb::dict>(shared.slots.get()))
    if (PyObject_SetAttr(object, name.ptr(), value.ptr()) != 0) throw nb::python_error();
}

void keep_slots(Front& front, PyObject* object) {
  Front::Shared& shared = *front.shared;
  if (!shared.has_slots) return;
  shared.slots = SharedRef(nb::handle(slots_of)(nb::handle(object)));
}

void drop_front(TensorImpl& t) {
  PyObject* const kept = kept_object(t);
  delete front_of(t);
  t.front_object = nullptr;
  Py_XDECREF(kept);
}

PyObject* shown(Tensor fresh) {
  nb::object object = nb::steal(wrap(std::move(fresh)));
  if ((DispatchHooks::state & DispatchHooks::kModes) == 0 || !DispatchHooks::listens()) return object.release().ptr();
  nb::object result;
  {
    const exec::DispatchStateGuard below(DispatchHooks::kBelowAutograd);
    result = nb::handle(offer_fresh)(object);
  }
  if (as_tensor(object.ptr()).requires_grad() && is_tensor(result.ptr()))
    as_tensor(result.ptr()).set_requires_grad(true);
  return result.release().ptr();
}

// Writes the results of a function that Python code defines to its out=, by the rules of an op.
static void write_outs(const char* op, const std::vector<Tensor>& results, std::vector<Tensor> outs) {
  const auto all = all_ops();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const OpInfo* info) { return std::string_view(info->name.c_str()) == op; });
  ARGAND_ASSERT(found != all.end());
  TensorSlots slots;
  exec::write_outs(**found, slots, results, outs);
}

void add_dispatch(nb::module_& module) {
  DispatchHooks::interceptor.store(new PythonInterceptor, std::memory_order_release);
  module.def("_set_dispatcher", [](nb::object call, nb::object number, nb::object fresh, nb::object depth,
                                   nb::object slots, nb::object default_method) {
    offer_call = call.release().ptr();
    offer_number = number.release().ptr();
    offer_fresh = fresh.release().ptr();
    depth_of = depth.release().ptr();
    slots_of = slots.release().ptr();
    default_dispatch = default_method.release().ptr();
  });
  // Sets the bits of exec::DispatchHooks::state; returns the earlier state.
  module.def("_set_dispatch_state", [](int state) {
    return static_cast<int>(std::exchange(DispatchHooks::state, static_cast<uint8_t>(state)));
  });
  module.def("_offer_all", [](bool all) {
    DispatchHooks::all.store(all, std::memory_order_relaxed);
    if (all) DispatchHooks::tensors.store(true, std::memory_order_relaxed);
  });
  // The kind of each op's definition, by its schema.
  module.def("_op_kinds", [] {
    nb::dict kinds;
    for (const OpInfo* op : all_ops())
      kinds[static_cast<const char*>(op->schema)] = op->kind == OpKind::kPointwise ? "pointwise"
                                                    : op->kind == OpKind::kKernel  ? "kernel"
                                                    : op->kind == OpKind::kView    ? "view"
                                                                                   : "composite";
    return kinds;
  });
  module.def("_shown", [](const Tensor& fresh) { return nb::steal(shown(fresh)); });
  module.def("_dispatch_modes", modes_of_thread);
  module.def("_set_dispatch_modes", [](nb::list modes) { set_modes_of_thread(modes); });
  module.def("_dispatch_state", [] { return static_cast<int>(DispatchHooks::state); });
  module.def("_intercepts", [](nb::handle object) {
    return is_tensor(object.ptr()) && front_of(as_tensor(object.ptr()).impl()) != nullptr;
  });
  module.def("_has_no_memory", [](const Tensor& t) {
    const Front* const front = front_of(t.impl());
    return front && !front->shared->has_memory;
  });
  module.def("_write_outs", write_outs, nb::arg("op"), nb::arg("results"), nb::arg("out"));
  // Gives `t` the storage of `base`; sizes, strides and offset of `t` stay.
  module.def("_share_storage", [](const Tensor& t, const Tensor& base) { t.impl().storage = base.storage(); });
  module.def(
      "_wrapper",
      [](nb::handle type, const std::vector<int64_t>& sizes, const std::optional<std::vector<int64_t>>& strides,
         int64_t offset, nb::handle dtype, nb::handle device, bool requires_grad) {
        const Tensor t = without_memory(sizes, strides, offset, *as_dtype(dtype.ptr()), *as_device(device.ptr()));
        t.set_requires_grad(requires_grad);
        nb::object object = owned(wrap_as(reinterpret_cast<PyTypeObject*>(type.ptr()), t));
        if (Front* const front = front_of(t.impl())) front->shared->has_memory = false;
        return object;
      },
      nb::arg("type"), nb::arg("sizes"), nb::arg("strides").none(), nb::arg("offset"), nb::arg("dtype"),
      nb::arg("device"), nb::arg("requires_grad"));
}

}  // namespace argand::python
