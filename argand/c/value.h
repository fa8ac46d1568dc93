// Values of the C interface from and to those of the op registry.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "argand/c/handles.h"
#include "argand/exec/argument_value.h"

namespace argand::c {

// ValueError for a value of no kind, and for a list or a text that is NULL.
ArgumentValue to_argument(const argand_value& value, const char* function);
std::vector<ArgumentValue> to_arguments(const argand_value* values, size_t count, const char* function,
                                        const char* argument);
// Owns what it points to.
argand_value to_value(const ArgumentValue& value);

// A copy of a list, which argand_values_free() frees.
template <class T, class Items>
T* copy_of(const Items& items) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer.
  const size_t bytes = std::max<size_t>(1, items.size()) * sizeof(T);
  auto* const out = static_cast<T*>(std::malloc(bytes));
  if (!out) throw std::bad_alloc();
  size_t i = 0;
  for (const auto& item : items) out[i++] = item;
  return out;
}
// The elements of a list value.  ValueError for a negative length, and for NULL with another length than 0.
template <class T>
ArrayRef<T> list_of(const T* items, const argand_value& value, const char* function) {
  ARGAND_CHECK(ValueError, value.length >= 0, function, ": a list has the length ", value.length);
  return needed(items, static_cast<size_t>(value.length), function, "a list");
}
// Writes the first `capacity` values, or none if one cannot be written, and their number.
void write_results(std::span<const ArgumentValue> from, argand_value* results, size_t capacity, size_t* count,
                   const char* function);

}  // namespace argand::c
