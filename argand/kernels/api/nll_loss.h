// The negative log likelihood of class indices, and the total of losses with class weights.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// loss = -w[t] x[t] for the target t of each place, w the class weights (1 without them); 0 where it is `ignore_index`.
struct NllLossCall {
  ScalarType type;         // of input, weight and gradients: any floating type
  const void* input;       // [outer, classes, inner]
  const int64_t* targets;  // [outer, inner]; in range or ignore_index
  const void* weight;      // [classes], or null
  int64_t outer, classes, inner, ignore_index;
};

// For each place its loss and w[t] (0 if ignored), in the arithmetic type.
using RunNllLoss = void(const NllLossCall& call, void* losses, void* weights);

// The gradient of the input (`call.input` is not read): grad[place], or grad[0] if grad_stride is 0, times -w[t], over
// *total_weight unless that is null.
using RunNllLossBackward = void(const NllLossCall& call, const void* grad, int64_t grad_stride,
                                const void* total_weight, void* out);

// *total = sum(weights); *loss = sum(losses), over *total if `mean`, unless `loss` is null.
struct TotalLossCall {
  ScalarType type;  // of losses and weights: float, double
  const void *losses, *weights;
  int64_t n;
  bool mean;
  void* loss;
  ScalarType loss_type;
  void* total;
  ScalarType total_type;
};
using RunTotalLoss = void(const TotalLossCall& call);

}  // namespace argand
