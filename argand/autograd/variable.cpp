// Tensor's methods for autograd.
#include <algorithm>
#include <atomic>
#include <iterator>

#include "argand/autograd/accumulate.h"
#include "argand/autograd/engine.h"
#include "argand/base/fork_mutex.h"
#include "argand/base/log.h"
#include "argand/core/watched_bytes.h"
#include "argand/exec/copy.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/invoke.h"
#include "argand/exec/offer.h"
#include "argand/exec/stream.h"
#include "argand/ops/create/uninitialized.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {

bool Tensor::requires_grad() const {
  if (!defined()) return false;
  const AutogradMeta* meta = autograd_meta_or_null(*this);
  if (!meta) return false;
  // A view made without recording reports the base's requires_grad, although no gradient flows from it to the base.
  return meta->requires_grad || meta->grad_fn || (meta->base.defined() && meta->base.requires_grad());
}

const Tensor& Tensor::set_requires_grad(bool value) const {
  ARGAND_CHECK(GradError, !value || is_differentiable(dtype()),
               "Only Tensors of floating point and complex dtype can require gradients, got ", dtype());
  ARGAND_CHECK(GradError, value || is_leaf(), "you can only change requires_grad flags of leaf variables.");
  ARGAND_CHECK(GradError, !value || !is_inference() || InferenceMode::is_enabled(),
               "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (value && !is_leaf()) return *this;
  if (value || autograd_meta_or_null(*this)) autograd_meta(*this).requires_grad = value;
  return *this;
}

bool Tensor::is_leaf() const {
  const AutogradMeta* meta = autograd_meta_or_null(*this);
  if (!meta) return true;
  return meta->creation == autograd::CreationMeta::DEFAULT ? !grad_fn() : !meta->grad_fn;
}

const Tensor& Tensor::grad() const {
  static const Tensor& none = *new Tensor;
  AutogradMeta* meta = autograd_meta_or_null(*this);
  if (!meta) return none;
  if (meta->grad_fn && !meta->retained_grad && !meta->leaf_grad.defined())
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead.");
  return meta->grad();
}

Tensor& Tensor::mutable_grad() const { return autograd_meta(*this).grad(); }

uint32_t Tensor::output_nr() const {
  const AutogradMeta* meta = autograd_meta_or_null(*this);
  return meta ? meta->output_nr : 0;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  ARGAND_CHECK(ValueError, !inputs || !inputs->empty(), "backward: 'inputs' argument to backward cannot be empty");
  autograd::backward(*this, gradient, retain_graph, create_graph, inputs.value_or(TensorList()));
}

static unsigned next_hook_handle() {
  static std::atomic<unsigned> next{0};
  return next++;
}

void Tensor::retain_grad() const {
  ARGAND_CHECK(GradError, requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf() || retains_grad()) return;
  AutogradMeta& meta = autograd_meta(*this);
  meta.retained_grad = std::make_shared<Tensor>();
  meta.retain_handle = next_hook_handle();
  const autograd::Edge edge = gradient_edge(*this);
  const auto keep = [weak = std::weak_ptr<Tensor>(meta.retained_grad)](const Tensor& g) {
    if (const auto grad = weak.lock()) *grad = grad->defined() ? *grad + g : g.clone();
    return Tensor();
  };
  edge.function->add_hook({meta.retain_handle, edge.input_nr, keep, true});
}

bool Tensor::retains_grad() const {
  const AutogradMeta* meta = autograd_meta_or_null(*this);
  return meta && meta->retained_grad;
}

unsigned Tensor::register_hook(std::function<Tensor(Tensor)> hook) const {
  ARGAND_CHECK(GradError, requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  AutogradMeta& meta = autograd_meta(*this);
  const unsigned handle = next_hook_handle();
  const autograd::Edge edge = gradient_edge(*this);
  const autograd::Node::Hook h{handle, edge.input_nr, std::move(hook)};
  edge.function->add_hook(h);
  if (is_leaf()) {
    const ObjectLock lock(meta.mutex);
    meta.leaf_hooks.push_back(h);
  }
  return handle;
}

unsigned autograd::add_post_accumulate_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook) {
  ARGAND_CHECK(GradError, leaf.requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  ARGAND_CHECK(GradError, leaf.is_leaf(), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  AutogradMeta& meta = autograd_meta(leaf);
  const unsigned handle = next_hook_handle();
  const ObjectLock lock(meta.mutex);
  meta.leaf_hooks.push_back({handle, kAfterAccumulation, AfterAccumulation{std::move(hook)}});
  return handle;
}

void Tensor::remove_hook(unsigned handle) const {
  const autograd::Edge edge = gradient_edge(*this);
  bool removed = edge.is_valid() && edge.function->take_hook(handle);
  if (AutogradMeta* meta = autograd_meta_or_null(*this)) {
    std::vector<autograd::Node::Hook> gone;  // freed after the lock, because a hook may own Python objects
    const ObjectLock lock(meta->mutex);
    const auto kept = std::stable_partition(meta->leaf_hooks.begin(), meta->leaf_hooks.end(),
                                            [&](const auto& h) { return h.handle != handle; });
    gone.assign(std::make_move_iterator(kept), std::make_move_iterator(meta->leaf_hooks.end()));
    meta->leaf_hooks.erase(kept, meta->leaf_hooks.end());
    removed |= !gone.empty();
  }
  ARGAND_CHECK(IndexError, removed, "remove_hook: Invalid index, no hook with handle ", handle);
}

Tensor& Tensor::detach_() {
  exec::drop_tangents(*this);
  AutogradMeta* meta = autograd_meta_or_null(*this);
  if (!meta) return *this;
  ARGAND_CHECK(GradError, !meta->base.defined(), "Can't detach views in-place. Use detach() instead.");
  meta->grad_fn = nullptr;
  meta->output_nr = 0;
  meta->requires_grad = false;
  return *this;
}

Tensor Tensor::data() const { return exec::alias(*this); }

void Tensor::set_data(const Tensor& t) const {
  TensorImpl& to = impl();
  const TensorImpl& from = t.impl();
  ARGAND_CHECK(GradError, !requires_grad() || is_differentiable(t.dtype()),
               "data set to a tensor that requires gradients must be floating "
               "point or complex dtype, got ",
               t.dtype());
  const bool alike = device() == t.device() && to.dtype == from.dtype && to.sizes == from.sizes;
  if (AutogradMeta* meta = alike ? nullptr : autograd_meta_or_null(*this)) {
    // An existing graph still sends gradients of the tensor's old value.
    const ObjectLock lock(meta->mutex);
    meta->grad_accumulator = nullptr;
  }
  to.storage = from.storage;
  to.sizes = from.sizes;
  to.strides = from.strides;
  to.offset = from.offset;
  to.dtype = from.dtype;
  to.refresh();
}

const Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> memory_format) const {
  ARGAND_CHECK(GradError, !requires_grad() || (is_inference() && InferenceMode::is_enabled()),
               "resize_: cannot resize variables that require grad");
  for (int64_t n : size)
    ARGAND_CHECK(ShapeError, n >= 0, "resize_: trying to create tensor with negative dimension ", n, ": ", size);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  ARGAND_CHECK(ValueError, format != MemoryFormat::Preserve, "resize_: unsupported memory format Preserve");
  const bool changes = !(sizes() == size);
  const auto before = static_cast<int64_t>(storage()->nbytes());
  exec::resize_output(*this, size, /*keep=*/true);
  if (ops::fills_uninitialized()) ops::fill_uninitialized(*this, (before + itemsize() - 1) / itemsize());
  if (changes) impl().storage->bump_version("resize_");
  if (format != MemoryFormat::Contiguous && !is_contiguous(format)) {
    impl().strides = strides_of(sizes(), format);
    impl().refresh();
  }
  return *this;
}

const Tensor& Tensor::resize_as_(const Tensor& other, std::optional<MemoryFormat> memory_format) const {
  const bool preserve = memory_format == MemoryFormat::Preserve;
  return resize_(other.sizes(), preserve ? other.suggest_memory_format() : memory_format);
}

const Tensor& Tensor::set_(const Tensor& source) const {
  ARGAND_CHECK(GradError, !requires_grad(), "set_: expected a tensor that does not require grad");
  ARGAND_CHECK(DtypeError, source.dtype() == dtype(), "set_: expected a source of dtype ", dtype(), ", got ",
               source.dtype());
  ARGAND_CHECK(DeviceError, source.device() == device(), "set_: expected a source on ", device(), ", got one on ",
               source.device());
  set_data(source);
  return *this;
}

const Tensor& Tensor::set_(const StoragePtr& source, int64_t storage_offset, IntArrayRef size,
                           IntArrayRef stride) const {
  ARGAND_CHECK(ValueError, source, "set_: expected a storage, got none");
  const auto elements = static_cast<int64_t>(source.nbytes()) / itemsize();
  const Tensor all(intrusive_ptr<TensorImpl>(new TensorImpl(source, {elements}, {1}, 0, dtype())));
  const NoGradGuard no_grad;
  return set_(
      all.as_strided(size, stride.empty() ? IntArrayRef(contiguous_strides(size)) : stride, storage_offset).data());
}

const Tensor& Tensor::set_(const StoragePtr& source) const {
  ARGAND_CHECK(ValueError, source, "set_: expected a storage, got none");
  return set_(source, 0, {static_cast<int64_t>(source.nbytes()) / itemsize()});
}

const Tensor& Tensor::set_() const { return set_(empty({0}, options())); }

bool Tensor::is_set_to(const Tensor& other) const {
  return is_alias_of(other) && storage_offset() == other.storage_offset() && sizes() == other.sizes() &&
         strides() == other.strides();
}

const Tensor& Tensor::as_strided_(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const {
  ARGAND_CHECK(GradError, !requires_grad(), "as_strided_: expected a tensor that does not require grad");
  const NoGradGuard no_grad;
  set_data(as_strided(size, stride, storage_offset));
  return *this;
}

Scalar Tensor::item() const {
  ARGAND_CHECK(ValueError, numel() == 1, "item: a Tensor with ", numel(), " elements cannot be converted to Scalar");
  if (exec::DispatchHooks::listens()) [[unlikely]]
    if (const auto given = exec::offer_item(*this)) return *given;
  if (!is_cpu()) return data().cpu().item();
  const Scalar value =
      dispatch<kAllTypes>(dtype(), "item", [&](auto tag) { return Scalar(*raw<typename decltype(tag)::type>(*this)); });
  check_watched(*storage());
  return value;
}

Tensor Tensor::operator-() const { return neg(); }
Tensor Tensor::operator~() const { return bitwise_not(); }
Tensor Tensor::operator!() const { return logical_not(); }
Tensor& Tensor::operator=(const Tensor& values) && { return copy_(values), *this; }
Tensor& Tensor::operator=(const Scalar& value) && { return fill_(value), *this; }

Tensor Tensor::toType(ScalarType t) const { return to(t); }
Tensor Tensor::cpu() const { return to(Device(kCPU)); }
Tensor Tensor::cuda(std::optional<DeviceIndex> device, bool non_blocking) const {
  return to(Device(kCUDA, device.value_or(-1)), non_blocking);
}
bool Tensor::is_pinned() const { return impl().storage->pinned(); }
Tensor Tensor::pin_memory() const {
  ARGAND_CHECK(DeviceError, is_cpu(), "pin_memory: only CPU tensors can be pinned, this one is on ", device());
  if (is_pinned()) return *this;
  const Dims strides = is_non_overlapping_and_dense() ? impl().strides : contiguous_strides(sizes());
  auto storage = make_intrusive<StorageImpl>(nbytes(), accelerator().pinned_allocator());
  const Tensor out(make_intrusive<TensorImpl>(std::move(storage), impl().sizes, strides, 0, dtype()));
  exec::copy_elements(out, *this);
  return out;
}
void Tensor::record_stream(const Stream& stream) const {
  impl().data();  // allocates it on the stream that it was made for
  const StreamGuard on(stream);
  impl().storage->note_use();
}
Tensor& Tensor::operator+=(const Tensor& o) { return add_(o); }
Tensor& Tensor::operator+=(const Scalar& o) { return add_(o); }
Tensor& Tensor::operator-=(const Tensor& o) { return sub_(o); }
Tensor& Tensor::operator-=(const Scalar& o) { return sub_(o); }
Tensor& Tensor::operator*=(const Tensor& o) { return mul_(o); }
Tensor& Tensor::operator*=(const Scalar& o) { return mul_(o); }
Tensor& Tensor::operator/=(const Tensor& o) { return div_(o); }
Tensor& Tensor::operator/=(const Scalar& o) { return div_(o); }
Tensor& Tensor::operator%=(const Tensor& o) { return remainder_(o); }
Tensor& Tensor::operator%=(const Scalar& o) { return remainder_(o); }
Tensor& Tensor::operator&=(const Tensor& o) { return bitwise_and_(o); }
Tensor& Tensor::operator&=(const Scalar& o) { return bitwise_and_(o); }
Tensor& Tensor::operator|=(const Tensor& o) { return bitwise_or_(o); }
Tensor& Tensor::operator|=(const Scalar& o) { return bitwise_or_(o); }
Tensor& Tensor::operator^=(const Tensor& o) { return bitwise_xor_(o); }
Tensor& Tensor::operator^=(const Scalar& o) { return bitwise_xor_(o); }
Tensor Tensor::operator[](int64_t index) const { return select(0, index); }

}  // namespace argand
