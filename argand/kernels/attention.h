// softmax(scale * Q K^T + mask) V without the matrix of weights, as one call: blocks::attention and its gradient.
//
// Blocks of queries meet blocks of keys, with a running maximum and sum for each query ("online softmax", Milakov and
// Gimelshein 2018; "FlashAttention", Dao et al. 2022).  Results are the same bits every time.
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"
#include "argand/core/generator.h"

namespace argand {

// [batch, heads, rows, columns]; strides in elements, those of operands but the mask's end with 1.
template <class Pointer>
struct AttentionArray {
  Pointer data = nullptr;
  std::array<int64_t, 4> strides{};
};
using AttentionOperand = AttentionArray<const void*>;
using AttentionResult = AttentionArray<void*>;

struct Attention {
  ScalarType type;  // of all arrays that name no other; the CPU has float and double alone
  int64_t batch, heads, queries, keys, width, value_width;
  int64_t kv_heads;  // of key and value; a divisor of heads, of which each serves heads / kv_heads
  double scale;
  bool causal;  // query i sees keys 0 ... i
  AttentionOperand query, key, value;
  // The mask of the scores [batch, heads, queries, keys], broadcast by strides of 0: bool, true for scores that take
  // part, or `type`, added to the scores.  No data: no mask.
  AttentionOperand mask;
  ScalarType mask_type;
  double dropout;  // the chance of a weight to become 0; the CPU has 0 alone
  // [2] int64: where a generator stood, for `dropout`.  The forward pass writes it.
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

// Whether a device has kernels for it.
using TakesAttention = bool(ScalarType type, int64_t width, int64_t value_width);
using RunAttention = void(const Attention& call, const AttentionForward& forward);
using RunAttentionBackward = void(const Attention& call, const AttentionBackward& backward);

}  // namespace argand
