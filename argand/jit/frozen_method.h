// Methods of modules as methods of a frozen class (Note [Freezing] in argand/jit/freeze.cpp).
#pragma once
#include "argand/jit/freezer.h"

namespace argand::jit {

// The lines of a method of `self`, whose name in the frozen class is `name`.
std::string frozen_method(Freezer& freezer, const ObjectPtr& self, const Function& function, const std::string& name);
// What a method of `self` does to memory; a function of no module if `self` is null.
AliasSummary summary_of(Freezer& freezer, const ObjectPtr& self, const Function& function);

}  // namespace argand::jit
