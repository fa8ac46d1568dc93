// Defines the handles of the C interface, and guarded(), with which each of its functions begins.
#pragma once
#include <cxxabi.h>

#include <string>
#include <utility>

#include "argand/c/argand_c.h"
#include "argand/core/state_dict.h"
#include "argand/core/tensor.h"
#include "argand/exec/stream.h"
#include "argand/io/safetensors.h"

struct argand_tensor {
  argand::Tensor tensor;  // never undefined: NULL stands for that
};
struct argand_generator {
  argand::Generator generator;
};
struct argand_state_dict {
  argand::StateDict tensors;
  argand::io::Metadata texts;
};
struct argand_stream {
  argand::Stream stream;
};

namespace argand::c {

// The error of the exception that is being handled.  Never null: where memory is lacking, an error that exists already.
argand_error* error_of_exception() noexcept;

// Calls f and turns what it throws into an error.  The end of a thread (pthread_exit in a callback) passes through.
template <class F>
argand_error* guarded(F&& f) {
  try {
    f();
    return nullptr;
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return error_of_exception();
  }
}

// `p`; ValueError if it is null.
template <class T>
T& needed(T* p, const char* function, const char* argument) {
  ARGAND_CHECK(ValueError, p, function, ": ", argument, " is NULL");
  return *p;
}
// The elements at `p`; ValueError if it is null and there should be some.
template <class T>
ArrayRef<T> needed(const T* p, size_t count, const char* function, const char* argument) {
  ARGAND_CHECK(ValueError, p || count == 0, function, ": ", argument, " is NULL, but its length is ", count);
  return ArrayRef<T>(p, count);
}

// Writes a new handle.  The place is looked at first, so that nothing is lost where it is missing.
template <class Handle, class... Parts>
void give(Handle** result, const char* function, Parts&&... parts) {
  Handle*& out = needed(result, function, "result");
  out = new Handle{std::forward<Parts>(parts)...};
}

inline const Tensor& tensor_of(const argand_tensor* handle, const char* function, const char* argument = "tensor") {
  return needed(handle, function, argument).tensor;
}
// Undefined for NULL.
inline Tensor optional_tensor(const argand_tensor* handle) { return handle ? handle->tensor : Tensor(); }
std::vector<Tensor> tensors_of(argand_tensor* const* handles, size_t count, const char* function, const char* argument);

// A new handle; NULL for an undefined tensor.
inline argand_tensor* new_handle(Tensor t) { return t.defined() ? new argand_tensor{std::move(t)} : nullptr; }
inline void give_tensor(argand_tensor** result, const char* function, Tensor t) {
  argand_tensor*& out = needed(result, function, "result");
  out = new_handle(std::move(t));
}
// A copy of the text that argand_text_free() frees.
char* new_text(std::string_view text);
inline void give_text(char** result, const char* function, std::string_view text) {
  char*& out = needed(result, function, "the text");
  out = new_text(text);
}

ScalarType to_dtype(argand_dtype dtype, const char* function);
argand_dtype from_dtype(ScalarType dtype);
Device to_device(const argand_device& device, const char* function);
argand_device from_device(const Device& device);
MemoryFormat to_memory_format(argand_memory_format format, const char* function);

}  // namespace argand::c
