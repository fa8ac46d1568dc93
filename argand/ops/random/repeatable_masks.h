// Masks of dropout that an op draws a part at a time and its gradient draws again, instead of finding them in memory.
#pragma once
#include <optional>

#include "argand/core/tensor.h"
#include "argand/exec/op_info.h"

namespace argand::ops {

class RepeatableMasks {
 public:
  // The bytes in which is kept where a generator stood: none if nothing is drawn.
  static TensorMeta state_meta(const Device& device, double p);
  // Takes what `masks` masks of `elements` in all need from the generator of state's device, and keeps in `state` where
  // it stood.
  static void take(const Tensor& state, int64_t elements, int64_t masks);

  RepeatableMasks(const Tensor& state, double p);
  // What the elements of the next mask are multiplied by: 0 with probability p, else a number that makes up for it.
  // The masks of a CPU, one after the other, are those of dropout of all of their elements at once.
  Tensor next(const Dims& sizes, ScalarType dtype);

 private:
  Tensor state_;
  double p_;
  std::optional<Generator> repeated_;  // of a CPU
  int64_t drawn_ = 0;
};

}  // namespace argand::ops
