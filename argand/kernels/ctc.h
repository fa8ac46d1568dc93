// Connectionist temporal classification over padded sequences: blocks::ctc_loss and its gradient.
//
// A target of `count` labels is spelled by paths through 2 count + 1 states: blank, label 0, blank, label 1, ... blank.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct CtcSequences {
  const char* op;         // who asks: named in an IndexError for a label that is no class
  ScalarType type;        // of all floating-point arrays: float, double
  const void* log_probs;  // [steps, batch, classes]
  const int64_t* labels;
  // For each sequence where its labels begin, how many there are, and how many of the steps are its own.
  const int64_t *begins, *counts, *lengths;
  int64_t steps, batch, classes, most_labels, blank;

  int64_t width() const { return 2 * most_labels + 1; }  // states of the longest target
};

// alpha [batch, steps, width]: the log-probability of all paths that are in a state at a step, minus infinity beyond
// the ends.  losses [batch]: minus that of all paths.
using RunCtcLoss = void(const CtcSequences& call, void* alpha, void* losses);

// The gradient for log_probs, of their shape; PyTorch's, which takes them for outputs of log_softmax and adds the part
// of its gradient that log_softmax's backward would take away again.
struct CtcGradient {
  const void *alpha, *losses, *grad_losses;
  bool zero_infinity;  // zeros where the loss is infinite
  void* grad;
};
using RunCtcLossBackward = void(const CtcSequences& call, const CtcGradient& gradient);

}  // namespace argand
