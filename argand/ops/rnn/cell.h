// One step of each kind of recurrent network, as ops.
#pragma once
#include "argand/core/tensor.h"
#include "argand/kernels/api/recurrence.h"

namespace argand::ops {

// Parameters of one layer in one direction: w_ih [gates * hidden, input], w_hh [gates * hidden, output] and biases
// [gates * hidden]; w_hr [output, hidden] of an LSTM with projections.  Undefined where there is none.
struct RnnWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

// Only an LSTM has c.
struct RnnState {
  Tensor h, c;
};

// Computes the next state from the input's part of the gates, linear(x, w_ih, b_ih), and the state before.
// `activated`, if given, gets the gates: input, forget, cell, output of an LSTM; reset, update, new of a GRU, and the
// state's part of the last.
RnnState rnn_step(RnnKind kind, const RnnWeights& w, const Tensor& input_gates, const RnnState& state,
                  std::vector<Tensor>* activated = nullptr);

}  // namespace argand::ops
