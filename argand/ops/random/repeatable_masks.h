// Dropout masks that an op draws in parts and its gradient draws again, so that they need not be stored.
#pragma once
#include <optional>

#include "argand/core/tensor.h"
#include "argand/exec/op_info.h"

namespace argand::ops {

class RepeatableMasks {
 public:
  // The shape and dtype of the stored generator state: bytes, none if nothing is drawn.
  static TensorMeta state_meta(const Device& device, double p);
  // Reserves from the generator of state's device what `masks` masks with `elements` elements in total need, and stores
  // the generator's position in `state`.
  static void take(const Tensor& state, int64_t elements, int64_t masks);

  RepeatableMasks(const Tensor& state, double p);
  // The factors of the next mask: 0 with probability p, else a number that compensates.
  // On a CPU, the masks in sequence equal one dropout mask over all of their elements.
  Tensor next(const Dims& sizes, ScalarType dtype);

 private:
  Tensor state_;
  double p_;
  std::optional<Generator> repeated_;  // on a CPU
  int64_t drawn_ = 0;
};

}  // namespace argand::ops
