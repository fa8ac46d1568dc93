// Cross entropy of rows of logits with class indices, in one pass over the logits forward and one backward.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cpu {

// loss = (1 - smoothing) w[t] (-log p[t]) + smoothing / C sum_c w[c] (-log p[c]) with p = softmax(row), t the target
// and w the class weights (1 without them); 0 for a row whose target is `ignore_index`.
struct CrossEntropy {
  ScalarType type;         // of logits and gradients: any floating type
  const void* logits;      // [rows, classes]
  const int64_t* targets;  // in range or ignore_index
  const void* weight;      // [classes] of the arithmetic type (float for float16 and bfloat16), or null
  int64_t rows, classes, ignore_index;
  double smoothing;
};

// For each row: its loss, w[t] (0 if ignored) and log(sum(exp(logits))), in the arithmetic type.
void cross_entropy(const CrossEntropy& call, void* losses, void* weights, void* log_sums);

// The gradient of the logits.  `scales`: the gradient of each row's loss, or one for all with scale_stride 0, divided
// by *total_weight unless that is null.
void cross_entropy_backward(const CrossEntropy& call, const void* log_sums, const void* scales, int64_t scale_stride,
                            const void* total_weight, void* out);

// Per row, the factor of softmax in the gradient: (1 - smoothing) w[t] + smoothing / C sum_c w[c]; 0 if ignored.
void cross_entropy_softmax_factors(const CrossEntropy& call, void* factors);

// The first target that is neither in [0, classes) nor `ignore_index`: its position, or -1.
int64_t find_bad_target(const int64_t* targets, int64_t n, int64_t classes, int64_t ignore_index);

}  // namespace argand::cpu
