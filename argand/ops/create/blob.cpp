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
    int64_t reach = 0;
    ARGAND_CHECK(ValueError,
                 span == 0 || (!__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) &&
                               !__builtin_add_overflow(span, reach, &span)),
                 "from_blob: sizes ", sizes, " and strides ", strides, " reach beyond the address space");
  }
  ARGAND_CHECK(ValueError, data || span == 0, "from_blob: data is null for a tensor of sizes ", sizes);
  int64_t nbytes = 0;
  ARGAND_CHECK(ValueError, !__builtin_mul_overflow(span, element_size(options.dtype()), &nbytes), "from_blob: sizes ",
               sizes, " and strides ", strides, " reach beyond the address space");
  auto storage = make_intrusive<StorageImpl>(data, static_cast<size_t>(nbytes), options.device(), deleter);
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
