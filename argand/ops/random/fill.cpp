// Random values over a tensor: uniform_, normal_, random_, bernoulli_, exponential_, geometric_, cauchy_, log_normal_.
// The streams are PyTorch's: argand/kernels/cpu/random.h.
#include <cmath>
#include <limits>

#include "argand/base/log.h"
#include "argand/kernels/cpu/random.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/random/args.h"
#include "argand/ops/random/draw.h"

namespace argand::ops {
namespace {

TensorMeta meta_of_self(const Tensor& self) { return {self.impl().sizes, self.dtype()}; }

// The largest integer up to which all integers are exact.
int64_t largest(ScalarType t) {
  return dispatch<kRealTypes>(t, "random_", [](auto tag) -> int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, Half>)
      return int64_t{1} << 11;
    else if constexpr (std::is_same_v<T, BFloat16>)
      return int64_t{1} << 8;
    else if constexpr (std::is_floating_point_v<T>)
      return int64_t{1} << std::numeric_limits<T>::digits;
    else
      return static_cast<int64_t>(std::numeric_limits<T>::max());
  });
}

// The range of random_ without bounds.
Draw full_range(ScalarType t) {
  const bool wide = t == kLong || t == kDouble;
  return {Draw::kIntegers, 0, 0, 0, static_cast<uint64_t>(largest(t)) + 1, wide};
}

}  // namespace

struct UniformInplace : Kernel<UniformInplaceArgs> {
  static constexpr auto schema =
      "uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "Samples from [from, to).";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kFloatingTypes | kComplexTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.from <= a.to, "uniform_ expects to return a [from, to) range, but found from=", a.from,
                 " > to=", a.to);
    const double most = largest_finite(a.self.dtype());
    ARGAND_CHECK(ValueError, std::abs(a.from) <= most, "uniform_: from is out of bounds for ", a.self.dtype(), ", got ",
                 a.from);
    ARGAND_CHECK(ValueError, std::abs(a.to) <= most, "uniform_: to is out of bounds for ", a.self.dtype(), ", got ",
                 a.to);
    ARGAND_CHECK(ValueError, a.to - a.from <= most, "uniform_ expects to-from <= ", most, ", the greatest number of ",
                 a.self.dtype(), ", but found to=", a.to, " and from=", a.from);
    return meta_of_self(a.self);
  }
  static double largest_finite(ScalarType type) {
    switch (to_real_type(type)) {
      case kHalf:
        return 65504;
      case kBFloat16:
        return std::ldexp(255, 120);
      case kFloat:
        return std::numeric_limits<float>::max();
      default:
        return std::numeric_limits<double>::max();
    }
  }
  static void run(const Args& a, Tensor& out) { draw_uniform(out, a.from, a.to, a.generator); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.fails({s->real({2}), 1, 0}, "uniform_ expects to return a [from, to) range, but found from=1 > to=0");
    s.fails({s->integer({2}, 0, 2)}, "uniform_: not implemented for dtype int64");
  }
};
ARGAND_OP(UniformInplace)

struct NormalInplace : Kernel<NormalInplaceArgs> {
  static constexpr auto schema =
      "normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc =
      "Samples of the normal distribution; for a complex tensor std belongs to both parts together, mean to each.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kFloatingTypes | kComplexTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.std >= 0, "normal expects std >= 0.0, but found std ", a.std);
    return meta_of_self(a.self);
  }
  static void run(const Args& a, Tensor& out) { draw_normal(out, a.mean, a.std, a.generator); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.fails({s->real({2}), 0, -1}, "normal expects std >= 0.0, but found std -1");
    s.fails({s->integer({2}, 0, 2)}, "normal_: not implemented for dtype int64");
  }
};
ARGAND_OP(NormalInplace)

