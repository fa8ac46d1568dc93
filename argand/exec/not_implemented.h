// The node of an op without a derivative: backward through it is an error that names the op.
#pragma once
#include "argand/exec/graph.h"

namespace argand::autograd {

class NotImplemented final : public Node {
 public:
  explicit NotImplemented(std::string op) : op_(std::move(op)) {}
  std::string name() const override { return "NotImplemented"; }
  Grads apply(Grads) override { ARGAND_THROW(GradError, "derivative for ", op_, " is not implemented"); }
  const std::string& op() const { return op_; }

 private:
  std::string op_;
};

// GradError if `view`, whose base or which itself is written, came from such an op: what it is of the base now nobody
// knows.
inline void check_view_has_derivative(const AutogradMeta& view) {
  if (const auto* node = dynamic_cast<const NotImplemented*>(view.grad_fn.get()))
    ARGAND_THROW(GradError, "Mutating the view ", node->op(),
                 " which does not have a derivative implemented is forbidden.");
}

}  // namespace argand::autograd
