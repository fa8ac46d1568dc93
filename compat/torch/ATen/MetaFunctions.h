// at::meta::add(a, b): the shape and dtype of a result, as a tensor without data, whatever the device of the arguments.
#pragma once
#include "ATen/ATen.h"

namespace at::meta {

// The arguments of an op, tensors among them without their data.
template <class T>
decltype(auto) without_data(const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>)
    return argument.to(kMeta);
  else
    return argument;
}

#define ARGAND_TORCH_META(name)                        \
  template <class... Arguments>                        \
  auto name(const Arguments&... arguments) {           \
    return ::argand::name(without_data(arguments)...); \
  }
ARGAND_TORCH_META(add)
ARGAND_TORCH_META(sub)
ARGAND_TORCH_META(mul)
ARGAND_TORCH_META(div)
ARGAND_TORCH_META(pow)
ARGAND_TORCH_META(mm)
ARGAND_TORCH_META(bmm)
ARGAND_TORCH_META(addmm)
ARGAND_TORCH_META(sum)
ARGAND_TORCH_META(mean)
#undef ARGAND_TORCH_META

}  // namespace at::meta
