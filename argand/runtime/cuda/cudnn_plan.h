// How cuDNN computes a problem: a graph of operations, and the engine chosen for it.
#pragma once

#if ARGAND_CUDNN

#include <optional>

#include "argand/core/dtype.h"
#include "argand/runtime/cuda/cudnn_descriptor.h"

namespace argand::cuda::cudnn {

// A plan, with all that it refers to.
struct Plan {
  std::vector<Descriptor> parts;
  std::vector<Descriptor> engine, config;
  std::vector<Descriptor> plan;  // one or none
  int64_t workspace = 0;
};

int64_t alignment(const void* p);  // capped at what matters to engines
cudnnDataType_t type_of(ScalarType t);

using Sizes = std::vector<int64_t>;
// A tensor in the caller's memory or, without an alignment, one that exists only within the engine.
Descriptor tensor(int64_t id, cudnnDataType_t type, const Sizes& dims, const Sizes& strides,
                  std::optional<int64_t> alignment = {});

// y = what(x, b), or of x alone; kSelect is t ? x : b.
struct Pointwise {
  cudnnPointwiseMode_t mode;
  cudnnDataType_t compute;
  const Descriptor &x, &y;
  const Descriptor *b = nullptr, *t = nullptr;
  std::optional<int64_t> axis = {};  // of an index
};
Descriptor pointwise(const Pointwise& p, std::vector<Descriptor>& parts);

Descriptor graph_of(cudnnHandle_t handle, const std::vector<Descriptor>& operations);

// A plan for the graph; `plan` is empty if there is no engine.  `parts` are the descriptors that the graph refers to.
// The first engine that is offered, is deterministic and computes in the precision asked for; those that are compiled
// when first used cost a second and come last.
Plan first_plan(cudnnHandle_t handle, Descriptor graph, ScalarType dtype, std::vector<Descriptor> parts);
// The same engine with the same knobs as `plan` for another graph, if it needs no more workspace.
Plan same_plan(cudnnHandle_t handle, Descriptor graph, const Plan& plan, std::vector<Descriptor> parts);

}  // namespace argand::cuda::cudnn

#endif
