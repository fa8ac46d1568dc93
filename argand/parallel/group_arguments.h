// Checks of the arguments of collectives.  Each throws an error that says what was expected, and what was given.
#pragma once
#include <optional>
#include <vector>

#include "argand/parallel/reduce_op.h"

namespace argand::parallel {

std::vector<Tensor> equal_parts(const Tensor& flat, int size);

// Parts of a flat tensor: the end of each part.
struct Rows {
  std::vector<int64_t> ends;
  std::vector<Tensor> of(const Tensor& flat) const;
};

class GroupArguments {
 protected:
  GroupArguments(int rank, int size) : rank_(rank), size_(size) {}

  void check_rank(const char* call, const char* name, int rank) const;
  static void check_tensors(const char* call, const std::vector<Tensor>& tensors, std::optional<ReduceOp> op = {});
  void check_lists(const char* call, const char* name, const std::vector<Tensor>& list, const Tensor& other) const;
  static void check_same(const char* call, const char* name, const Tensor& of_list, const Tensor& other);
  // The root has a tensor for each rank, the others none.
  void check_root_list(const char* call, const char* name, const std::vector<Tensor>& list, const Tensor& other,
                       int root) const;
  void check_parts(const char* call, const char* whole_name, const Tensor& whole, const char* part_name,
                   const Tensor& part) const;
  // The rows along dimension 0 that go to each rank, or come from it; empty `splits`: equal parts.
  Rows rows_of(const char* name, const Tensor& tensor, const std::vector<int64_t>& splits) const;

  const int rank_, size_;  // in the group
};

}  // namespace argand::parallel
