// New tensors of random values: rand, randn, randint, randperm and their *_like forms.
#include "argand/kernels/cpu/random.h"
#include "argand/ops/create/meta.h"
#include "argand/ops/define.h"
#include "argand/ops/random/args.h"
#include "argand/ops/random/draw.h"

namespace argand::ops {
namespace {

void check_floating(const char* op, ScalarType t) {
  ARGAND_CHECK(DtypeError, is_differentiable(t), op, ": not implemented for dtype ", t);
}

}  // namespace

struct Rand : Kernel<RandArgs> {
  static constexpr auto schema =
      "rand.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "rand(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor"};
  static constexpr auto doc = "Samples from [0, 1).";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    check_floating("rand", a.options.dtype());
    return meta_of(Args::kName, a.size, a.options);
  }
  static void run(const Args& a, Tensor& out) { draw_uniform(out, 0, 1, a.generator); }
  static void samples(S& s) {
    s.fails({{2, -1}}, "rand: Trying to create tensor with negative dimension -1: [2, -1]");
    s.fails({{2}, {}, kLong}, "rand: not implemented for dtype int64");
  }
};
ARGAND_OP(Rand)

struct RandLike : Kernel<RandLikeArgs> {
  static constexpr auto schema =
      "rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "As rand, with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const TensorMeta meta = meta_like(a.self, a.options, a.memory_format);
    check_floating("rand_like", meta.dtype);
    return meta;
  }
  static void run(const Args&, Tensor& out) { draw_uniform(out, 0, 1, {}); }
  static void samples(S& s) { s.fails({s->integer({2}, 0, 2)}, "rand_like: not implemented for dtype int64"); }
};
ARGAND_OP(RandLike)

struct Randn : Kernel<RandnArgs> {
  static constexpr auto schema =
      "randn.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "randn(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor"};
  static constexpr auto doc = "Samples of the standard normal distribution.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const TensorMeta meta = meta_of(Args::kName, a.size, a.options);
    if (numel_of(meta.sizes) != 0) check_floating("randn", meta.dtype);
    return meta;
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() != 0) draw_normal(out, 0, 1, a.generator);
  }
  static void samples(S& s) {
    s.fails({{2, -1}}, "randn: Trying to create tensor with negative dimension -1: [2, -1]");
    s.add({{0, 2}, {}, kLong});
    s.fails({{2}, {}, kLong}, "randn: not implemented for dtype int64");
  }
};
ARGAND_OP(Randn)

struct RandnLike : Kernel<RandnLikeArgs> {
  static constexpr auto schema =
      "randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "As randn, with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const TensorMeta meta = meta_like(a.self, a.options, a.memory_format);
    if (numel_of(meta.sizes) != 0) check_floating("randn_like", meta.dtype);
    return meta;
  }
  static void run(const Args&, Tensor& out) {
    if (out.numel() != 0) draw_normal(out, 0, 1, {});
  }
  static void samples(S& s) { s.fails({s->integer({2}, 0, 2)}, "randn_like: not implemented for dtype int64"); }
};
ARGAND_OP(RandnLike)

struct Randint : Kernel<RandintArgs> {
  static constexpr auto schema =
      "randint.low_generator(int low, int high, int[] size, *, Generator? generator, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "randint.low(int low, int high, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor",
      "randint(int high, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor",
      "randint.generator(int high, int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"};
  static constexpr auto doc = "Integers of [low, high), int64 unless another dtype is given.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const ScalarType dtype = a.options.dtype_opt().value_or(kLong);
    check_integer_range("randint", a.low, a.high, dtype);
    return meta_of(Args::kName, a.size, a.options, dtype);
  }
  static void run(const Args& a, Tensor& out) { draw_between(out, a.low, a.high, a.generator); }
  static void samples(S& s) {
    s.fails({3, 3, {2}}, "randint expects 'from' to be less than 'to', but got from=3 >= to=3");
    s.fails({0, 300, {2}, {}, kByte}, "randint: to - 1 is out of bounds for uint8, got 299");
  }
};
ARGAND_OP(Randint)

struct RandintLike : Kernel<RandintLikeArgs> {
  static constexpr auto schema =
      "randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"};
  static constexpr auto doc = "Integers of [low, high) with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const TensorMeta meta = meta_like(a.self, a.options, a.memory_format);
    check_integer_range("randint_like", a.low, a.high, meta.dtype);
    return meta;
  }
  static void run(const Args& a, Tensor& out) { draw_between(out, a.low, a.high, {}); }
  static void samples(S& s) {
    s.fails({s->real({2}), 3, 3}, "randint_like expects 'from' to be less than 'to', but got from=3 >= to=3");
  }
};
ARGAND_OP(RandintLike)

struct Randperm : Kernel<RandpermArgs> {
  static constexpr auto schema =
      "randperm.generator(int n, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "randperm(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor"};
  static constexpr auto doc = "0 to n - 1 in random order, int64 unless another dtype is given.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const ScalarType dtype = a.options.dtype_opt().value_or(kLong);
    ARGAND_CHECK(ValueError, a.n >= 0, "randperm: n must be non-negative, got ", a.n);
    ARGAND_CHECK(DtypeError, dtype != kBool && !is_complex(dtype), "randperm: not implemented for dtype ", dtype);
    if (a.n > 0 && is_integral(dtype)) check_integer_range("randperm", 0, a.n, dtype);
    if (!is_integral(dtype)) {  // not all larger integers are representable
      const int digits = dtype == kHalf ? 11 : dtype == kBFloat16 ? 8 : dtype == kFloat ? 24 : 53;
      ARGAND_CHECK(ValueError, a.n <= (int64_t{1} << digits) + 1, "randperm: n is too large for dtype ", dtype, ": ",
                   a.n);
    }
    return meta_of(Args::kName, {a.n}, a.options, dtype);
  }
  // The last dimension holds one permutation.
  static void run(const Args& a, Tensor& out) {
    fill(out, a.n, a.generator);
  }
  static void fill(const Tensor& out, int64_t n, const std::optional<Generator>& g) {
    if (!out.is_cpu()) {  // the sorting order of random numbers, which are rarely equal
      const Tensor keys = exec::new_tensor({out.impl().sizes, kLong}, out.device());
      draw_integers(keys, 0, 0, g);
      return exec::copy_elements(out, argsort(keys));
    }
    dispatch<kFloatingTypes | kIntTypes>(out.dtype(), "randperm", [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t first = 0; first < std::max<int64_t>(out.numel(), 1); first += std::max<int64_t>(n, 1))
        cpu::randperm(generator_of(g), raw<T>(out) + first, n);
    });
  }
  static void samples(S& s) {
    s.fails({-1}, "randperm: n must be non-negative, got -1");
    s.fails({300, {}, kByte}, "randperm: to - 1 is out of bounds for uint8, got 299");
  }
};
ARGAND_OP(Randperm)

}  // namespace argand::ops
