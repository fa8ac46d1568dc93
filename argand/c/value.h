// Values of the C interface from and to those of the op registry.
#pragma once
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
// Writes the first `capacity` values, or none if one cannot be written, and their number.
void write_results(std::span<const ArgumentValue> from, argand_value* results, size_t capacity, size_t* count,
                   const char* function);

}  // namespace argand::c
