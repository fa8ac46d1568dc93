// Tensors over memory that someone else owns.
#pragma once
#include <functional>

#include "argand/core/tensor.h"

namespace argand {

// A tensor whose elements are the ones at `data`, which must outlive every view of it; `deleter`, if given, is called
// with `data` when the last of them is gone.  The memory counts as exposed: ops that read or write the tensor are
// never delayed. Strides count elements and default to contiguous.  ValueError for a null `data` (unless there are no
// elements) and for negative strides.
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});

}  // namespace argand
