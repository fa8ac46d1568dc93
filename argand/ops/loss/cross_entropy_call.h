// Shared parts of the cross entropy ops with class indices.
#pragma once
#include "argand/core/reduction.h"
#include "argand/exec/copy.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/loss/target.h"
#include "argand/ops/workspace.h"

namespace argand::ops {

// Whether targets are checked before the kernel runs.  GPU kernels also check or skip them; the CPU's do not.
enum class Targets { kChecked, kCheckedOnCpu };

// The tensors to which a kernel call points.
struct CrossEntropyTensors {
  Tensor logits, targets, weight;
  CrossEntropyCall call;
  CrossEntropyTensors(const char* op, const Tensor& self, const Tensor& target, const Tensor& class_weight,
                      int64_t ignore_index, double smoothing, Targets check = Targets::kChecked)
      : logits(exec::dense(self)),
        targets(check == Targets::kCheckedOnCpu && !self.is_cpu()
                    ? exec::dense(target, kLong)
                    : class_indices(op, target, self.sizes()[1], ignore_index)),
        weight(exec::dense(class_weight, op_math_type(self.dtype()))) {
    call = {self.dtype(),
            logits.impl().data(),
            static_cast<const int64_t*>(targets.impl().data()),
            weight.defined() ? weight.impl().data() : nullptr,
            self.sizes()[0],
            self.sizes()[1],
            ignore_index,
            smoothing};
  }
};

// Losses, log sums and the total weight of all rows.  `rows(losses, weights, log_sums)` computes those of each row, or
// returns false; then this returns false, too.
template <class Rows>
bool run_rows(const CrossEntropyTensors& t, int64_t reduction, std::span<Tensor> outs, Rows rows) {
  const ScalarType type = outs[1].dtype();
  const Device& device = outs[0].device();
  const int64_t nbytes = t.call.rows * element_size(type);
  Workspace<8192> work(2 * nbytes, device);
  void *losses = work.data(), *weights = work.data() + nbytes;
  Tensor wide;  // the losses of rows before they are rounded
  const bool each = reduction == Reduction::None;
  if (each && type != outs[0].dtype()) wide = exec::new_tensor({{t.call.rows}, type}, device);
  if (each) losses = (wide.defined() ? wide : outs[0]).impl().data();
  if (!rows(losses, weights, outs[1].impl().data())) return false;
  blocks::total_loss.on(device)({type, losses, weights, t.call.rows, reduction == Reduction::Mean,
                                 each ? nullptr : outs[0].impl().data(), outs[0].dtype(), outs[2].impl().data(), type});
  if (wide.defined()) exec::copy_elements(outs[0], wide);
  return true;
}

}  // namespace argand::ops
