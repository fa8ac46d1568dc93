#include "argand/exec/cuda/one_order.h"

#include <algorithm>
#include <list>

#include "argand/core/shape.h"
#include "argand/exec/copy.h"
#include "argand/exec/cuda/run_program.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::exec {
namespace {

// Note [One order]
// A kernel accesses its first result in memory order.  If neighbours in this order are far apart in an operand, each
// element costs a whole sector of memory, which takes several times as long as two more passes.  So such an input is
// first copied by tiles (kernels/cuda/transposed_copy.h) into this order, and such a result is copied out of it
// afterwards.

constexpr int64_t kWorthwhile = 1 << 20;  // elements; fewer stay in cache meanwhile
constexpr int64_t kLeastSide = 4;

bool lies_otherwise(const PointwiseProgram& p, const ProgramValue& v) {
  if (!v.memory || v.number || v.load == v.store || v.strides.back() <= 1 || p.sizes.back() < kLeastSide) return false;
  int64_t dense = 0;
  for (size_t d = 0; d < p.sizes.size(); ++d) {
    if (v.strides[d] == 0) return false;
    if (v.strides[d] == 1) dense = p.sizes[d];
  }
  return dense >= kLeastSide &&
         std::count_if(p.values.begin(), p.values.end(), [&](const auto& o) { return o.memory == v.memory; }) == 1;
}

void copy(const Dims& sizes, ProgramValue from, ProgramValue to) {
  from.load = to.store = true;
  from.store = to.load = from.dies = to.dies = false;
  PointwiseProgram p;
  p.sizes = sizes;
  ProgramStep step;
  step.body = &copy_body();
  step.compute = compute_type(to.dtype);
  step.ins.push_back(0);
  step.out = 1;
  p.values = {std::move(from), std::move(to)};
  p.steps.push_back(step);
  run_on_gpu(p);
}

}  // namespace

bool run_in_one_order(const PointwiseProgram& p) {
  const int64_t n = numel_of(p.sizes);
  if (n < kWorthwhile || p.sizes.size() < 2 || (p.steps.size() == 1 && p.steps[0].body == &copy_body())) return false;
  std::list<cuda::Scratch> memory;
  PointwiseProgram ordered = p;
  ordered.may_move = false;
  SmallVector<size_t, 8> others;
  try {
    for (size_t v = 0; v < p.values.size(); ++v) {
      if (!lies_otherwise(p, p.values[v])) continue;
      others.push_back(v);
      ordered.values[v].memory = memory.emplace_back(n * element_size(p.values[v].dtype)).data();
      ordered.values[v].strides = contiguous_strides(p.sizes);
    }
  } catch (const OutOfMemoryError&) {
    return false;
  }
  if (others.empty()) return false;
  for (const size_t v : others)
    if (p.values[v].load) copy(p.sizes, p.values[v], ordered.values[v]);
  const std::vector<ProgramValue> made = ordered.values;
  const Dims sizes = p.sizes;
  run_on_gpu(ordered);
  for (const size_t v : others)
    if (p.values[v].store) copy(sizes, made[v], p.values[v]);
  return true;
}

}  // namespace argand::exec
