// UndefinedGrad: copies, through which no gradient flows back.
#pragma once
#include "torch/autograd.h"

namespace argand::autograd {

struct UndefinedGrad {
  variable_list apply(const variable_list& inputs) { return NoGradientFlows::apply(inputs); }

 private:
  struct NoGradientFlows : Function<NoGradientFlows> {
    static variable_list forward(AutogradContext* ctx, const variable_list& inputs) {
      ctx->set_materialize_grads(false);
      variable_list out;
      for (const Tensor& t : inputs) out.push_back(t.clone());
      return out;
    }
    static variable_list backward(AutogradContext*, const variable_list& grads) { return variable_list(grads.size()); }
  };
};

}  // namespace argand::autograd
