// Statements of the compiled form.
#pragma once
#include "argand/jit/expressions.h"

namespace argand::jit {

// The place to which an assignment writes its value.
struct Target {
  enum class Kind : uint8_t { kNowhere, kSlot, kAttribute, kElement };
  Kind kind = Kind::kNowhere;  // nobody reads it
  uint32_t slot = 0;
  ExprPtr object, key;
  std::string name;
  Place place;

  void set(Frame& frame, IValue value) const;
};

struct ExpressionStep final : Step {
  bool run(Frame& frame) const override;
  ExprPtr value;
};
struct AssignStep final : Step {
  bool run(Frame& frame) const override;
  Target target;
  ExprPtr value;
};
struct UnpackStep final : Step {
  bool run(Frame& frame) const override;
  std::vector<std::unique_ptr<Target>> targets;
  ExprPtr value;
};
struct ReturnStep final : Step {
  bool run(Frame& frame) const override;
  ExprPtr value;  // null for None
};
struct IfStep final : Step {
  bool run(Frame& frame) const override;
  ExprPtr condition;
  Steps body, other;
};
struct WhileStep final : Step {
  bool run(Frame& frame) const override;
  ExprPtr condition;
  Steps body;
};
// for i in range(start, stop, step)
struct RangeStep final : Step {
  bool run(Frame& frame) const override;
  Target target;
  ExprPtr start, stop, step;  // start and step may be null
  Steps body;
};
// Over the elements of a list, a tuple or a text, or the keys of a dict, as they are at the start.
struct EachStep final : Step {
  bool run(Frame& frame) const override;
  std::vector<std::unique_ptr<Target>> targets;
  bool unpacks = false;
  ExprPtr values;
  Steps body;
};
struct WithStep final : Step {
  bool run(Frame& frame) const override;
  Target target;
  ExprPtr value;
  Steps body;
};
struct RaiseStep final : Step {
  bool run(Frame& frame) const override;
  ExprPtr condition;  // of an assert: nothing is raised if it holds; else null
  ExprPtr message;    // or null
  std::string class_name;
};

}  // namespace argand::jit
