// Turns the tree of a function into its compiled form (argand/jit/code.h).
//
// Note [Last uses]
// The compiler visits statements from the last to the first and knows at each place which variables are still read
// later.  The last read of a variable takes its value out of the slot.  So a tensor dies where the program no longer
// needs it, as in PyTorch's interpreter, and an op may find that nobody else holds its argument.
#pragma once
#include "argand/jit/code.h"
#include "argand/jit/function.h"

namespace argand::jit {

// SyntaxError with file and line for what is not of the language.  Ops are looked up when they are first called.
std::unique_ptr<const Code> compile(const Function& function);

// The value of an expression without variables: the default of a parameter, a constant of a class.
IValue constant_of(const Expression& tree, const Type& type, Program& program, const Source& source);

}  // namespace argand::jit
