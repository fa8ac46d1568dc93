// Broadcasting by hand.
#pragma once
#include "argand/ops/functions.h"
#include "c10/util/MaybeOwned.h"

namespace at {

// The shape that both broadcast to; ShapeError if there is none.
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  return IntArrayRef(broadcast_shapes(a, b, "infer_size")).vec();
}
inline Dims infer_size_dimvector(IntArrayRef a, IntArrayRef b) { return broadcast_shapes(a, b, "infer_size"); }

inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t size = shape[shape.size() - i];
    if (size != 1 && size != desired[desired.size() - i]) return false;
  }
  return true;
}

inline c10::MaybeOwned<Tensor> expand_size(const Tensor& t, IntArrayRef sizes) {
  return c10::MaybeOwned<Tensor>::owned(t.expand(sizes));
}
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return expand_size(to_expand, tensor.sizes());
}
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b) {
  const std::vector<int64_t> sizes = infer_size(a.sizes(), b.sizes());
  return {expand_size(a, sizes), expand_size(b, sizes)};
}
// Undefined tensors stay so.
inline std::vector<Tensor> expand_outplace(TensorList tensors) {
  std::vector<int64_t> sizes;
  for (const Tensor& t : tensors)
    if (t.defined()) sizes = infer_size(sizes, t.sizes());
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.defined() ? t.expand(sizes) : t);
  return out;
}
inline Tensor sum_to(const Tensor& t, IntArrayRef shape) { return t.sum_to_size(shape); }

}  // namespace at