struct RandomInplace : Kernel<RandomInplaceArgs> {
  static constexpr auto schema =
      "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr const char* overloads[] = {
      "random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)"};
  static constexpr auto doc = "Integers of [from, to); without `to`, up to the largest that the dtype holds exactly.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kRealTypes;
  static TensorMeta infer(const Args& a) {
    if (a.to) {
      check_integer_range("random_", a.from, *a.to, a.self.dtype());
      warn_of_gaps(a.from, "from", a.self.dtype());
      warn_of_gaps(*a.to - 1, "to - 1", a.self.dtype());
    } else {
      ARGAND_CHECK(ValueError, a.from <= largest(a.self.dtype()), "random_: from is out of bounds for ", a.self.dtype(),
                   ", got ", a.from);
    }
    return meta_of_self(a.self);
  }
  // Beyond these not every integer is a number of the dtype.
  static void warn_of_gaps(int64_t value, const char* name, ScalarType type) {
    if (is_integral(type) || type == kBool) return;
    const int digits = integer_digits(type);
    if (value < -(int64_t{1} << digits) || value > int64_t{1} << digits)
      warn(name, " is out of bounds [-(2^", digits, "), 2^", digits, "]. Due to precision limitations ", type,
           " can support discrete uniform distribution only within this range.");
  }
  static void run(const Args& a, Tensor& out) {
    if (a.to) return draw_between(out, a.from, *a.to, a.generator);
    const int64_t from = first_drawn(a.from, out.dtype());
    // All of int64 wraps to 0, which is how the kernel wants it.
    const uint64_t range = static_cast<uint64_t>(largest(out.dtype())) - static_cast<uint64_t>(from) + 1;
    draw_integers(out, from, range, a.generator);
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.fails({s->real({2}), 3, 3}, "random_ expects 'from' to be less than 'to', but got from=3 >= to=3");
    s.fails({s->boolean({2}), 0, 3}, "random_: to - 1 is out of bounds for bool, got 2");
  }
};
ARGAND_OP(RandomInplace)

