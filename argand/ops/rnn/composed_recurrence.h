// A recurrent layer in one direction and its gradients, composed of ops: it can be differentiated any number of times.
#pragma once
#include <array>

#include "argand/ops/rnn/cell.h"

namespace argand::ops {

// Arguments are those of _recurrence; undefined if absent.
class ComposedRecurrence {
 public:
  ComposedRecurrence(RnnKind kind, const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& w_hh,
                     const Tensor& b_hh, bool reverse);
  // The gradients of gates, hx, cx, w_hh and b_hh, from those of the outputs and of the last c (or undefined).
  std::array<Tensor, 5> gradients(const Tensor& grad_output, const Tensor& grad_cn) const;

 private:
  struct Step {
    int64_t t;
    RnnState before, after;
    std::vector<Tensor> gates;  // activated, as rnn_step() gives them
  };
  struct Slopes {
    std::vector<Tensor> input, state;  // gradients of the gates before their activations
    RnnState before;                   // except the part through the state's gates
  };
  Slopes slopes(const Step& step, const Tensor& grad_h, const Tensor& grad_c) const;

  RnnKind kind_;
  Tensor w_hh_, b_hh_;
  std::vector<Step> steps_;  // in execution order
};

}  // namespace argand::ops
