#include "argand/ops/loss/target.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/cross_entropy.h"
#include "argand/ops/functions.h"
#include "argand/ops/index/bounds.h"

namespace argand::ops {

void check_reduction(const char* op, int64_t reduction) {
  ARGAND_CHECK(ValueError, reduction >= Reduction::None && reduction <= Reduction::Sum, op,
               ": expected reduction 0 (none), 1 (mean) or 2 (sum), got ", reduction);
}

void check_class_targets(const char* op, const Tensor& self, const Tensor& target, const Tensor& weight) {
  ARGAND_CHECK(ValueError, self.dim() >= 1, op,
               ": expected input with at least one dimension, the classes, got a 0-dim tensor");
  Dims expected = self.impl().sizes;
  expected.erase(expected.begin() + class_dim(self));
  ARGAND_CHECK(ShapeError, self.dim() > 2 || target.dim() <= 1, op,
               ": 0D or 1D target tensor expected, multi-target not supported: input of shape ", self.sizes(),
               ", target of shape ", target.sizes());
  ARGAND_CHECK(ValueError, self.dim() != 2 || target.dim() != 1 || target.sizes()[0] == self.sizes()[0], op,
               ": Expected input batch_size (", self.sizes()[0], ") to match target batch_size (", target.numel(),
               ").");
  ARGAND_CHECK(ShapeError,
               target.sizes() == IntArrayRef(expected) || (self.dim() == 1 && target.sizes() == IntArrayRef(Dims{1})),
               op, ": expected target of shape ", expected, " for input of shape ", self.sizes(), ", got ",
               target.sizes());
  ARGAND_CHECK(DtypeError, target.dtype() == kLong || target.dtype() == kByte, op,
               ": expected target of dtype int64 or uint8, got ", target.dtype());
  if (!weight.defined()) return;
  const int64_t classes = self.sizes()[class_dim(self)];
  ARGAND_CHECK(ShapeError, weight.dim() == 1 && weight.numel() == classes, op,
               ": weight tensor should be defined either for all ", classes,
               " classes or no classes but got weight tensor of shape: ", weight.sizes());
  ARGAND_CHECK(DtypeError, weight.dtype() == self.dtype(), op, ": expected weight of dtype ", self.dtype(),
               " as input, got ", weight.dtype());
}

Tensor class_indices(const char* op, const Tensor& target, int64_t classes, int64_t ignore_index) {
  if (!target.is_cpu()) return checked_on_device(op, target, classes, 0, false, ignore_index);
  const Tensor t = exec::dense(target, kLong);
  const int64_t* p = raw<int64_t>(t);
  const int64_t bad = cpu::find_bad_target(p, t.numel(), classes, ignore_index);
  ARGAND_CHECK(IndexError, bad < 0, op, ": Target ", p[bad], " is out of bounds. Expected a class index in [0, ",
               classes, ") at position ", bad, " of target");
  return t;
}

Tensor reduce_loss(const Tensor& losses, int64_t reduction) {
  return reduction == Reduction::Mean ? losses.mean() : reduction == Reduction::Sum ? losses.sum() : losses;
}

}  // namespace argand::ops