struct RandomFullInplace : Kernel<RandomFullInplaceArgs> {
  static constexpr auto schema = "random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc =
      "Integers from 0 to the dtype's largest; for floating dtypes, to the largest below which all are exact.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kRealTypes;
  static TensorMeta infer(const Args& a) { return meta_of_self(a.self); }
  static void run(const Args& a, Tensor& out) {
    fill_in_memory_order(out, [&](const Tensor& t) {
      if (!t.is_cpu()) return draw_on_device(t, full_range(t.dtype()), a.generator);
      dispatch<kRealTypes>(t.dtype(), "random_", [&](auto tag) {
        cpu::random_full(generator_of(a.generator), raw<typename decltype(tag)::type>(t), t.numel());
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
};
ARGAND_OP(RandomFullInplace)

struct BernoulliInplace : Kernel<BernoulliInplaceArgs> {
  static constexpr auto schema =
      "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "1 with probability p, else 0.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kRealTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.p >= 0 && a.p <= 1, "bernoulli_: expects p to be in [0, 1], but got p=", a.p);
    return meta_of_self(a.self);
  }
  static void run(const Args& a, Tensor& out) {
    fill_in_memory_order(out, [&](const Tensor& t) {
      if (!t.is_cpu()) return draw_on_device(t, {Draw::kBernoulli, a.p}, a.generator);
      dispatch<kRealTypes>(t.dtype(), "bernoulli_", [&](auto tag) {
        cpu::bernoulli(generator_of(a.generator), raw<typename decltype(tag)::type>(t), t.numel(), a.p);
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) { s.fails({s->real({2}), 1.5}, "bernoulli_: expects p to be in [0, 1], but got p=1.5"); }
};
ARGAND_OP(BernoulliInplace)

struct BernoulliTensorInplace : Kernel<BernoulliTensorInplaceArgs> {
  static constexpr auto schema =
      "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "1 with the probability at the same place of p (floating, broadcast), else 0.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kRealTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(DtypeError, a.p.is_floating_point(),
                 "bernoulli_: expects probabilities tensor to have floating type, got ", a.p.dtype());
    return {broadcast_shapes(a.self.sizes(), a.p.sizes(), "bernoulli_"), a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    fill(out, a.p.expand(out.sizes()), a.generator);
  }
  static void fill(const Tensor& out, const Tensor& p, const std::optional<Generator>& g) {
    Dims sizes, strides;
    for (const int64_t d : memory_order(out)) {
      sizes.push_back(p.sizes()[d]);
      strides.push_back(p.strides()[d]);
    }
    const Tensor chances = exec::dense(exec::alias(p, sizes, strides, p.storage_offset()));
    if (!out.is_cpu()) {
      const Tensor q = exec::dense(chances, out.dtype() == kDouble ? kDouble : kFloat);
      return fill_in_memory_order(out, [&](const Tensor& t) {
        draw_on_device(t, {Draw::kBernoulli, 0, 0, 0, 0, false, q.impl().data()}, g);
      });
    }
    dispatch<kFloatingTypes>(p.dtype(), "bernoulli_", [&](auto chance) {
      using P = typename decltype(chance)::type;
      const P* q = raw<P>(chances);
      for (int64_t i = 0; i < chances.numel(); ++i)
        ARGAND_CHECK(ValueError, static_cast<double>(q[i]) >= 0 && static_cast<double>(q[i]) <= 1,
                     "bernoulli_: expects p to be in [0, 1], but got p=", static_cast<double>(q[i]));
      fill_in_memory_order(out, [&](const Tensor& t) {
        dispatch<kRealTypes>(t.dtype(), "bernoulli_", [&](auto tag) {
          cpu::bernoulli(generator_of(g), raw<typename decltype(tag)::type>(t), q, t.numel());
        });
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static Tensor grad_p(const Ctx& c, const Tensor& g) { return zeros(c.sizes(kP), g.options()); }
  static void samples(S& s) {
    s.fails({s->real({2}), s->integer({2}, 0, 2)},
            "bernoulli_: expects probabilities tensor to have floating type, got int64");
    s.fails({s->real({2}), s->real({2}, 2, 3)}, "bernoulli_: expects p to be in [0, 1], but got p=");
    s.fails({s->real({2}), s->real({3})}, "bernoulli_: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(BernoulliTensorInplace)

struct ExponentialInplace : Kernel<ExponentialInplaceArgs> {
  static constexpr auto schema =
      "exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "Samples of the exponential distribution with rate lambd.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.lambd > 0, "exponential_: expects lambda > 0.0, but found lambda=", a.lambd);
    return meta_of_self(a.self);
  }
  static void run(const Args& a, Tensor& out) {
    fill_in_memory_order(out, [&](const Tensor& t) {
      if (!t.is_cpu()) return draw_on_device(t, {Draw::kExponential, a.lambd}, a.generator);
      dispatch<kFloatingTypes>(t.dtype(), "exponential_", [&](auto tag) {
        cpu::exponential(generator_of(a.generator), raw<typename decltype(tag)::type>(t), t.numel(), a.lambd);
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) { s.fails({s->real({2}), 0}, "exponential_: expects lambda > 0.0, but found lambda=0"); }
};
ARGAND_OP(ExponentialInplace)

struct GeometricInplace : Kernel<GeometricInplaceArgs> {
  static constexpr auto schema = "geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "How many trials of success probability p it takes until the first success.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kFloatingTypes | kIntTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.p > 0 && a.p < 1, "geometric_: expects p to be in (0, 1), but got p=", a.p);
    return meta_of_self(a.self);
  }
  static void run(const Args& a, Tensor& out) {
    fill_in_memory_order(out, [&](const Tensor& t) {
      if (!t.is_cpu()) return draw_on_device(t, {Draw::kGeometric, a.p}, a.generator);
      dispatch<kFloatingTypes | kIntTypes>(t.dtype(), "geometric_", [&](auto tag) {
        cpu::geometric(generator_of(a.generator), raw<typename decltype(tag)::type>(t), t.numel(), a.p);
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) { s.fails({s->real({2}), 1}, "geometric_: expects p to be in (0, 1), but got p=1"); }
};
ARGAND_OP(GeometricInplace)

struct CauchyInplace : Kernel<CauchyInplaceArgs> {
  static constexpr auto schema =
      "cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "Samples of the Cauchy distribution.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.sigma > 0, "cauchy_: expects sigma > 0.0, but found sigma=", a.sigma);
    return meta_of_self(a.self);
  }
  static void run(const Args& a, Tensor& out) {
    fill_in_memory_order(out, [&](const Tensor& t) {
      if (!t.is_cpu()) return draw_on_device(t, {Draw::kCauchy, a.median, a.sigma}, a.generator);
      dispatch<kFloatingTypes>(t.dtype(), "cauchy_", [&](auto tag) {
        cpu::cauchy(generator_of(a.generator), raw<typename decltype(tag)::type>(t), t.numel(), a.median, a.sigma);
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) { s.fails({s->real({2}), 0, 0}, "cauchy_: expects sigma > 0.0, but found sigma=0"); }
};
ARGAND_OP(CauchyInplace)

struct LogNormalInplace : Kernel<LogNormalInplaceArgs> {
  static constexpr auto schema =
      "log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)";
  static constexpr auto doc = "The exponential of normal samples.";
  static constexpr bool starts_from_self = true, writes_strided = true;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.std > 0, "log_normal_ expects std > 0.0, but found std=", a.std);
    return meta_of_self(a.self);
  }
  static void run(const Args& a, Tensor& out) {
    fill_in_memory_order(out, [&](const Tensor& t) {
      if (!t.is_cpu()) return draw_on_device(t, {Draw::kLogNormal, a.mean, a.std}, a.generator);
      dispatch<kFloatingTypes>(t.dtype(), "log_normal_", [&](auto tag) {
        cpu::log_normal(generator_of(a.generator), raw<typename decltype(tag)::type>(t), t.numel(), a.mean, a.std);
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) { s.fails({s->real({2}), 0, 0}, "log_normal_ expects std > 0.0, but found std=0"); }
};
ARGAND_OP(LogNormalInplace)

}  // namespace argand::ops
