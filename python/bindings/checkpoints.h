// Trees of data as Python's objects, and back.
#pragma once
#include "argand/io/format_error.h"
#include "argand/io/value.h"
#include "bindings/object.h"

namespace argand::python {

// An object that is reached twice is one object.
nb::object to_python(const io::Value& value);
// ValueError that names the type of what is no data.
io::Value from_python(nb::handle object);

// OSError picks the class that belongs to its errno.
void raise_os_error(const io::FileError& e);
void raise_unpickling_error(const char* what);

// Failures as Python knows them: what is wrong in a file, and what the system says.
template <class F>
auto translated(F&& f) {
  try {
    return f();
  } catch (const io::FormatError& e) {
    raise_unpickling_error(e.what());
  } catch (const io::FileError& e) {
    if (e.code() == 0) throw;
    raise_os_error(e);
  }
  throw nb::python_error();
}

}  // namespace argand::python
