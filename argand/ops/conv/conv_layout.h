// Layouts of the operands and results of convolutions.
#pragma once
#include "argand/core/tensor.h"
#include "argand/kernels/cpu/conv.h"

namespace argand::ops {

// Strides of a result: its channels are last if those of an operand are, as in PyTorch; empty: contiguous.
Dims conv_strides(IntArrayRef sizes, const Tensor& a, const Tensor& b);

// The one layout in which a device does a convolution (kernels/conv_layout.h).
class ConvLayout {
 public:
  // `shape` is told of it; a and b are the operands.
  ConvLayout(cpu::ConvShape& shape, const Tensor& a, const Tensor& b);

  // `t` or a copy, in this layout; undefined stays undefined.
  Tensor of(const Tensor& t) const;
  // `out` or a tensor like it, to write; then put(out, it).
  Tensor to_write(const Tensor& out) const;
  static void put(const Tensor& out, const Tensor& written);

 private:
  bool fits(const Tensor& t) const;
  MemoryFormat format_ = MemoryFormat::Contiguous;
};

}  // namespace argand::ops
