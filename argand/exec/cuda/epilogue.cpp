#include "argand/exec/cuda/epilogue.h"

#include <algorithm>

#include "argand/core/dtype.h"
#include "argand/core/shape.h"
#include "argand/runtime/cuda/stream_tapes.h"

namespace argand::exec {
namespace {

bool is_zero(const char* scalar, ScalarType compute) {
  return std::all_of(scalar, scalar + element_size(compute), [](char c) { return c == 0; });
}

}  // namespace

bool becomes_epilogue(PointwiseProgram& p) {
  if (p.steps.size() != 1) return false;
  const ProgramStep& step = p.steps[0];
  const bool backward = step.body->kind == BodyKind::kThresholdBackward;
  if (!backward && step.body->kind != BodyKind::kRelu) return false;
  const ProgramValue &in = p.values[static_cast<size_t>(step.ins[0])], &out = p.values[static_cast<size_t>(step.out)];
  const ProgramValue* mask = backward ? &p.values[static_cast<size_t>(step.ins[1])] : nullptr;
  if (backward && !is_zero(step.scalars, step.compute)) return false;
  for (const ProgramValue* v : {&in, &out, mask ? mask : &in})
    if (v->number || !v->memory || v->dtype != in.dtype || v->strides != Dims{1}) return false;
  const auto put = [&](void* to, bool keep) {
    return cuda::put_epilogue(
        {in.memory, numel_of(p.sizes), in.dtype, {to, mask ? mask->memory : nullptr, keep && to != in.memory}});
  };
  // The memory of the kernel's result can always be written; new memory may be memory that the kernel reads.
  p.moved = p.may_move && put(in.memory, false);
  return p.moved || put(out.memory, !in.dies);
}

}  // namespace argand::exec
