// The inputs of the elements of a resampled dimension: element o is a weighted sum of `count` input elements from
// `first` on, where indices beyond the ends mean the outermost elements.  Compiled for the CPU and, by NVRTC, for GPUs:
// both find the same elements.
#pragma once
#include "argand/kernels/math.h"
#include "argand/kernels/resample_dim.h"

namespace argand {

// Computes these.  A is the type of positions and weights: float for all element types but double, as in PyTorch, and
// always for nearest elements.
template <class A, Filter kFilter>
class Taps {
 public:
  ARGAND_MATH explicit Taps(const ResampledDim& d) : d_(d), step_(step_of(d)) {}

  // Calls start(first, count), and weigh(k, weight) for each k < count unless there is one element of weight 1.
  template <class Start, class Weigh>
  ARGAND_MATH void visit(int64_t o, Start start, Weigh weigh) const {
    if constexpr (is_nearest(kFilter)) {
      start(nearest(o), int64_t{1});
    } else if constexpr (kFilter == Filter::kLinear) {
      const A p = position(o), x = p < A(0) ? A(0) : p;
      const int64_t whole = static_cast<int64_t>(x), first = whole < d_.in - 1 ? whole : d_.in - 1;
      const A rest = x - static_cast<A>(first), part = rest > A(1) ? A(1) : rest;
      start(first, int64_t{2});
      weigh(0, A(1) - part);
      weigh(1, part);
    } else if constexpr (kFilter == Filter::kCubic) {
      constexpr A kA = A(-0.75);
      const A x = position(o), below = math::floor(x), part = x - below;
      start(static_cast<int64_t>(below) - 1, int64_t{4});
      weigh(0, keys(part + 1, kA));
      weigh(1, keys(part, kA));
      weigh(2, keys(1 - part, kA));
      weigh(3, keys(2 - part, kA));
    } else {
      antialias(o, start, weigh);
    }
  }

  // An upper bound of `count` for all elements.
  ARGAND_MATH int64_t most() const {
    if constexpr (is_nearest(kFilter)) return 1;
    if constexpr (kFilter == Filter::kLinear) return 2;
    if constexpr (kFilter == Filter::kCubic) return 4;
    return static_cast<int64_t>(math::ceil(support())) * 2 + 1;
  }

 private:
  ARGAND_MATH static A step_of(const ResampledDim& d) {
    if (d.align_corners) return d.out > 1 ? static_cast<A>(d.in - 1) / static_cast<A>(d.out - 1) : A(0);
    if (d.scale > 0) return static_cast<A>(1 / d.scale);
    return static_cast<A>(d.in) / static_cast<A>(d.out);
  }
  // The centre of element o, in elements of the input.
  ARGAND_MATH A position(int64_t o) const {
    return d_.align_corners ? step_ * static_cast<A>(o) : step_ * (static_cast<A>(o) + A(0.5)) - A(0.5);
  }
  ARGAND_MATH int64_t nearest(int64_t o) const {
    constexpr bool kExact = kFilter == Filter::kNearestExact;
    if (!kExact && d_.out == d_.in) return o;
    if (!kExact && d_.out == 2 * d_.in) return o / 2;
    const int64_t at = static_cast<int64_t>((static_cast<A>(o) + (kExact ? A(0.5) : A(0))) * step_);
    return at < d_.in - 1 ? at : d_.in - 1;
  }
  // The cubic convolution kernel of Keys (1981) with parameter a, at distance x >= 0.
  ARGAND_MATH static A keys(A x, A a) {
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
  }
  // If the result is smaller, the window covers as many input elements as correspond to one element of the result.
  ARGAND_MATH A stretch() const { return step_ > A(1) ? step_ : A(1); }
  ARGAND_MATH A support() const { return (kFilter == Filter::kCubicAntialias ? A(2) : A(1)) * stretch(); }
  ARGAND_MATH A weight_at(int64_t j, A center) const {
    const A x = math::abs((static_cast<A>(j) - center + A(0.5)) / stretch());
    if constexpr (kFilter == Filter::kCubicAntialias) return keys(x, A(-0.5));
    return x < A(1) ? A(1) - x : A(0);
  }
  template <class Start, class Weigh>
  ARGAND_MATH void antialias(int64_t o, Start start, Weigh weigh) const {
    const A center = step_ * (static_cast<A>(o) + A(0.5)), reach = support();
    int64_t begin = static_cast<int64_t>(center - reach + A(0.5)), end = static_cast<int64_t>(center + reach + A(0.5));
    begin = begin < 0 ? 0 : begin;
    end = end > d_.in ? d_.in : end;
    const int64_t count = end > begin ? end - begin : 0;
    A total = 0;
    for (int64_t j = begin; j < end; ++j) total += weight_at(j, center);
    start(begin, count);
    for (int64_t k = 0; k < count; ++k) weigh(k, total != 0 ? weight_at(begin + k, center) / total : A(0));
  }

  ResampledDim d_;
  A step_;
};

}  // namespace argand
