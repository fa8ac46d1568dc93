// Compile-time queries for templates over modules.
#pragma once
#include <type_traits>
#include <utility>

#include "torch/nn.h"

namespace torch::detail {

template <class T>
using is_module = std::is_base_of<argand::nn::Module, std::decay_t<T>>;
template <class M, class T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

template <class... Types>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Types> || std::is_const_v<std::remove_reference_t<Types>>)&&...);
}

template <class M, class... Arguments>
constexpr auto forward_result() {
  if constexpr (requires(M & m, Arguments && ... a) { m.forward(std::forward<Arguments>(a)...); })
    return std::type_identity<decltype(std::declval<M&>().forward(std::declval<Arguments>()...))>();
  else
    return std::type_identity<void>();
}
// The return type of forward() for these arguments; void for a module without one.
template <class M, class... Arguments>
struct return_type_of_forward : decltype(forward_result<M, Arguments...>()) {};
template <class M, class... Arguments>
using return_type_of_forward_t = typename return_type_of_forward<M, Arguments...>::type;

}  // namespace torch::detail
