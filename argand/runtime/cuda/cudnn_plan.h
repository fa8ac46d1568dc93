// What cuDNN does for a convolution: its graph, and the engine that is chosen for it.
#pragma once

#if ARGAND_CUDNN

#include "argand/runtime/cuda/cudnn.h"
#include "argand/runtime/cuda/cudnn_descriptor.h"

namespace argand::cuda::cudnn {

// Names of the tensors in a plan.
inline constexpr int64_t kX = 'x', kW = 'w', kY = 'y', kBias = 'b';

// What a plan refers to lives as long as it.
struct Plan {
  std::vector<Descriptor> parts;
  std::vector<Descriptor> engine, config;
  std::vector<Descriptor> plan;  // one or none
  int64_t workspace = 0;
};

int64_t alignment(const void* p);  // up to what matters to engines

// Without a plan in it if there is no engine for the problem.
Plan make_plan(cudnnHandle_t handle, const ConvProblem& p);
// The same engine with the same knobs for the problem with relu; without a plan if it cannot, or not in the workspace.
Plan add_relu(cudnnHandle_t handle, const ConvProblem& p, const Plan& plan);

}  // namespace argand::cuda::cudnn

#endif
