// Connectionist temporal classification over padded sequences: blocks::ctc_loss and its gradient.
//
// A target of `count` labels corresponds to paths through 2 count + 1 states: blank, label 0, blank, label 1, ...
// blank.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct CtcSequences {
  const char* op;         // the op, for an IndexError about a label that is no class
  ScalarType type;        // of all floating-point arrays: float, double
  const void* log_probs;  // [steps, batch, classes]
  const int64_t* labels;
  // For each sequence: where its labels begin, the number of its labels, and the number of its steps.
  const int64_t *begins, *counts, *lengths;
  int64_t steps, batch, classes, most_labels, blank;

  int64_t width() const { return 2 * most_labels + 1; }  // states of the longest target
};

// alpha [batch, steps, width]: the log-probability of all paths that are in a state at a step, minus infinity beyond
// the ends.  losses [batch]: minus the log-probability of all paths.
using RunCtcLoss = void(const CtcSequences& call, void* alpha, void* losses);

// The gradient for log_probs, of their shape, as in PyTorch: it assumes that they are outputs of log_softmax, and adds
// a part that log_softmax's backward subtracts again.
struct CtcGradient {
  const void *alpha, *losses, *grad_losses;
  bool zero_infinity;  // zeros where the loss is infinite
  void* grad;
};
using RunCtcLossBackward = void(const CtcSequences& call, const CtcGradient& gradient);

}  // namespace argand
