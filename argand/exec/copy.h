// Copying elements between tensors of equal shape, as one pointwise instruction: any strides, any dtypes.
#pragma once
#include "argand/core/tensor.h"

namespace argand {
struct PointwiseBody;
}

namespace argand::exec {

// to[i] = from[i], where `from` broadcasts to the shape of `to` and is converted to its dtype.  May wait in the window.
// An overlapping copy behaves as if the source were copied first.  Between devices it is issued at once, on the current
// streams of both, and waits for host memory to be free again unless that is pinned and `non_blocking` is given.
// Records nothing.
void copy_elements(const Tensor& to, const Tensor& from, bool non_blocking = false);

// to[i] = from[i] on the CPU, at once, for equal shapes and dtypes: allocates nothing and throws nothing.  REQUIRES
// that both have their memory and no instruction that uses them waits.
void store_elements(const Tensor& to, const Tensor& from) noexcept;

// The body of such an instruction: it returns its operand.
const PointwiseBody& copy_body();
// A contiguous (or `strides`) copy in the given dtype, without history.
Tensor dense_clone(const Tensor& t, ScalarType dtype, Dims strides = {});
inline Tensor dense_clone(const Tensor& t) { return dense_clone(t, t.dtype()); }
// `t` itself if it is contiguous, else a contiguous copy; undefined stays undefined.
inline Tensor dense(const Tensor& t) { return !t.defined() || t.is_contiguous() ? t : dense_clone(t); }
inline Tensor dense(const Tensor& t, ScalarType dtype) {
  return !t.defined() || t.dtype() == dtype ? dense(t) : dense_clone(t, dtype);
}

}  // namespace argand::exec
