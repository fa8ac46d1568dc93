// The choke point: every op call runs check -> infer -> submit -> record gradient here, in one of these forms. `args`
// points to the op's generated argument struct; it is moved from.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// out-of-place: `outs` has op.num_outputs undefined tensors, which become the results.
void invoke(const OpInfo& op, void* args, std::span<Tensor> outs);
inline Tensor invoke(const OpInfo& op, void* args) {
  Tensor out;
  invoke(op, args, {&out, 1});
  return out;
}
// In place on `self`, which is also the first tensor among the arguments.
void invoke_inplace(const OpInfo& op, void* args, const Tensor& self);
// Writes into existing tensors, which are resized to the result's shape and have a dtype that OpInfo::out allows.
void invoke_out(const OpInfo& op, void* args, std::span<Tensor> outs);
// An op written in other ops; `result` points to the value it returns.
void invoke_composite(const OpInfo& op, void* args, void* result);
// Calls the form that has the op's own name, for ops of every kind.  Returns all results, a number as a 0-dim tensor.
std::vector<Tensor> call(const OpInfo& op, void* args);

// A 0-dim tensor for a number among tensor operands, with the lower priority in type promotion.
Tensor wrapped_number(const Scalar& value);
inline Tensor optional_number(const std::optional<Scalar>& value) { return value ? wrapped_number(*value) : Tensor(); }

// A new tensor whose memory is not allocated yet (Note [Lazy storage]); empty strides mean contiguous.
Tensor new_tensor(const TensorMeta& meta, const Device& device);
// The same memory seen through another layout, and as another dtype if given (strides and offset count its elements);
// shares storage and version counter, has no history.
Tensor alias(const Tensor& t, Dims sizes, Dims strides, int64_t offset, std::optional<ScalarType> dtype = {});
inline Tensor alias(const Tensor& t) { return alias(t, t.impl().sizes, t.impl().strides, t.impl().offset); }

// Gives `out` the shape `sizes`, contiguous, and grows its storage if needed.  `keep`: its elements are kept.
void resize_output(const Tensor& out, IntArrayRef sizes, bool keep = false);

}  // namespace argand::exec

namespace argand {
// Typed address of element 0 for kernels of the CPU: pending writes are done, the storage is not exposed.
template <class T>
T* raw(const Tensor& t) {
  ARGAND_CHECK(
      NotImplementedError, t.is_cpu(),
      t.is_meta() ? "a meta tensor has no data to look at" : "this op looks at its data, which must be on the CPU");
  return static_cast<T*>(t.impl().data());
}
}  // namespace argand
