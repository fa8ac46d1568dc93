// The end of the graph: adds a gradient to `.grad` of a leaf.
#pragma once
#include "argand/exec/graph.h"

namespace argand::autograd {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  ~AccumulateGrad() override;
  std::string name() const override { return "AccumulateGrad"; }
  Grads apply(Grads grads) override;
  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
};

// Adds `gradient` to `t.grad()`: takes it over when nothing else owns it, adds in place otherwise.
void accumulate_grad(const Tensor& t, Tensor gradient);

}  // namespace argand::autograd
