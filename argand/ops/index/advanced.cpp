#include "argand/ops/index/advanced.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/cpu/runs.h"
#include "argand/ops/index/bounds.h"

namespace argand::ops {

IndexedShape::IndexedShape(const char* op, const Tensor& self, const std::vector<Tensor>& indices) {
  ARGAND_CHECK(IndexError, static_cast<int64_t>(indices.size()) <= self.dim(), op,
               ": too many indices for tensor of dimension ", self.dim(), " (got ", indices.size(), ")");
  std::string shapes;
  bool broadcasts = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].defined()) continue;
    const ScalarType type = indices[i].dtype();
    ARGAND_CHECK(IndexError, type == kLong || type == kInt, op,
                 ": tensors used as indices must be long, int, byte or bool tensors, got ", type);
    indexed.push_back(static_cast<int64_t>(i));
    append(shapes, indices[i].sizes());
    shapes += ", ";
    try {
      if (broadcasts) index_sizes = broadcast_shapes(index_sizes, indices[i].sizes(), op);
    } catch (const ShapeError&) {
      broadcasts = false;
    }
  }
  ARGAND_CHECK(IndexError, !indexed.empty(), op, ": expected at least one index tensor");
  ARGAND_CHECK(IndexError, broadcasts, op,
               ": shape mismatch: indexing tensors could not be broadcast together with shapes ",
               shapes.substr(0, shapes.size() - 2));
  const bool neighbours = indexed.back() - indexed.front() + 1 == static_cast<int64_t>(indexed.size());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (std::find(indexed.begin(), indexed.end(), d) != indexed.end()) continue;
    (neighbours && d < indexed.front() ? before : after).push_back(d);
  }
  for (const int64_t d : before) result.push_back(self.sizes()[d]);
  result.insert_all(index_sizes);
  for (const int64_t d : after) result.push_back(self.sizes()[d]);
}

IndexedPlan::IndexedPlan(const char* op, const Tensor& self, const std::vector<Tensor>& indices)
    : IndexedShape(op, self, indices) {
  pick.assign(static_cast<size_t>(numel_of(index_sizes)), 0);
  for (const int64_t d : indexed) {
    const Tensor& index = indices[static_cast<size_t>(d)];
    // Checked before it is broadcast: an index into an empty dimension is an error even if the result is empty...
    // unless there is no index at all.
    const Tensor checked = checked_index(op, index, self.sizes()[d], d, true);
    const int64_t* p = raw<int64_t>(checked);
    const int64_t stride = self.strides()[d];
    const Dims strides = expanded_strides(checked.sizes(), checked.strides(), index_sizes);
    int64_t* to = pick.data();
    if (pick.empty()) continue;
    cpu::for_each_run(index_sizes, strides, 0, static_cast<int64_t>(pick.size()),
                      [&](int64_t offset, int64_t step, int64_t length) {
                        for (int64_t k = 0; k < length; ++k) *to++ += p[offset + k * step] * stride;
                      });
  }
  Dims outer_sizes, outer_strides;
  for (const int64_t d : before) {
    outer_sizes.push_back(self.sizes()[d]);
    outer_strides.push_back(self.strides()[d]);
  }
  const int64_t count = numel_of(outer_sizes);
  if (count > 0) {
    outer.reserve(static_cast<size_t>(count));
    cpu::for_each_run(outer_sizes, outer_strides, 0, count, [&](int64_t offset, int64_t step, int64_t length) {
      for (int64_t k = 0; k < length; ++k) outer.push_back(offset + k * step);
    });
  }
  for (const int64_t d : after) {
    inner_sizes.push_back(self.sizes()[d]);
    inner_strides.push_back(self.strides()[d]);
  }
  inner = numel_of(inner_sizes);
  inner_is_block = is_contiguous(inner_sizes, inner_strides);
}

}  // namespace argand::ops
