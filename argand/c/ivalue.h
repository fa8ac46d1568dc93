// Values of the C interface from and to those of TorchScript.
#pragma once
#include "argand/autograd/ivalue.h"
#include "argand/c/argand_c.h"

namespace argand::c {

// Lists and dicts are copied.  ValueError for values nested deeper than 100 and for options, which TorchScript has not,
// else as to_argument().
IValue to_ivalue(const argand_value& value, const char* function);
std::vector<IValue> to_ivalues(const argand_value* values, size_t count, const char* function, const char* argument);
// Owns what it points to.  ValueError for values nested deeper than 100; NotImplementedError for objects of the
// program's classes.
argand_value to_value(const IValue& value);

}  // namespace argand::c
