#include "argand/exec/copy.h"

#include <cstring>

#include "argand/exec/bytes_read.h"
#include "argand/exec/invoke.h"
#include "argand/exec/pointwise.h"
#include "argand/exec/recover.h"
#include "argand/exec/window.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {
namespace {

template <class T>
void identity(void* out, const void* const* ins, const void*, int64_t n) {
  if (out != ins[0]) std::memmove(out, ins[0], static_cast<size_t>(n) * sizeof(T));
}

// This is an instruction and not an op: it cannot be called by name.
constexpr PointwiseInfo kIdentity = {{1,
                                      0,
                                      "copy",
                                      "(x)",
                                      "x",
                                      {identity<float>, identity<double>, identity<int64_t>, identity<bool>,
                                       identity<std::complex<float>>, identity<std::complex<double>>},
                                      BodyKind::kIdentity},
                                     Promote::kDefault};

// Copies dense bytes of one dtype: the smaller of the two, to transfer less.
void copy_between_devices(const Tensor& to, const Tensor& from, bool non_blocking) {
  // Tensors of the same layout without gaps are copied as flat memory, so that neither is made contiguous first.
  if (to.dtype() == from.dtype() && !to.is_contiguous() && to.sizes() == from.sizes() &&
      to.strides() == from.strides() && to.is_non_overlapping_and_dense()) {
    const auto flat = [](const Tensor& t) { return alias(t, Dims{t.numel()}, Dims{1}, t.storage_offset()); };
    return copy_between_devices(flat(to), flat(from), non_blocking);
  }
  const ScalarType type = from.itemsize() <= to.itemsize() ? from.dtype() : to.dtype();
  const Tensor source = dense(from, type);
  const bool direct = to.is_contiguous() && to.dtype() == type && to.sizes() == from.sizes();
  const Tensor target = direct ? to : new_tensor({source.impl().sizes, type}, to.device());
  const Device& device = from.is_accelerator() ? from.device() : to.device();
  const CurrentOp current(*current_op() ? current_op() : "copy", {&target, 1});
  recover_overwritten(target);
  backend_of(device.type())
      .copy(target.impl().data(), target.device(), source.impl().data(), source.device(), source.nbytes(),
            non_blocking);
  check_bytes_read(
      [&](const auto& visit) {
        visit(source);
        visit(target);
      },
      std::span(&target, 1));
  if (to.is_cpu() && !non_blocking) note_wait();
  if (!direct) copy_elements(to, target);
}

// Stores the elements of the dimensions from `d` on.
void store_from(size_t d, char* to, const char* from, const TensorImpl& target, const TensorImpl& source) {
  const auto bytes = static_cast<size_t>(element_size(target.dtype));
  if (d == target.sizes.size()) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto step = [bytes](int64_t stride) { return stride * static_cast<int64_t>(bytes); };
  for (int64_t i = 0; i < target.sizes[d]; ++i)
    store_from(d + 1, to + i * step(target.strides[d]), from + i * step(source.strides[d]), target, source);
}

}  // namespace

void recover_overwritten(const Tensor& out) {
  const StoragePtr& storage = out.storage();
  if (!storage->lost() || static_cast<size_t>(out.numel() * out.itemsize()) != storage->nbytes()) return;
  if (PendingWork* work = storage->pending()) work->flush(*storage);  // it reads what was lost, and must fail
  storage->recover();
}

void store_elements(const Tensor& to, const Tensor& from) noexcept {
  store_from(0, static_cast<char*>(to.impl().issued_data()), static_cast<const char*>(from.impl().issued_data()),
             to.impl(), from.impl());
}

const PointwiseBody& copy_body() { return kIdentity; }

// In which type the elements are read before they become those of `to`.  Integers are read as int64, but a float that
// becomes a smaller integer is converted to it at once: as int64 first, the low bits of NaN would be a valid 0.
static ScalarType copied_as(ScalarType to, ScalarType from) {
  const bool narrows = is_floating_point(from) && is_integral(to, false) && to != kLong;
  return compute_type(narrows ? from : to);
}

void copy_elements(const Tensor& to, const Tensor& from, bool non_blocking) {
  if (to.numel() == 0 || to.is_meta()) return;
  ARGAND_CHECK(NotImplementedError, !from.is_meta(), "Cannot copy out of meta tensor; no data!");
  const bool is_number = from.is_cpu() && from.numel() == 1;
  if (!(to.device() == from.device()) && !is_number) return copy_between_devices(to, from, non_blocking);
  PointwiseCall call{&kIdentity, copied_as(to.dtype(), from.dtype()), 1, {&from}, {}, &to};
  submit_pointwise(call);
}

Tensor dense_clone(const Tensor& t, ScalarType dtype, Dims strides) {
  Tensor out = new_tensor({t.impl().sizes, dtype, std::move(strides)}, t.device());
  copy_elements(out, t);
  return out;
}

}  // namespace argand::exec
