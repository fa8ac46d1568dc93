#include "argand/exec/overlap.h"

namespace argand::exec {
namespace {

// Whether the elements fill the memory from the first to the last.
bool is_dense(const Tensor& t) {
  if (t.is_contiguous()) return true;
  int64_t span = 1;
  for (size_t d = 0; d < t.sizes().size(); ++d) span += (t.sizes()[d] - 1) * t.strides()[d];
  return span == t.numel() && !may_overlap_itself(t.sizes(), t.strides());
}

bool overlap(const Tensor& a, const Tensor& b, bool any) {
  if (a.storage().get() != b.storage().get() || a.numel() == 0 || b.numel() == 0) return false;
  if (a.is_same(b)) return any;
  const int64_t from_a = a.storage_offset() * a.itemsize(), from_b = b.storage_offset() * b.itemsize();
  const int64_t to_a = from_a + a.numel() * a.itemsize(), to_b = from_b + b.numel() * b.itemsize();
  if (from_a >= to_b || from_b >= to_a || !is_dense(a) || !is_dense(b)) return false;
  return any || from_a != from_b || to_a != to_b || a.strides() != b.strides();
}

}  // namespace

void check_overlap(PermanentName op, const Tensor& out, TensorSlots& arguments, bool any) {
  for (const TensorSlot& s : arguments)
    ARGAND_CHECK(ValueError, !s.tensor->defined() || !overlap(out, *s.tensor, any), op,
                 ": unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                 "single memory location. Please clone() the tensor before performing the operation.");
}

}  // namespace argand::exec
