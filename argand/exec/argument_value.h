// The arguments of a call as values with their types, for tools that inspect calls.
#pragma once
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "argand/core/tensor.h"

namespace argand {

using ArgumentValue = std::variant<std::monostate, bool, int64_t, double, std::string, Scalar, ScalarType, Device,
                                   MemoryFormat, Dims, std::vector<double>, std::vector<Scalar>, std::vector<bool>,
                                   Tensor, std::vector<Tensor>, TensorOptions, Generator>;
// Names and values in the order of the schema; an absent optional is std::monostate.
using ArgumentValues = std::vector<std::pair<const char*, ArgumentValue>>;

template <class T>
void add_argument(ArgumentValues& out, const char* name, const T& value) {
  out.emplace_back(name, ArgumentValue(std::in_place_type<T>, value));
}
template <class T>
void add_argument(ArgumentValues& out, const char* name, const std::optional<T>& value) {
  out.emplace_back(name, value ? ArgumentValue(std::in_place_type<T>, *value) : ArgumentValue());
}
template <size_t N>
void add_argument(ArgumentValues& out, const char* name, const std::array<bool, N>& value) {
  out.emplace_back(name, std::vector<bool>(value.begin(), value.end()));
}

}  // namespace argand
