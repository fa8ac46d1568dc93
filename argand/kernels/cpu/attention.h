// softmax(scale * Q K^T + mask) V without the matrix of weights: blocks of queries meet blocks of keys, with a running
// maximum and sum for each query ("online softmax", Milakov and Gimelshein 2018; "FlashAttention", Dao et al. 2022).
//
// Results are the same bits for any number of threads.  Throws OutOfMemoryError.
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cpu {

// Tensors of `type` (float or double), [batch, heads, rows, columns]; strides in elements, a mask may repeat with 0.
struct AttentionOperand {
  const void* data = nullptr;
  std::array<int64_t, 4> strides{};
};

struct Attention {
  ScalarType type;
  int64_t batch, heads, queries, keys, width, value_width;
  double scale;
  bool causal;  // query i sees keys 0 ... i
  AttentionOperand query, key, value;
  AttentionOperand mask;  // added to the scores [batch, heads, queries, keys]; no data: none
};

// out [batch, heads, queries, value_width] and, for each query, the logarithm of the sum of its exponentials
// [batch, heads, queries], both contiguous.  A query that sees no key gives zeros and minus infinity.
void attention(const Attention& a, void* out, void* logsumexp);

// The gradients of query, key and value, contiguous, from the gradient of `out` and what the forward pass gave, all
// contiguous.
struct AttentionBackward {
  const void *grad_out, *out, *logsumexp;
  void *grad_query, *grad_key, *grad_value;
};
void attention_backward(const Attention& a, const AttentionBackward& b);

}  // namespace argand::cpu
