// Packed sequences as a padded batch, for kernels that take all steps of as many rows each.
#pragma once
#include "argand/core/tensor.h"
#include "argand/kernels/api/recurrence.h"

namespace argand::ops {

// Note [Packed sequences side by side]
// A layer whose sequences end at different steps takes some twenty ops a step, with as many rows as there still are.
// On a GPU, whose kernels for layers take all steps at once, it is faster to fill the sequences up: what comes after
// the end of a sequence changes nothing before it.  To process the sequences backwards, each of them is turned around,
// so that it begins at step 0, too.  The last h is that of a sequence's last step.  The last c of an LSTM is only known
// after the last step of all sequences, so the gates behind the end keep it as it is, and its gradient likewise:
// forget gates of exactly 1 and input gates of exactly 0.
class SideBySide {
 public:
  // batch_sizes: the rows of each step, as batch_sizes_of() checks them.
  SideBySide(IntArrayRef batch_sizes, const Device& device, bool backwards);

  int64_t steps() const { return steps_; }
  int64_t batch() const { return batch_; }
  // The input's part of the gates [rows, width] as [steps * batch, width].
  Tensor padded(RnnKind kind, const Tensor& gates) const;
  // Outputs [steps * batch, features] as packed rows, and those of the last step of each sequence.
  Tensor packed(const Tensor& outputs) const;
  Tensor last(const Tensor& outputs) const;

 private:
  int64_t steps_, batch_;
  Tensor places_, ends_;  // of packed rows and of last steps among the padded rows
};

}  // namespace argand::ops
