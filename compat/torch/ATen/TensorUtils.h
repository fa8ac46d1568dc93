// Checks of arguments by their names and numbers, as LibTorch's kernels make them: Error with what was expected.
#pragma once
#include "ATen/ATen.h"

namespace at {

// An argument with its name and position; and the same by its sizes.
struct TensorArg {
  Tensor tensor;
  const char* name;
  int pos;
  TensorArg(Tensor tensor, const char* name, int pos) : tensor(std::move(tensor)), name(name), pos(pos) {}
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};
using TensorGeometryArg = TensorArg;
using CheckedFrom = const char*;  // the function that checks

inline std::ostream& operator<<(std::ostream& out, const TensorArg& t) {
  return t.pos == 0 ? out << '\'' << t.name << '\'' : out << "argument #" << t.pos << " '" << t.name << '\'';
}

inline void checkDim(CheckedFrom c, const TensorArg& t, int64_t dim) {
  TORCH_CHECK(t->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", t->dim(), "-dimensional tensor for ",
              t, " (while checking arguments for ", c, ")")
}
// dim_start <= dimensions < dim_end
inline void checkDimRange(CheckedFrom c, const TensorArg& t, int64_t dim_start, int64_t dim_end) {
  TORCH_CHECK(t->dim() >= dim_start && t->dim() < dim_end, "Expected ", dim_start, " to ", dim_end - 1,
              " dimensions, but got ", t->dim(), "-dimensional tensor for ", t, " (while checking arguments for ", c,
              ")")
}
inline void checkContiguous(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->is_contiguous(), "Expected contiguous tensor, but got non-contiguous tensor for ", t,
              " (while checking arguments for ", c, ")")
}
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors)
    if (t->defined()) checkContiguous(c, t);
}
inline void checkSize(CheckedFrom c, const TensorArg& t, IntArrayRef sizes) {
  checkDim(c, t, static_cast<int64_t>(sizes.size()));
  TORCH_CHECK(t->sizes() == sizes, "Expected tensor of size ", sizes, ", but got tensor of size ", t->sizes(), " for ",
              t, " (while checking arguments for ", c, ")")
}
inline void checkSize(CheckedFrom c, const TensorArg& t, int64_t dim, int64_t size) {
  TORCH_CHECK(t->size(dim) == size, "Expected tensor to have size ", size, " at dimension ", dim, ", but got size ",
              t->size(dim), " for ", t, " (while checking arguments for ", c, ")")
}
inline void checkNumel(CheckedFrom c, const TensorArg& t, int64_t numel) {
  TORCH_CHECK(t->numel() == numel, "Expected tensor for ", t, " to have ", numel, " elements; but it actually has ",
              t->numel(), " elements (while checking arguments for ", c, ")")
}
inline void checkSameSize(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->sizes() == b->sizes(), "Expected tensor for ", a, " to have same size as tensor for ", b, "; but ",
              a->sizes(), " does not equal ", b->sizes(), " (while checking arguments for ", c, ")")
}
inline void checkSameType(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->type() == b->type(), "Expected tensor for ", a, " to have the same type as tensor for ", b,
              "; but type ", a->toString(), " does not equal ", b->toString(), " (while checking arguments for ", c,
              ")")
}
inline void checkSameGPU(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->is_cuda() && a->device() == b->device(), "Expected tensor for ", a, " to have the same device as ", b,
              ", a GPU; but ", a->device(), " and ", b->device(), " do not fit (while checking arguments for ", c, ")")
}
inline void checkDefined(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->defined(), "Expected tensor for ", t,
              " to be non-null, but it was undefined (while checking arguments for ", c, ")")
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType dtype) {
  TORCH_CHECK(t->scalar_type() == dtype, "Expected tensor for ", t, " to have scalar type ", dtype, "; but got ",
              t->toString(), " instead (while checking arguments for ", c, ")")
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> dtypes) {
  for (const ScalarType dtype : dtypes)
    if (t->scalar_type() == dtype) return;
  TORCH_CHECK(false, "Expected tensor for ", t, " to have one of the following scalar types: ", c10::Join(", ", dtypes),
              "; but got ", t->toString(), " instead (while checking arguments for ", c, ")")
}
namespace detail {
template <class Check>
void check_pairs(CheckedFrom c, ArrayRef<TensorArg> tensors, const Check& check) {
  const TensorArg* first = nullptr;
  for (const TensorArg& t : tensors) {
    if (!t->defined()) continue;
    if (first) check(c, *first, t);
    if (!first) first = &t;
  }
}
}  // namespace detail
inline void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  detail::check_pairs(c, tensors, checkSameSize);
}
inline void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  detail::check_pairs(c, tensors, checkSameType);
}
inline void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  detail::check_pairs(c, tensors, checkSameGPU);
}
inline void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  detail::check_pairs(c, tensors,
                      [](CheckedFrom who, const TensorArg& a, const TensorArg& b) { checkNumel(who, b, a->numel()); });
}
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors) checkDefined(c, t);
}

}  // namespace at
