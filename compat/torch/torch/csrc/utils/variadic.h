// LibTorch's functions over parameter packs, from before C++ had fold expressions.
#pragma once
#include <type_traits>
#include <utility>

#include "c10/namespaces.h"

namespace torch {

using std::enable_if_t;

template <bool... values>
struct all_of : std::bool_constant<(values && ...)> {};
template <bool... values>
struct any_of : std::bool_constant<(values || ...)> {};

// Calls `function` with each argument, first to last.
template <class Function, class... Arguments>
void apply(Function function, Arguments&&... arguments) {
  (function(std::forward<Arguments>(arguments)), ...);
}

}  // namespace torch
