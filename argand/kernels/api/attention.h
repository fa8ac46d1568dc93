// softmax(scale * Q K^T + mask) V without the matrix of weights, as one call: blocks::attention and its gradient.
//
// Blocks of queries are combined with blocks of keys, with a running maximum and sum for each query ("online softmax",
// Milakov and Gimelshein 2018; "FlashAttention", Dao et al. 2022).  Results are the same bits every time.
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"
#include "argand/core/generator.h"

namespace argand {

// [batch, heads, rows, columns].  Strides count elements; the last one is 1, except for the mask.
template <class Pointer>
struct AttentionArray {
  Pointer data = nullptr;
  std::array<int64_t, 4> strides{};
};
using AttentionOperand = AttentionArray<const void*>;
using AttentionResult = AttentionArray<void*>;

struct Attention {
  ScalarType type;  // of all arrays without a type of their own; on the CPU float or double
  int64_t batch, heads, queries, keys, width, value_width;
  int64_t kv_heads;  // of key and value; a divisor of heads: each serves heads / kv_heads
  double scale;
  bool causal;  // query i sees keys 0 ... i
  AttentionOperand query, key, value;
  // The mask of the scores [batch, heads, queries, keys], broadcast by strides of 0: bool, true for scores that take
  // part, or `type`, added to the scores.  No data: no mask.
  AttentionOperand mask;
  ScalarType mask_type;
  int64_t mask_columns;  // how many elements of each row of the mask there are in memory: `keys` or more
  double dropout;        // the probability that a weight becomes 0; on the CPU it must be 0
  // [2] int64: the state of the generator, for `dropout`.  The forward pass writes it.
  void* random_state;
};

// A query that sees no key gives zeros and, as the logarithm of the sum of its exponentials, minus infinity.
struct AttentionForward {
  AttentionResult out;  // [batch, heads, queries, value_width]
  void* logsumexp;      // [batch, heads, queries], contiguous, of the arithmetic type: float for float16 and bfloat16
  GeneratorImpl* generator;  // for `dropout`
};

struct AttentionBackward {
  AttentionOperand grad_out, out;
  const void* logsumexp;
  AttentionResult grad_query, grad_key, grad_value;
  void* numbers;  // room for twice what logsumexp takes, on a GPU
};

// Whether a device has kernels for this type and these widths.
using TakesAttention = bool(ScalarType type, int64_t width, int64_t value_width);
using RunAttention = void(const Attention& call, const AttentionForward& forward);
using RunAttentionBackward = void(const Attention& call, const AttentionBackward& backward);

}  // namespace argand
