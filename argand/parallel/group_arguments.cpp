#include "argand/parallel/group_arguments.h"

#include <utility>

#include "argand/ops/functions.h"

namespace argand::parallel {

std::vector<Tensor> equal_parts(const Tensor& flat, int size) {
  const int64_t length = flat.numel() / size;
  std::vector<Tensor> parts;
  for (int r = 0; r < size; ++r) parts.push_back(flat.slice(0, r * length, (r + 1) * length));
  return parts;
}

void GroupArguments::check_rank(const char* call, const char* name, int rank) const {
  ARGAND_CHECK(ValueError, rank >= 0 && rank < size_, call, ": expected ", name, " to be a rank of the group, 0 to ",
               size_ - 1, ", got ", rank);
}

void GroupArguments::check_tensors(const char* call, const std::vector<Tensor>& tensors, std::optional<ReduceOp> op) {
  ARGAND_CHECK(ValueError, !tensors.empty(), call, ": expected at least one tensor");
  for (const Tensor& t : tensors) {
    ARGAND_CHECK(ValueError, t.defined(), call, ": expected a tensor, got an undefined one");
    ARGAND_CHECK(NotImplementedError, !t.is_meta(), call, ": a meta tensor has no values to send");
    if (op) check_dtype(call, *op, t.dtype());
  }
}

void GroupArguments::check_lists(const char* call, const char* name, const std::vector<Tensor>& list,
                                 const Tensor& other) const {
  ARGAND_CHECK(ValueError, static_cast<int>(list.size()) == size_, call, ": expected ", size_, " ", name,
               ", one for each rank, got ", list.size());
  check_tensors(call, list);
  check_tensors(call, {other});
  for (const Tensor& t : list)
    ARGAND_CHECK(DtypeError, t.dtype() == other.dtype(), call, ": expected all tensors to be ", other.dtype(), ", got ",
                 t.dtype());
}

void GroupArguments::check_same(const char* call, const char* name, const Tensor& of_list, const Tensor& other) {
  ARGAND_CHECK(ShapeError, of_list.numel() == other.numel(), call, ": expected ", name, " to have ", other.numel(),
               " elements, got ", of_list.sizes());
}

void GroupArguments::check_root_list(const char* call, const char* name, const std::vector<Tensor>& list,
                                     const Tensor& other, int root) const {
  if (rank_ != root) {
    ARGAND_CHECK(ValueError, list.empty(), call, ": expected no ", name, " on rank ", rank_, ": only rank ", root,
                 " has them");
    return;
  }
  check_lists(call, name, list, other);
  for (const Tensor& t : list) check_same(call, "each tensor", t, other);
}

void GroupArguments::check_parts(const char* call, const char* whole_name, const Tensor& whole, const char* part_name,
                                 const Tensor& part) const {
  ARGAND_CHECK(ShapeError, whole.numel() == part.numel() * size_, call, ": expected ", whole_name, " to have ", size_,
               " times the elements of ", part_name, ", got sizes ", whole.sizes(), " and ", part.sizes());
  ARGAND_CHECK(DtypeError, whole.dtype() == part.dtype(), call, ": expected ", whole_name, " and ", part_name,
               " to have one dtype, got ", whole.dtype(), " and ", part.dtype());
}

std::vector<Tensor> Rows::of(const Tensor& flat) const {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t end : ends) parts.push_back(flat.slice(0, std::exchange(begin, end), end));
  return parts;
}

Rows GroupArguments::rows_of(const char* name, const Tensor& tensor, const std::vector<int64_t>& splits) const {
  const int64_t rows = tensor.dim() > 0 ? tensor.size(0) : 1;
  const int64_t row = rows > 0 ? tensor.numel() / rows : 0;
  Rows found;
  if (splits.empty()) {
    ARGAND_CHECK(ShapeError, rows % size_ == 0, "all_to_all_single: expected the size of ", name,
                 " in dimension 0 to be a multiple of ", size_, ", got sizes ", tensor.sizes());
    for (int r = 1; r <= size_; ++r) found.ends.push_back(tensor.numel() / size_ * r);
    return found;
  }
  ARGAND_CHECK(ValueError, static_cast<int>(splits.size()) == size_, "all_to_all_single: expected ", size_, " ", name,
               " split sizes, got ", splits.size());
  int64_t begin = 0;
  for (const int64_t n : splits) {
    ARGAND_CHECK(ValueError, n >= 0 && n <= rows - begin, "all_to_all_single: expected the ", name,
                 " split sizes to sum to ", rows, ", got ", IntArrayRef(splits));
    begin += n;
    found.ends.push_back(begin * row);
  }
  ARGAND_CHECK(ValueError, begin == rows, "all_to_all_single: expected the ", name, " split sizes to sum to ", rows,
               ", got ", IntArrayRef(splits));
  return found;
}

}  // namespace argand::parallel
