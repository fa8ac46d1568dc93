#include "argand/exec/check_out.h"

#include "argand/base/log.h"
#include "argand/core/dtype_element.h"
#include "argand/exec/copy.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke.h"
#include "argand/exec/invoke_parts.h"
#include "argand/exec/out_dtype.h"
#include "argand/exec/overlap.h"
#include "argand/exec/transform_scope.h"

namespace argand::exec {
namespace {

// The name of a result in errors: "solution", or "out".
std::string_view name_of_out(const char* names, size_t i) {
  std::string_view left = names;
  for (; i > 0; --i) left.remove_prefix(left.find(", ") + 2);
  return left.substr(0, left.find(", "));
}

void check_exact_dtype(const OpInfo& op, TensorSlots& slots, ScalarType result, ScalarType out, size_t i) {
  if (result == out || (op.out.may_be_bytes && result == kBool && out == kByte)) return;
  ARGAND_CHECK(DtypeError, result != kBool, op.name, ": ", op.name,
               op.out.may_be_bytes ? " only supports bool tensor for result, got: "
                                   : " does not support non-boolean outputs, got: ",
               dtype_cpp_name(out));
  if (op.out.names) {
    const std::string_view name = name_of_out(op.out.names, i);
    const bool as_input = slots.size() > 0 && slots[0].tensor->dtype() == result;
    ARGAND_THROW(DtypeError, op.name, ": ",
                 as_input ? str(op.name, "() ", name, " tensor must be same dtype as the input tensor, ") : "",
                 "expected scalar type '", dtype_cpp_name(result), "' but got '", dtype_cpp_name(out), "' for ", name,
                 " output");
  }
  ARGAND_THROW(DtypeError, op.name, ": Expected out tensor to have dtype ", dtype_element_name(result), ", but got ",
               dtype_element_name(out), " instead: the operation's result requires dtype ", dtype_cpp_name(result),
               "; expected scalar_type ", dtype_cpp_name(result), " but found ", dtype_cpp_name(out));
}

}  // namespace

void check_out(const OpInfo& op, TensorSlots& slots, const Tensor& result, const Tensor& out, size_t i) {
  if (op.out.is_exact && result.device() == out.device()) check_exact_dtype(op, slots, result.dtype(), out.dtype(), i);
  if (op.out.names) {
    const std::string_view name = name_of_out(op.out.names, i);
    ARGAND_CHECK(DeviceError, result.device() == out.device(), op.name, ": Expected ", name,
                 " and input tensors to be on the same device, but got ", name, " on ", out.device(), " and input on ",
                 result.device());
    ARGAND_CHECK(DtypeError, can_cast(result.dtype(), out.dtype()), op.name, ": Expected ", name,
                 " to be safely castable from ", dtype_cpp_name(result.dtype()), " dtype, but got ", name,
                 " with dtype ", dtype_cpp_name(out.dtype()));
    return;
  }
  ARGAND_CHECK(DeviceError, result.device() == out.device(), op.name, ": Expected out tensor to have device ",
               result.device(), ", but got ", out.device(), " instead: Expected all tensors to be on the same device");
  if (op.out.may_be_any || can_cast(result.dtype(), out.dtype())) return;
  const std::string what = op.kind == OpKind::kPointwise
                               ? ""
                               : str("Expected out tensor to have dtype ", dtype_element_name(result.dtype()),
                                     ", but got ", dtype_element_name(out.dtype()), " instead: ");
  ARGAND_THROW(DtypeError, op.name, ": ", what, "result type ", dtype_cpp_name(result.dtype()),
               " can't be cast to the desired output type ", dtype_cpp_name(out.dtype()));
}

void warn_of_resize(const Tensor& out, IntArrayRef sizes) {
  if (out.sizes() == sizes || out.numel() == 0) return;
  warn("An output with one or more elements was resized since it had shape ", out.sizes(),
       ", which does not match the required output shape ", sizes,
       ". This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have "
       "zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
       "t.resize_(0).");
}

void resize_like(const Tensor& out, const Tensor& result) {
  if (out.sizes() == result.sizes()) return;
  resize_output(out, result.sizes());
  if (!result.is_non_overlapping_and_dense()) return;
  out.impl().strides = result.strides();
  out.impl().refresh();
}

void warn_of_count(const Tensor& out, IntArrayRef sizes) {
  if (out.numel() == numel_of(sizes) || out.numel() == 0) return;
  warn(
      "The number of elements in the out tensor of shape ", out.sizes(), " is ", out.numel(),
      " which does not match the computed number of elements ", numel_of(sizes),
      ". Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor of shape (",
      numel_of(sizes), ",).");
}

void dtype_by_out(const char* op, std::optional<ScalarType>& dtype, const Tensor& out) {
  if (!dtype) dtype = out.dtype();
  ARGAND_CHECK(DtypeError, *dtype == out.dtype(), op, ": Expected out tensor to have dtype ",
               dtype_element_name(*dtype), ", but got ", dtype_element_name(out.dtype()), " instead");
}

namespace {

void check_own_overlap(const OpInfo& op, const Tensor& self) {
  ARGAND_CHECK(
      ValueError, !may_overlap_itself(self.sizes(), self.strides()) || op.writes_one_value, op.name,
      ": unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}

// Refuses tensors that must not be written, whatever their layout is.
void check_replaceable(const OpInfo& op, const Tensor& self, bool records) {
  ARGAND_CHECK(GradError, !self.is_inference() || InferenceMode::is_enabled(), op.name,
               ": Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get "
               "a normal tensor before doing inplace update.");
  check_inplace(op.name, self, records);
}

// Refuses an out whose elements share memory with each other or with an argument.  Ask this of the layout that is
// written: an out that gets other sizes has another layout afterwards.
void check_out_memory(const OpInfo& op, const Tensor& out, TensorSlots& slots) {
  check_own_overlap(op, out);
  if (op.kind == OpKind::kPointwise) check_overlap(op.name, out, slots, 0, false);
}

}  // namespace

void check_writable(const OpInfo& op, const Tensor& self, bool records) {
  check_own_overlap(op, self);
  check_replaceable(op, self, records);
}

void check_out_not_recorded(const OpInfo& op, bool records) {
  ARGAND_CHECK(GradError, !records, op.name,
               ": functions with out=... arguments don't support automatic differentiation, but one of the arguments "
               "requires grad: a call of an out= function is not recorded, and neither has it a tangent");
}

void write_outs(const OpInfo& op, TensorSlots& slots, std::span<const Tensor> results, std::span<Tensor> outs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    check_out(op, slots, results[i], outs[i], i);
    check_replaceable(op, outs[i], false);
    if (outs[i].sizes() == results[i].sizes()) check_out_memory(op, outs[i], slots);
  }
  for (size_t i = 0; i < outs.size(); ++i) {
    if (op.out.is_counted)
      warn_of_count(outs[i], results[i].sizes());
    else
      warn_of_resize(outs[i], results[i].sizes());
    if (outs[i].sizes() == results[i].sizes()) continue;
    resize_like(outs[i], results[i]);
    check_out_memory(op, outs[i], slots);
  }
  for (size_t i = 0; i < outs.size(); ++i) {
    if (TransformScope::active()) [[unlikely]]
      before_write(op, slots, outs[i]);
    copy_elements(outs[i], results[i]);
    if (!DispatchHooks::below_autograd()) outs[i].storage()->bump_version(op.name);
  }
}

}  // namespace argand::exec
