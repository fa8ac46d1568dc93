// Counts of elements by value or interval: bincount, histc.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/sort/args.h"

namespace argand::ops {
namespace {

// On a GPU: for each of `bins` numbers, the sum of `weights` (without: the count) where `index` has it, added in order.
Tensor sums_of(const Tensor& index, const Tensor& weights, int64_t bins) {
  const Tensor added = weights.defined() ? weights : ones({1}, index.options()).expand(index.sizes());
  return zeros({bins}, added.options()).index_add_(0, index, added);
}

}  // namespace

struct Bincount : Kernel<BincountArgs> {
  static constexpr auto schema = "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor";
  static constexpr auto doc =
      "How often each number from 0 to the largest of self (a vector of integers) occurs, or the sum of the weights at "
      "its places, in their order; at least minlength numbers. Sums are float32 for float32 weights, else float64.";
  static constexpr DtypeSet dtypes = kIntTypes;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    check_has_data("bincount", a.self);
    ARGAND_CHECK(ShapeError, a.self.dim() == 1,
                 "bincount: only supports 1-d non-negative integral inputs, got an input of shape ", a.self.sizes());
    ARGAND_CHECK(ValueError, a.minlength >= 0, "bincount: minlength should be >= 0, got ", a.minlength);
    ARGAND_CHECK(ShapeError, !a.weights.defined() || a.weights.sizes() == a.self.sizes(),
                 "bincount: weights should be 1-d and have the same length as input, expected ", a.self.sizes(),
                 ", got ", a.weights.defined() ? a.weights.sizes() : IntArrayRef());
    // Only the kernel finds the number of bins, so it gives the result its size.
    if (!a.weights.defined()) return {{0}, kLong};
    ARGAND_CHECK(DtypeError, !a.weights.is_complex(), "bincount: expected real weights, got ", a.weights.dtype());
    return {{0}, a.weights.dtype() == kFloat ? kFloat : kDouble};
  }
  static void check_number(int64_t number, int64_t position) {
    ARGAND_CHECK(ValueError, number >= 0, "bincount: only supports 1-d non-negative integral inputs, got ", number,
                 " at position ", position);
    ARGAND_CHECK(ValueError, number < std::numeric_limits<int64_t>::max(), "bincount: ", number, " at position ",
                 position, " asks for more bins than there are numbers");
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor in = exec::dense_clone(a.self, kLong);
    if (!in.is_cpu()) return run_on_device(a, in, out);
    const int64_t* p = raw<int64_t>(in);
    int64_t size = a.minlength;
    for (int64_t i = 0; i < in.numel(); ++i) {
      check_number(p[i], i);
      size = std::max(size, p[i] + 1);
    }
    exec::resize_output(out, {size});
    const Tensor weights = a.weights.defined() ? exec::dense_clone(a.weights, out.dtype()) : Tensor();
    dispatch<kFloatTypes | dtype_bit(kLong)>(out.dtype(), "bincount", [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;  // many float32 weights may be added
      const T* w = weights.defined() ? raw<T>(weights) : nullptr;
      std::vector<Sum> sums(static_cast<size_t>(size), Sum(0));
      for (int64_t i = 0; i < in.numel(); ++i) sums[static_cast<size_t>(p[i])] += w ? w[i] : T(1);
      std::transform(sums.begin(), sums.end(), raw<T>(out), [](Sum sum) { return static_cast<T>(sum); });
    });
  }
  static void run_on_device(const Args& a, const Tensor& in, const Tensor& out) {
    int64_t size = a.minlength;
    if (in.numel() > 0) {
      for (const auto& [number, position] : {argand::min(in, 0), argand::max(in, 0)}) {
        check_number(number.item().toLong(), position.item().toLong());
        size = std::max(size, number.item().toLong() + 1);
      }
    }
    exec::resize_output(out, {size});
    const Tensor weights = a.weights.defined() ? exec::dense(a.weights, out.dtype()) : Tensor();
    exec::copy_elements(out, sums_of(in, weights, size));
  }
  static void samples(S& s) {
    s.add({s->integer({20}, 0, 6)});
    s.add({s->integer({20}, 0, 6), {}, 9});
    s.add({s->integer({20}, 0, 6), s->real({20})});
    s.add({s->integer({0}, 0, 6), {}, 3});
    s.fails({s->integer({3}, -2, -1)},
            "bincount: only supports 1-d non-negative integral inputs, got -2 at position 0");
    s.fails({s->integer({3, 2}, 0, 3)}, "bincount: only supports 1-d non-negative integral inputs, got an input of");
    s.fails({s->integer({3}, 0, 3), s->real({2})}, "bincount: weights should be 1-d and have the same length as input");
    s.fails({full({1}, std::numeric_limits<int64_t>::max(), kLong)},
            "bincount: 9223372036854775807 at position 0 asks");
    s.fails({s->integer({3}, 0, 3), {}, -1}, "bincount: minlength should be >= 0, got -1");
    s.fails({s->real({3})}, "bincount: not implemented for dtype float64");
  }
};
ARGAND_OP(Bincount)

