// c10::optional is std::optional.
#pragma once
#include <optional>

#include "c10/namespaces.h"

namespace c10 {
template <class T>
using optional = std::optional<T>;
using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
}  // namespace c10
