// Convolution and attention by cuDNN's graph API on the current stream of the current device.
//
// The engine is the first one that cuDNN's heuristics offer for the problem and that is deterministic and computes in
// the precision asked for: float32 products are not rounded to TF32 unless that is allowed (core/float32_precision.h).
// So the same call gives the same bits.  A library built without cuDNN has none.
//
// A relu that follows a forward convolution with a bias becomes its epilogue (Note [Epilogues]): the same engine with
// the same knobs computes it, with the same bits as the op.
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cuda {

enum class ConvKind { kForward, kInputGrad, kWeightGrad };

// x [n, c, in], w [o, c / groups, kernel], y [n, o, out], contiguous or all with their channels last; fewer than three
// spatial dimensions have leading sizes of one.  One of the addresses is that of the result, for kInputGrad x and so
// on; the other two are read.
struct ConvProblem {
  ConvKind kind;
  ScalarType dtype;
  int64_t n, c, o, groups;
  std::array<int64_t, 3> in, out, kernel, stride, padding, dilation;
  bool channels_last;
  const void *x, *w, *y;
  const void* bias = nullptr;  // [o], of kForward
};

// softmax(scale * query key^T) value and the logarithms of the sums of exponentials [batch, heads, queries], which are
// packed.  Operands are [batch, heads, rows, columns] with a stride of 1 in the last dimension.
struct AttentionProblem {
  struct Operand {
    const void* data;
    std::array<int64_t, 3> strides;
  };
  ScalarType dtype;
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
  bool causal;
  float scale;
  Operand query, key, value, out;
  const void* logsumexp;
};

int loaded_cudnn_version();  // 91900 is 9.19; 0 without cuDNN

// Whether cuDNN is there and may be used (argand/core/cudnn_enabled.h), and this is no dry run.
bool has_cudnn();
// Returns false, and does nothing, if there is no engine for it.
bool cudnn_convolution(const ConvProblem& p);
bool cudnn_attention(const AttentionProblem& p);

}  // namespace argand::cuda
