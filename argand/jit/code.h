// The compiled form of a function: a tree of steps and expressions in which every variable is a slot and every name is
// resolved.  It never changes while it runs, except for what calls remember about the kinds of their arguments, so any
// number of threads may run it.
#pragma once
#include <memory>
#include <vector>

#include "argand/autograd/ivalue.h"

namespace argand::jit {

class Function;

// One call of a function.
struct Frame {
  IValue* slots;
  uint32_t line = 0;  // of the statement that runs
  IValue result = {};
};

struct Expr {
  virtual ~Expr() = default;
  virtual IValue run(Frame& frame) const = 0;
};
using ExprPtr = std::unique_ptr<const Expr>;

struct Step {
  uint32_t line = 0;
  virtual ~Step() = default;
  // True if the function returns.
  virtual bool run(Frame& frame) const = 0;
};
using StepPtr = std::unique_ptr<const Step>;
using Steps = std::vector<StepPtr>;

inline bool run(const Steps& steps, Frame& frame) {
  for (const StepPtr& step : steps) {
    frame.line = step->line;
    if (step->run(frame)) return true;
  }
  return false;
}

struct Code {
  size_t slots = 0;  // the first are those of the parameters
  Steps steps;
  std::vector<std::unique_ptr<const Code>> nested;  // functions inside, which steps call
};

}  // namespace argand::jit
