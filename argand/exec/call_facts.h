// Facts about an op that forward mode needs (autograd/forward_mode.cpp).  The generator reads them in the definition.
#pragma once
#include <memory>

#include "argand/exec/op_info.h"

namespace argand::exec {

struct CallFacts {
  std::shared_ptr<void> (*copy)(const void* args);
  uint32_t own_gradients;  // bit i: the definition has a gradient function for argument i of the schema
  bool is_one_gradient;    // it has one function that gives the gradients of all arguments
  bool only_linear;        // false: a part of the result does not depend on an argument in which the op seems linear
};

// Null for an op that is not among all_ops().
const CallFacts* call_facts(const OpInfo& op);

}  // namespace argand::exec
