#include <algorithm>

#include "argand/c/value.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/create/dlpack.h"

using namespace argand;
using namespace argand::c;

namespace {

// Calls f(tensor) and writes what it returns.
template <class T, class F>
argand_error* property(argand_tensor* tensor, T* out, const char* function, const char* name, F&& f) {
  return guarded([&] {
    T& to = needed(out, function, name);
    to = f(tensor_of(tensor, function));
  });
}

argand_error* write_dims(argand_tensor* tensor, int64_t* out, size_t capacity, const char* function,
                         IntArrayRef (Tensor::*dims)() const) {
  return guarded([&] {
    const IntArrayRef all = (tensor_of(tensor, function).*dims)();
    needed(out, std::min(capacity, all.size()), function, "the array of results");
    std::copy_n(all.begin(), std::min(capacity, all.size()), out);
  });
}

}  // namespace

void argand_tensor_free(argand_tensor* tensor) { delete tensor; }

argand_error* argand_tensor_share(argand_tensor* tensor, argand_tensor** result) {
  return guarded([&] { give_tensor(result, "argand_tensor_share", tensor_of(tensor, "argand_tensor_share")); });
}

argand_error* argand_tensor_from_memory(void* data, const int64_t* sizes, const int64_t* strides, size_t dim,
                                        argand_dtype dtype, argand_device device, argand_release release, void* context,
                                        argand_tensor** result) {
  return guarded([&] {
    const char* const function = "argand_tensor_from_memory";
    argand_tensor*& out = needed(result, function, "result");
    const IntArrayRef shape = needed(sizes, dim, function, "sizes");
    const Dims steps = strides ? Dims(IntArrayRef(strides, dim)) : contiguous_strides(shape);
    const TensorOptions options = TensorOptions(to_dtype(dtype, function)).device(to_device(device, function));
    auto handle = std::make_unique<argand_tensor>();  // first: nothing may fail after the memory was taken over
    std::function<void(void*)> deleter;
    if (release) deleter = [release, context](void* p) { release(context, p); };
    handle->tensor = from_blob(data, shape, steps, deleter, options);
    out = handle.release();
  });
}

argand_error* argand_tensor_from_copy(const void* data, const int64_t* sizes, size_t dim, argand_dtype dtype,
                                      argand_tensor** result) {
  return guarded([&] {
    const char* const function = "argand_tensor_from_copy";
    needed(result, function, "result");
    const IntArrayRef shape = needed(sizes, dim, function, "sizes");
    give_tensor(result, function, from_blob(const_cast<void*>(data), shape, to_dtype(dtype, function)).clone());
  });
}

argand_error* argand_tensor_copy_to(argand_tensor* tensor, void* data, size_t nbytes) {
  return guarded([&] {
    const char* const function = "argand_tensor_copy_to";
    const Tensor& t = tensor_of(tensor, function);
    ARGAND_CHECK(ValueError, nbytes == t.nbytes(), function, ": the tensor has ", t.nbytes(), " bytes, got ", nbytes);
    if (nbytes == 0) return;
    from_blob(&needed(static_cast<char*>(data), function, "data"), t.sizes(), t.dtype()).copy_(t.detach());
  });
}

