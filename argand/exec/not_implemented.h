// The node of an op without a derivative: backward through it is an error that names the op.
#pragma once
#include "argand/exec/graph.h"

namespace argand::autograd {

class NotImplemented final : public Node {
 public:
  explicit NotImplemented(std::string op) : op_(std::move(op)) {}
  std::string name() const override { return "NotImplemented"; }
  Grads apply(Grads) override { ARGAND_THROW(NotImplementedError, "the derivative for ", op_, " is not implemented"); }
  const std::string& op() const { return op_; }

 private:
  std::string op_;
};

// GradError if `view` came from such an op and it or its base is written: its relation to the base is then unknown.
inline void check_view_has_derivative(const AutogradMeta& view) {
  if (const auto* node = dynamic_cast<const NotImplemented*>(view.grad_fn.get()))
    ARGAND_THROW(GradError, "Mutating the view ", node->op(),
                 " which does not have a derivative implemented is forbidden.");
}

// GradError if a Function made `view`: autograd would replace the Function's history by its own.  `happened` says what
// was written.
inline void check_not_of_function(const char* op, const AutogradMeta& view, const char* happened) {
  const bool several = view.creation == CreationMeta::MULTI_OUTPUT_NODE;
  if (!several && view.creation != CreationMeta::IN_CUSTOM_FUNCTION) return;
  ARGAND_THROW(GradError, op, ": Output ", view.output_nr, " of ",
               view.grad_fn ? view.grad_fn->name() : std::string(several ? "a function" : "a custom Function"),
               " is a view and ", happened, " modified inplace. This view ",
               several
                   ? "is the output of a function that returns multiple views. Such functions do not allow the "
                     "output views to be modified inplace."
                   : "was created inside a custom Function (or because an input was returned as-is), whose backward "
                     "autograd's own history of the write would replace.",
               " Write to a clone() of it instead.");
}

}  // namespace argand::autograd
