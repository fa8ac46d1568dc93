// Methods of modules as methods of a frozen class (Note [Freezing] in argand/jit/freeze.cpp).
#pragma once
#include "argand/jit/freezer.h"

namespace argand::jit {

// The lines of a method of `self`, whose name in the frozen class is `name`.
std::string frozen_method(Freezer& freezer, const ObjectPtr& self, const Function& function, const std::string& name);
// The effects of a method of `self`, or of a function if `self` is null, on its arguments and on attributes.
AliasSummary summary_of(Freezer& freezer, const ObjectPtr& self, const Function& function);

}  // namespace argand::jit
