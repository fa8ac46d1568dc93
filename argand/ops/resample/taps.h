// Interpolation along one dimension: each element of the result is a weighted sum of a few elements of the input.
#pragma once
#include <optional>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::ops {

// Element i of the result is the sum over k of weight[k][i] * input[index[k][i]].  Without weights: one tap of
// weight 1.
struct Taps {
  int64_t out;
  std::vector<std::vector<int64_t>> index;
  std::vector<std::vector<double>> weight;
};

// How the positions of a result of `out` elements lie over an input of `in` elements; `scale` is out / in as the user
// gave it, if he did, which may differ from it by rounding.
struct Positions {
  int64_t in, out;
  bool align_corners;  // the first and last elements of both lie on each other, instead of the edges
  std::optional<double> scale;
};

Taps nearest_taps(const Positions& p, bool exact);
// `single`: positions are computed in float32, as PyTorch does for all dtypes but float64.
Taps linear_taps(const Positions& p, bool single);
Taps cubic_taps(const Positions& p, bool single);
// Where the result is smaller than the input, over as wide a window as the input elements it stands for.
Taps antialias_taps(const Positions& p, bool single, bool cubic);

// `t` resampled along a dimension; floating-point tensors with weights give their arithmetic type.
Tensor resample(const Tensor& t, int64_t dim, const Taps& taps);

}  // namespace argand::ops
