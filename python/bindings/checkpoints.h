// Converts trees of data to Python objects, and back.
#pragma once
#include <functional>

#include "argand/io/format_error.h"
#include "argand/io/value.h"
#include "bindings/object.h"

namespace argand::python {

// An object that is reached twice becomes one Python object.
nb::object to_python(const io::Value& value);
// Throws a ValueError that names the type of an object that is not data.
io::Value from_python(nb::handle object);

// Calls `write`, the method of a file object, with pieces of a file.  REQUIRES that the calls come without the
// interpreter's lock.
std::function<void(const void*, size_t)> writer_to(nb::handle write);

// Raises OSError, which picks the subclass for its errno.
void raise_os_error(const io::FileError& e);
void raise_unpickling_error(const char* what);

// Runs `f` and translates its errors to Python's: UnpicklingError for a bad file, OSError for errors of the system.
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
