// For the host side of kernels: finds the kernel of a template instance, once per form.
#pragma once
#include <string>

#include "argand/core/dtype.h"
#include "argand/runtime/cuda/kernel_table.h"
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

// kernel(header, instance(name, args...)), found by the arguments themselves: its text, which takes longer to make than
// the rest of a small call, is made at the first call only.  Texts among the arguments must be literals.
template <class... Args>
Kernel kernel_instance(const char* header, const char* name, const Args&... args);

// The number of blocks that cover n; throws an error for the user if there are too many.
unsigned blocks_for(int64_t n, int64_t per_block);

// ---- implementation of instance() and kernel_instance()
namespace detail {
KernelTable& kernels_by_arguments();
inline uint64_t word(const char* literal) { return reinterpret_cast<uintptr_t>(literal); }
template <class T>
uint64_t word(T number) {
  return static_cast<uint64_t>(number);
}
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
template <class... Args>
Kernel kernel_instance(const char* header, const char* name, const Args&... args) {
  const uint64_t key[] = {detail::word(header), detail::word(name), detail::word(args)...};
  return detail::kernels_by_arguments().get({reinterpret_cast<const char*>(key), sizeof key},
                                            [&] { return kernel(header, instance(name, args...)); });
}

}  // namespace argand::cuda
