// Older LibTorch's variant, which is the standard library's.
#pragma once
#include <variant>

#include "c10/namespaces.h"

namespace c10 {
using std::get;
using std::get_if;
using std::holds_alternative;
using std::monostate;
using std::variant;
using std::visit;
}  // namespace c10