argand_error* argand_tensor_dim(argand_tensor* tensor, size_t* dim) {
  return property(tensor, dim, "argand_tensor_dim", "dim",
                  [](const Tensor& t) { return static_cast<size_t>(t.dim()); });
}
argand_error* argand_tensor_sizes(argand_tensor* tensor, int64_t* sizes, size_t capacity) {
  return write_dims(tensor, sizes, capacity, "argand_tensor_sizes", &Tensor::sizes);
}
argand_error* argand_tensor_strides(argand_tensor* tensor, int64_t* strides, size_t capacity) {
  return write_dims(tensor, strides, capacity, "argand_tensor_strides", &Tensor::strides);
}
argand_error* argand_tensor_size(argand_tensor* tensor, int64_t dim, int64_t* size) {
  return property(tensor, size, "argand_tensor_size", "size", [&](const Tensor& t) { return t.size(dim); });
}
argand_error* argand_tensor_numel(argand_tensor* tensor, int64_t* numel) {
  return property(tensor, numel, "argand_tensor_numel", "numel", [](const Tensor& t) { return t.numel(); });
}
argand_error* argand_tensor_nbytes(argand_tensor* tensor, size_t* nbytes) {
  return property(tensor, nbytes, "argand_tensor_nbytes", "nbytes", [](const Tensor& t) { return t.nbytes(); });
}
argand_error* argand_tensor_dtype(argand_tensor* tensor, argand_dtype* dtype) {
  return property(tensor, dtype, "argand_tensor_dtype", "dtype", [](const Tensor& t) { return from_dtype(t.dtype()); });
}
argand_error* argand_tensor_device(argand_tensor* tensor, argand_device* device) {
  return property(tensor, device, "argand_tensor_device", "device",
                  [](const Tensor& t) { return from_device(t.device()); });
}
argand_error* argand_tensor_is_contiguous(argand_tensor* tensor, argand_memory_format format, bool* result) {
  const char* const function = "argand_tensor_is_contiguous";
  return property(tensor, result, function, "result",
                  [&](const Tensor& t) { return t.is_contiguous(to_memory_format(format, function)); });
}
argand_error* argand_tensor_is_same(argand_tensor* a, argand_tensor* b, bool* result) {
  const char* const function = "argand_tensor_is_same";
  return property(a, result, function, "result",
                  [&](const Tensor& t) { return t.is_same(tensor_of(b, function, "b")); });
}
argand_error* argand_tensor_data(argand_tensor* tensor, void** data) {
  return property(tensor, data, "argand_tensor_data", "data", [](const Tensor& t) { return t.data_ptr(); });
}
argand_error* argand_tensor_item(argand_tensor* tensor, argand_value* item) {
  return property(tensor, item, "argand_tensor_item", "item", [](const Tensor& t) { return to_value(t.item()); });
}
argand_error* argand_tensor_item_double(argand_tensor* tensor, double* item) {
  return property(tensor, item, "argand_tensor_item_double", "item",
                  [](const Tensor& t) { return t.item().toDouble(); });
}
argand_error* argand_tensor_item_int(argand_tensor* tensor, int64_t* item) {
  return property(tensor, item, "argand_tensor_item_int", "item", [](const Tensor& t) {
    const Scalar number = t.item();
    if (!number.isIntegral(true)) {
      const double value = number.toDouble();
      ARGAND_CHECK(ValueError, value >= -0x1p63 && value < 0x1p63, "argand_tensor_item_int: ", value,
                   " is not in the range of int64");
    }
    return number.toLong();
  });
}
argand_error* argand_tensor_text(argand_tensor* tensor, char** text) {
  return property(tensor, text, "argand_tensor_text", "text", [](const Tensor& t) { return new_text(to_string(t)); });
}

argand_error* argand_tensor_set_data(argand_tensor* tensor, argand_tensor* source) {
  return guarded([&] {
    const char* const function = "argand_tensor_set_data";
    tensor_of(tensor, function).set_data(tensor_of(source, function, "source"));
  });
}

argand_error* argand_tensor_from_dlpack(struct DLManagedTensor* managed, argand_tensor** result) {
  return guarded([&] {
    const char* const function = "argand_tensor_from_dlpack";
    argand_tensor*& out = needed(result, function, "result");
    auto handle = std::make_unique<argand_tensor>();
    handle->tensor =
        dlpack::import_tensor(reinterpret_cast<dlpack::DLManagedTensor*>(&needed(managed, function, "managed")));
    out = handle.release();
  });
}
argand_error* argand_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed, argand_tensor** result) {
  return guarded([&] {
    const char* const function = "argand_tensor_from_dlpack_versioned";
    argand_tensor*& out = needed(result, function, "result");
    auto handle = std::make_unique<argand_tensor>();
    handle->tensor = dlpack::import_versioned(
        reinterpret_cast<dlpack::DLManagedTensorVersioned*>(&needed(managed, function, "managed")));
    out = handle.release();
  });
}
argand_error* argand_tensor_to_dlpack(argand_tensor* tensor, struct DLManagedTensor** result) {
  return property(tensor, result, "argand_tensor_to_dlpack", "result",
                  [](const Tensor& t) { return reinterpret_cast<::DLManagedTensor*>(dlpack::export_tensor(t)); });
}
argand_error* argand_tensor_to_dlpack_versioned(argand_tensor* tensor, struct DLManagedTensorVersioned** result) {
  return property(tensor, result, "argand_tensor_to_dlpack_versioned", "result", [](const Tensor& t) {
    return reinterpret_cast<::DLManagedTensorVersioned*>(dlpack::export_versioned(t));
  });
}
