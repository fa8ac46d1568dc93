// Attention on the CPU (kernels/attention.h): scores of a block of queries and keys in scratch memory.  Throws
// OutOfMemoryError.
#pragma once
#include "argand/kernels/attention.h"

namespace argand::cpu {

bool takes_attention(ScalarType type, int64_t width, int64_t value_width);
void attention(const Attention& call, const AttentionForward& forward);
void attention_backward(const Attention& call, const AttentionBackward& backward);

}  // namespace argand::cpu
