// How NumPy's arrays, numbers and dtypes are stored in a pickle.  All functions throw ValueError for what they refuse.
//
//   dtype   [its text, "<f4": byte order, kind, bytes of an element (of U: characters)]
//   ndarray [dtype, shape as a tuple, whether the first index moves fastest, the bytes of all elements]
//   scalar  [dtype, bytes]
#pragma once
#include <optional>

#include "argand/io/pickle.h"

namespace argand::io {

bool is_numpy_name(const std::string& full);
// The result of calling such a name; none if the name is not one of these.
std::optional<Value> call_numpy(const std::string& name, const Value& arguments);
// Sets the state of an array or a dtype that exists already.
void set_numpy_state(Value& object, const Value& state);
// The calls that write such a value.
PickleForms::Form numpy_form(const Value& value);

// "<f4", as NumPy's dtype.str has it: bools, numbers of standard sizes, and texts.  Objects, records and times are
// refused.
Value numpy_dtype(std::string text);
int64_t numpy_itemsize(const Value& dtype);
Value numpy_array(Value dtype, Value shape, bool first_index_fastest, Value bytes);

}  // namespace argand::io
