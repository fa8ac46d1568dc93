// Attention on the CPU (kernels/api/attention.h): scores of a block of queries and keys in scratch memory.  Throws
// OutOfMemoryError.
#pragma once
#include "argand/kernels/api/attention.h"

namespace argand::cpu {

TakesAttention takes_attention;
RunAttention attention;
RunAttentionBackward attention_backward;

}  // namespace argand::cpu
