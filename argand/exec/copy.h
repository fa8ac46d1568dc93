// Copying elements between tensors of equal shape, as one pointwise instruction: any strides, any dtypes.
#pragma once
#include "argand/core/tensor.h"

namespace argand::exec {

// to[i] = from[i], where `from` broadcasts to the shape of `to` and is converted to its dtype.  May wait in the window.
// An overlapping copy behaves as if the source were copied first.  Records nothing.
void copy_elements(const Tensor& to, const Tensor& from);

// A contiguous (or `strides`) copy in the given dtype, without history.
Tensor dense_clone(const Tensor& t, ScalarType dtype, Dims strides = {});
inline Tensor dense_clone(const Tensor& t) { return dense_clone(t, t.dtype()); }
// `t` itself when it is contiguous.
inline Tensor dense(const Tensor& t) { return t.is_contiguous() ? t : dense_clone(t); }

}  // namespace argand::exec
