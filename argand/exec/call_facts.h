// What the generator reads in the definition of an op for calls that are taken apart: those of forward mode
// (autograd/forward_mode.cpp).
#pragma once
#include <memory>

#include "argand/exec/op_info.h"

namespace argand::exec {

struct CallFacts {
  std::shared_ptr<void> (*copy)(const void* args);
  // Bit i: argument i of the schema has a gradient function of its own.  0: one function gives all gradients.
  uint32_t own_gradients;
  bool has_gradient;
  bool only_linear;  // false: a part of the result comes from numbers, although the gradients read no tensor
};

// Of an op of all_ops(); null for any other.
const CallFacts* call_facts(const OpInfo& op);

}  // namespace argand::exec
