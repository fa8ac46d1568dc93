#include "argand/ops/create/blob.h"

#include "argand/ops/convert_args.h"

namespace argand {

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  ARGAND_CHECK(ShapeError, sizes.size() == strides.size(), "from_blob: expected as many strides as sizes, got sizes ",
               sizes, " and strides ", strides);
  int64_t span = numel_of(sizes) == 0 ? 0 : 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ARGAND_CHECK(ValueError, strides[i] >= 0, "from_blob: strides must be non-negative, got ", strides);
    if (span > 0) span += (sizes[i] - 1) * strides[i];
  }
  ARGAND_CHECK(ValueError, data || span == 0, "from_blob: data is null for a tensor of sizes ", sizes);
  const auto nbytes = static_cast<size_t>(span * element_size(options.dtype()));
  auto storage = make_intrusive<StorageImpl>(data, nbytes, options.device(), deleter);
  return ops::as_leaf(
      Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims(sizes), Dims(strides), 0, options.dtype())), options);
}

Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), deleter, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, nullptr, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), nullptr, options);
}

}  // namespace argand
