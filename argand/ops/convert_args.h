// Helpers by which generated code turns parameters into argument structs.
#pragma once
#include <array>

#include "argand/core/reduction.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke.h"

namespace argand::ops {

// `int[2] stride=1`: one number stands for `count`.
inline Dims to_dims(IntArrayRef values, size_t count) {
  return values.size() == 1 ? Dims(count, values[0]) : Dims(values);
}
inline std::optional<Dims> to_dims(const OptionalIntArrayRef& values) {
  return values.has_value() ? std::optional<Dims>(Dims(values.value())) : std::nullopt;
}
inline std::optional<Dims> to_dims(const OptionalIntArrayRef& values, size_t count) {
  return values.has_value() ? std::optional<Dims>(to_dims(values.value(), count)) : std::nullopt;
}
inline std::optional<std::vector<double>> to_vector(std::optional<ArrayRef<double>> values) {
  return values ? std::optional(values->vec()) : std::nullopt;
}

// The result of a factory function: TensorOptions().requires_grad(true) makes it a leaf of the graph.
inline Tensor as_leaf(Tensor t, const TensorOptions& options) {
  if (options.requires_grad()) t.set_requires_grad(true);
  return t;
}

// `out=` of a factory function: the result is made like `out` and copied into it.
inline TensorOptions options_of(const Tensor& out) { return TensorOptions(out.dtype()).device(out.device()); }
inline Tensor& fill_out(Tensor& out, const Tensor& made) {
  exec::resize_output(out, made.sizes());
  return out.copy_(made);
}

}  // namespace argand::ops
