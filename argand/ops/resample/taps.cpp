#include "argand/ops/resample/taps.h"

#include <algorithm>
#include <cmath>

#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::ops {
namespace {

Taps empty_taps(int64_t out, size_t count, bool weighted) {
  Taps t{out, {}, {}};
  t.index.assign(count, std::vector<int64_t>(static_cast<size_t>(out)));
  if (weighted) t.weight.assign(count, std::vector<double>(static_cast<size_t>(out)));
  return t;
}

// Input elements per element of the result.
template <class T>
T step_of(const Positions& p) {
  if (p.align_corners) return p.out > 1 ? static_cast<T>(p.in - 1) / static_cast<T>(p.out - 1) : T(0);
  if (p.scale && *p.scale > 0) return static_cast<T>(1 / *p.scale);
  return static_cast<T>(p.in) / static_cast<T>(p.out);
}

// Where the middle of element i of the result lies, in elements of the input.
template <class T>
T position(const Positions& p, T step, int64_t i) {
  return p.align_corners ? step * static_cast<T>(i) : step * (static_cast<T>(i) + T(0.5)) - T(0.5);
}

template <class T>
Taps linear(const Positions& p) {
  Taps taps = empty_taps(p.out, 2, true);
  const T step = step_of<T>(p);
  for (int64_t i = 0; i < p.out; ++i) {
    const auto at = static_cast<size_t>(i);
    const T x = std::max(position(p, step, i), T(0));
    const int64_t first = std::min(static_cast<int64_t>(x), p.in - 1);
    const T part = std::clamp(x - static_cast<T>(first), T(0), T(1));
    taps.index[0][at] = first;
    taps.index[1][at] = std::min(first + 1, p.in - 1);
    taps.weight[0][at] = static_cast<double>(T(1) - part);
    taps.weight[1][at] = static_cast<double>(part);
  }
  return taps;
}

// The cubic convolution kernel of Keys (1981) with parameter a, at distance x >= 0.
template <class T>
T keys_kernel(T x, T a) {
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

template <class T>
Taps cubic(const Positions& p) {
  constexpr T kA = T(-0.75);
  Taps taps = empty_taps(p.out, 4, true);
  const T step = step_of<T>(p);
  for (int64_t i = 0; i < p.out; ++i) {
    const T x = position(p, step, i), first = std::floor(x), part = x - first;
    const T distance[] = {part + 1, part, 1 - part, 2 - part};
    for (size_t k = 0; k < 4; ++k) {
      taps.index[k][static_cast<size_t>(i)] =
          std::clamp<int64_t>(static_cast<int64_t>(first) - 1 + static_cast<int64_t>(k), 0, p.in - 1);
      taps.weight[k][static_cast<size_t>(i)] = static_cast<double>(keys_kernel(distance[k], kA));
    }
  }
  return taps;
}

template <class T>
Taps antialias(const Positions& p, bool is_cubic) {
  const T step = step_of<T>(p), stretch = std::max(step, T(1)), support = (is_cubic ? T(2) : T(1)) * stretch;
  const auto most = static_cast<size_t>(std::ceil(support)) * 2 + 1;
  Taps taps = empty_taps(p.out, most, true);
  for (int64_t i = 0; i < p.out; ++i) {
    const T center = step * (static_cast<T>(i) + T(0.5));
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(center - support + T(0.5)), 0),
                  end = std::min<int64_t>(static_cast<int64_t>(center + support + T(0.5)), p.in);
    T total = 0;
    std::vector<T> weights;
    for (int64_t j = begin; j < end; ++j) {
      const T x = std::abs((static_cast<T>(j) - center + T(0.5)) / stretch);
      weights.push_back(is_cubic ? keys_kernel(x, T(-0.5)) : std::max(T(1) - x, T(0)));
      total += weights.back();
    }
    for (size_t k = 0; k < most; ++k) {
      const bool inside = k < weights.size();
      taps.index[k][static_cast<size_t>(i)] = std::clamp<int64_t>(begin + static_cast<int64_t>(k), 0, p.in - 1);
      taps.weight[k][static_cast<size_t>(i)] = inside && total != 0 ? static_cast<double>(weights[k] / total) : 0;
    }
  }
  return taps;
}

template <class E>
Tensor vector_of(const std::vector<E>& values, ScalarType dtype, const Device& device) {
  const Tensor t = exec::new_tensor({{static_cast<int64_t>(values.size())}, scalar_type_v<E>}, kCPU);
  std::copy(values.begin(), values.end(), raw<E>(t));
  return t.to(TensorOptions(device).dtype(dtype));
}

}  // namespace

Taps nearest_taps(const Positions& p, bool exact) {
  Taps taps = empty_taps(p.out, 1, false);
  const auto step = step_of<float>(p);
  for (int64_t i = 0; i < p.out; ++i) {
    const float x = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    int64_t at = std::min(static_cast<int64_t>(x), p.in - 1);
    if (!exact && p.out == p.in) at = i;
    if (!exact && p.out == 2 * p.in) at = i / 2;
    taps.index[0][static_cast<size_t>(i)] = at;
  }
  return taps;
}

Taps linear_taps(const Positions& p, bool single) { return single ? linear<float>(p) : linear<double>(p); }
Taps cubic_taps(const Positions& p, bool single) { return single ? cubic<float>(p) : cubic<double>(p); }
Taps antialias_taps(const Positions& p, bool single, bool cubic) {
  return single ? antialias<float>(p, cubic) : antialias<double>(p, cubic);
}

Tensor resample(const Tensor& t, int64_t dim, const Taps& taps) {
  const Device device = t.device();
  const ScalarType type = op_math_type(t.dtype());
  Dims along(static_cast<size_t>(t.dim()), 1);
  along[static_cast<size_t>(dim)] = taps.out;
  Tensor sum;
  for (size_t k = 0; k < taps.index.size(); ++k) {
    const Tensor rows = t.index_select(dim, vector_of(taps.index[k], kLong, device));
    if (taps.weight.empty()) return rows;
    const Tensor part = rows * vector_of(taps.weight[k], type, device).view(along);
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

}  // namespace argand::ops
