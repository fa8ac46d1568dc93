#include "argand/exec/overlap.h"

namespace argand::exec {
namespace {

bool overlap(const Tensor& a, const Tensor& b, bool any) {
  if (a.storage().get() != b.storage().get() || a.numel() == 0 || b.numel() == 0) return false;
  if (a.is_same(b)) return any;
  const int64_t from_a = a.storage_offset() * a.itemsize(), from_b = b.storage_offset() * b.itemsize();
  const int64_t to_a = from_a + a.numel() * a.itemsize(), to_b = from_b + b.numel() * b.itemsize();
  if (from_a >= to_b || from_b >= to_a || !a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense())
    return false;
  return any || from_a != from_b || to_a != to_b || a.strides() != b.strides();
}

}  // namespace

void check_overlap(PermanentName op, const Tensor& out, TensorSlots& arguments, uint32_t unchecked, bool any) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor& t = *arguments[i].tensor;
    ARGAND_CHECK(ValueError, (i < 32 && (unchecked >> i & 1)) || !t.defined() || !overlap(out, t, any), op,
                 ": unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                 "single memory location. Please clone() the tensor before performing the operation.");
  }
}

}  // namespace argand::exec
