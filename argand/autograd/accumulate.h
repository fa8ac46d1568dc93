// The end of the graph: adds a gradient to `.grad` of a leaf.
#pragma once
#include <cstdint>
#include <functional>

#include "argand/exec/graph.h"

namespace argand::autograd {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  ~AccumulateGrad() override;
  std::string name() const override { return "torch::autograd::AccumulateGrad"; }
  Grads apply(Grads grads) override;
  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
};

// Adds `gradient` to `t.grad()`: takes it over when nothing else owns it, adds in place otherwise.
void accumulate_grad(const Tensor& t, Tensor gradient);

// Calls `hook` with the leaf whenever a backward has added to its `.grad`; Tensor::remove_hook takes the handle.
// GradError unless it is a leaf that requires grad.
unsigned add_post_accumulate_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook);

// The kind of such a hook in a leaf's list of hooks.
struct AfterAccumulation {
  std::function<void(const Tensor&)> hook;
  Tensor operator()(const Tensor& leaf) const {
    hook(leaf);
    return {};
  }
};

// The position of these hooks among a leaf's: at an input that no node has.
constexpr uint32_t kAfterAccumulation = UINT32_MAX;

}  // namespace argand::autograd
