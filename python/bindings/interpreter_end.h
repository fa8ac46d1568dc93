// The first part of Note [Threads of an interpreter that ends], see gil.h.
#pragma once
#include <nanobind/nanobind.h>

namespace argand::python {

// Before the interpreter ends (atexit), it waits a moment until no other thread runs Python code that C++ called, such
// as a hook: such a thread would be unwound in the middle of it.  Threads that want to call Python after that sleep.
void add_interpreter_end(nanobind::module_& module);

}  // namespace argand::python
