// What the generator reads in the definition of an op for calls that are taken apart: those of forward mode
// (autograd/forward_mode.cpp).
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

// Of an op of all_ops(); null for any other.
const CallFacts* call_facts(const OpInfo& op);

}  // namespace argand::exec