struct Histc : Kernel<HistcArgs> {
  static constexpr auto schema = "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "How many elements lie in each of `bins` equal parts of [min, max], which is the range of self if min equals "
      "max; "
      "the last part includes max. Elements outside, and NaN, are not counted. Parts of integers are computed in "
      "float64.";
  static constexpr DtypeSet dtypes = kFloatingTypes | kIntTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.bins > 0, "histc: bins must be > 0, but got ", a.bins);
    ARGAND_CHECK(ValueError, a.min.to<double>() <= a.max.to<double>(), "histc: max must be larger than min, got ",
                 a.min.to<double>(), " and ", a.max.to<double>());
    if (a.min.to<double>() != a.max.to<double>())  // otherwise the range of self counts
      for (const Scalar* end : {&a.min, &a.max}) check_fits("histc", end->to<double>(), a.self.dtype());
    return {{a.bins}, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor in = exec::dense(a.self);
    if (!in.is_cpu()) return run_on_device(a, in, out);
    dispatch<dtypes>(in.dtype(), "histc", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const std::vector<int64_t> counts = count_parts(raw<T>(in), in.numel(), a);
      std::transform(counts.begin(), counts.end(), raw<T>(out),
                     [](int64_t count) { return static_cast<T>(static_cast<op_math_t<T>>(count)); });
    });
  }
  // The part that x in [low, high] lies in.  If the formula overflows, halved numbers in another order give it.
  template <class A>
  static int64_t part_of(A x, A low, A high, int64_t bins) {
    const A n = static_cast<A>(bins), place = (x - low) * n / (high - low);
    return static_cast<int64_t>(std::isfinite(place) ? place : (x / 2 - low / 2) / (high / 2 - low / 2) * n);
  }
  // Keeps the given range unless it is empty.
  template <class A>
  static void check_range(A& low, A& high) {
    if (low == high) {
      low -= 1;
      high += 1;
    }
    ARGAND_CHECK(ValueError, std::isfinite(low) && std::isfinite(high), "histc: range of [", low, ", ", high,
                 "] is not finite");
  }
  template <class T>
  static std::vector<int64_t> count_parts(const T* values, int64_t n, const Args& a) {
    using A = std::conditional_t<std::is_integral_v<T>, double, op_math_t<T>>;
    const auto at = [values](int64_t i) { return static_cast<A>(values[i]); };
    A low = a.min.to<A>(), high = a.max.to<A>();
    if (low == high && n > 0) {
      low = high = at(0);
      for (int64_t i = 0; i < n; ++i) {
        low = at(i) < low || std::isnan(at(i)) ? at(i) : low;
        high = at(i) > high || std::isnan(at(i)) ? at(i) : high;
      }
    }
    check_range(low, high);
    std::vector<int64_t> counts(static_cast<size_t>(a.bins), 0);
    for (int64_t i = 0; i < n; ++i) {
      if (!(at(i) >= low && at(i) <= high)) continue;
      ++counts[static_cast<size_t>(std::min(part_of(at(i), low, high, a.bins), a.bins - 1))];
    }
    return counts;
  }
  static void run_on_device(const Args& a, const Tensor& in, const Tensor& out) {
    const ScalarType type = is_integral(in.dtype()) ? kDouble : op_math_type(in.dtype());
    const Tensor x = exec::dense(in, type).reshape({-1});
    dispatch<kFloatTypes>(x.dtype(), "histc", [&](auto tag) {
      using A = typename decltype(tag)::type;
      A low = a.min.to<A>(), high = a.max.to<A>();
      if (low == high && x.numel() > 0) {
        low = x.min().item().to<A>();
        high = x.max().item().to<A>();
      }
      check_range(low, high);
      // As part_of().
      const Tensor place = x.sub(low).mul(a.bins).div(static_cast<A>(high - low)),
                   halves = x.div(2).sub(low / 2).div(static_cast<A>(high / 2 - low / 2)).mul(a.bins);
      const Tensor part = where(place.isfinite(), place, halves).to(kLong).clamp_max(a.bins - 1);
      const Tensor counted = x.ge(low).logical_and(x.le(high));
      // Uncounted elements have a bin of their own.
      const Tensor counts = sums_of(where(counted, part, full({}, a.bins, part.options())), Tensor(), a.bins + 1);
      exec::copy_elements(out, counts.slice(0, 0, a.bins));
    });
  }
  static void samples(S& s) {
    s.add({s->real({5, 7}), 6});
    s.add({s->real({40}), 4, -1, 1.5});
    s.add({s->real({0}), 3});
    s.add({s->integer({30}, 0, 8), 8, 0, 7});
    s.add({s->integer({30}, -5, 9), 4});
    s.fails({s->real({3}), 0}, "histc: bins must be > 0, but got 0");
    s.fails({s->real({3}), 3, 2, 1}, "histc: max must be larger than min, got 2 and 1");
    s.fails({s->real({3}).to(kFloat), 3, 0, 1e39}, "histc: value cannot be converted to type float without overflow");
    s.fails({s->integer({3}, 0, 3).to(kChar), 3, 0, 300},
            "histc: value cannot be converted to type int8_t without overflow");
  }
};
ARGAND_OP(Histc)

}  // namespace argand::ops
