// Cross entropy of rows of logits with class indices, in one pass over the logits forward and one backward.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// loss = (1 - smoothing) w[t] (-log p[t]) + smoothing / C sum_c w[c] (-log p[c]) with p = softmax(row), t the target
// and w the class weights (1 without them); 0 for a row whose target is `ignore_index`.
struct CrossEntropyCall {
  ScalarType type;         // of logits and gradients: any floating type
  const void* logits;      // [rows, classes]
  const int64_t* targets;  // in range or ignore_index
  const void* weight;      // [classes] of the arithmetic type (float for float16 and bfloat16), or null
  int64_t rows, classes, ignore_index;
  double smoothing;
};

// For each row: its loss, w[t] (0 if ignored) and log(sum(exp(logits))), in the arithmetic type.
using RunCrossEntropy = void(const CrossEntropyCall& call, void* losses, void* weights, void* log_sums);

// The gradient of the logits.  `scales`: the gradient of each row's loss, or one for all with scale_stride 0, divided
// by *total_weight unless that is null.
using RunCrossEntropyBackward = void(const CrossEntropyCall& call, const void* log_sums, const void* scales,
                                     int64_t scale_stride, const void* total_weight, void* out);

// Per row, the factor of softmax in the gradient: (1 - smoothing) w[t] + smoothing / C sum_c w[c]; 0 if ignored.
using RunCrossEntropySoftmaxFactors = void(const CrossEntropyCall& call, void* factors);

}  // namespace argand
