// What the host side of kernels needs: the kernel of a template instance, found once per form.
#pragma once
#include <string>

#include "argand/core/dtype.h"
#include "argand/runtime/cuda/launch.h"

namespace argand::cuda {

// code_type() of the types that kernels of ops are written for; NotOnDevice for complex ones.
const char* device_type_name(ScalarType t);

// The instance `name` ("softmax_rows<float, 4>") of a kernel in `header` ("argand/kernels/cuda/softmax.cuh").  Compiled
// at the first call; later a lookup.
Kernel kernel(const char* header, std::string name);

// "name<a, b, c>": text for kernel(); bool as true and false, ScalarType as its device type.
template <class... Args>
std::string instance(const char* name, const Args&... args);

// Blocks of `threads` that cover n; throws what a user should see if there are too many.
unsigned blocks_for(int64_t n, int64_t per_block);

// ---- implementation of instance()
namespace detail {
inline const char* argument(bool b) { return b ? "true" : "false"; }
inline std::string argument(int i) { return std::to_string(i); }
inline const char* argument(ScalarType t) { return device_type_name(t); }
inline const char* argument(const char* text) { return text; }
}  // namespace detail
template <class... Args>
std::string instance(const char* name, const Args&... args) {
  std::string out;
  out.reserve(128);  // kernel() adds the header
  out = name;
  const char* before = "<";
  ((out += before, out += detail::argument(args), before = ", "), ...);
  out += '>';
  return out;
}

}  // namespace argand::cuda
