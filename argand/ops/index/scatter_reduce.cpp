// scatter_reduce, and its forms scatter and index_reduce: several elements may have one position.
#include <limits>
#include <memory>

#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/index/element_index.h"
#include "argand/ops/index/slots.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

enum class Meet { kSum, kProd, kMean, kAmax, kAmin };

Meet meet_of(const char* op, const std::string& reduce) {
  if (reduce == "sum") return Meet::kSum;
  if (reduce == "prod") return Meet::kProd;
  if (reduce == "mean") return Meet::kMean;
  if (reduce == "amax") return Meet::kAmax;
  ARGAND_CHECK(ValueError, reduce == "amin", op, ": reduce argument must be either sum, prod, mean, amax or amin, got ",
               reduce);
  return Meet::kAmin;
}

template <class T>
T neutral(Meet meet) {
  if (meet == Meet::kSum || meet == Meet::kMean) return T(0);
  if (meet == Meet::kProd) return T(1);
  if constexpr (is_complex_v<T>) {
    return T(0);
  } else {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) return meet == Meet::kAmax ? -Limits::infinity() : Limits::infinity();
    return meet == Meet::kAmax ? Limits::lowest() : Limits::max();
  }
}

template <class T>
T combined(Meet meet, T a, T b) {
  if (meet == Meet::kSum || meet == Meet::kMean) return static_cast<T>(a + b);
  if (meet == Meet::kProd) return static_cast<T>(a * b);
  if constexpr (is_complex_v<T>) {
    return a;
  } else {
    if (a != a) return a;  // NaN stays
    if (b != b) return b;
    return meet == Meet::kAmax ? std::max(a, b) : std::min(a, b);
  }
}

template <class T>
T divided(T sum, int64_t count) {
  if constexpr (is_complex_v<T>) {
    return sum / static_cast<typename T::value_type>(count);
  } else if constexpr (std::is_integral_v<T>) {
    const auto s = static_cast<int64_t>(sum);  // NOLINT(bugprone-signed-char-misuse): a number
    const int64_t q = s / count;
    return static_cast<T>(q - (s % count < 0 ? 1 : 0));  // rounded down
  } else {
    return sum / static_cast<T>(count);
  }
}

Scalar neutral_of(Meet meet, ScalarType type) {
  Scalar out;
  dispatch<kAllTypes>(type, "scatter_reduce", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_same_v<op_math_t<T>, T>, T, float>;
    out = Scalar(neutral<A>(meet));
  });
  return out;
}

// The type in which elements of `type` are combined on a device.
ScalarType type_to_combine(ScalarType type, Meet meet) {
  if (meet == Meet::kMean && !is_complex(type)) return is_floating_point(type) ? op_math_type(type) : kLong;
  const bool ordered = meet == Meet::kAmax || meet == Meet::kAmin;
  return ordered && element_size(type) == 1 ? kInt : type;  // there are no atomic operations on bytes
}

// The means of elements of `from`, and, if include_self, of what is in `out`.
void mean_on_device(Tensor& out, const Tensor& slots, const Tensor& from, bool include_self) {
  const ScalarType type = from.dtype();
  const Tensor sums = include_self ? exec::dense_clone(out, type) : zeros(out.sizes(), from.options());
  const Tensor met = full(out.sizes(), include_self ? 1 : 0, from.options().dtype(kLong));
  blocks::add_at.on(out.device())(sums.impl().data(), out.numel(), type, numbers_in(slots), slots.numel(),
                                  from.impl().data(), static_cast<int64_t*>(met.impl().data()));
  const Tensor count = include_self ? met : met.clamp_min(1);
  const Tensor means = is_integral(type) ? sums.div(count, "floor") : sums / count;
  exec::copy_elements(out, include_self ? means : where(met == 0, out.to(type), means));
}

// Writes to `out` at the end only: until then, the device may refuse the call.
void combine_on_device(Tensor& out, const Tensor& slots, const Tensor& src, Meet meet, bool include_self) {
  const ScalarType type = type_to_combine(out.dtype(), meet);
  const Tensor from = src.to(type);
  if (meet == Meet::kMean) return mean_on_device(out, slots, from, include_self);
  const bool in_place = type == out.dtype() && include_self;
  const Tensor to = in_place ? out : exec::dense_clone(out, type);
  const int64_t* at = numbers_in(slots);
  const int64_t size = to.numel(), n = slots.numel();
  if (!include_self) {
    const Tensor neutral = full(slots.sizes(), neutral_of(meet, out.dtype()), to.options());
    blocks::put_rows.on(to.device())(to.impl().data(), {1, size, 1}, element_size(type), at, n, neutral.impl().data());
  }
  if (meet == Meet::kSum) {
    blocks::add_at.on(to.device())(to.impl().data(), size, type, at, n, from.impl().data(), nullptr);
  } else {
    const Combine how = meet == Meet::kProd   ? Combine::kProduct
                        : meet == Meet::kAmax ? Combine::kGreatest
                                              : Combine::kLeast;
    blocks::combine_at.on(to.device())(how, to.impl().data(), size, type, at, n, from.impl().data());
  }
  if (!in_place) exec::copy_elements(out, to);
}

// The part of src that index covers.
Tensor part_of(const Tensor& src, IntArrayRef sizes) {
  Tensor part = src;
  for (int64_t d = 0; d < std::min<int64_t>(src.dim(), static_cast<int64_t>(sizes.size())); ++d)
    if (part.sizes()[d] != sizes[d]) part = part.narrow(d, 0, sizes[d]);
  return part.reshape(sizes);
}

// The same values; their gradient is an error.
class NoSecondDerivative final : public autograd::Node {
 public:
  static Tensor of(const Tensor& t) {
    const Tensor out = exec::alias(t);
    const intrusive_ptr<autograd::Node> node(new NoSecondDerivative);
    node->next_edges() = {gradient_edge(t)};
    AutogradMeta& meta = autograd_meta(out);
    meta.output_nr = node->add_input(out);
    meta.grad_fn = node;
    return out;
  }
  std::string name() const override { return "Error"; }
  Grads apply(Grads) override {
    ARGAND_THROW(GradError, "scatter_reduce: Double backward is unsupported for src when more than one zero in src is ",
                 "scattered to the same position in self");
  }
};

// The gradient of an element that shares its position with others: for a product, the product of the others.
Tensor grad_of_product(const Tensor& g, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       bool include_self, const Tensor& result) {
  const Tensor zero = (src == 0).logical_or(src.isnan());  // for these, the quotient does not give the gradient
  const Tensor zeros_met = zeros_like(self).scatter_add(dim, index, zero.to(self.dtype())).gather(dim, index);
  const Tensor only_zero = zero.logical_and(zeros_met == 1);
  const Tensor without = self.scatter_reduce(dim, index, src.masked_fill(only_zero, 1), "prod", include_self);
  const Tensor out = where(only_zero, (g * without.conj()).gather(dim, index),
                           (g * result.conj()).gather(dim, index) / src.masked_fill(zero, 1).conj());
  // Where another factor is zero too, this formula for the product of the others has no derivative.
  const bool several = out.requires_grad() && zero.logical_and(zeros_met != 1).any().item<bool>();
  return several ? NoSecondDerivative::of(out) : out;
}

}  // namespace

struct ScatterReduce : Kernel<ScatterReduceArgs> {
  static constexpr auto schema =
      "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "The elements src[i][j] that meet in self[index[i][j]][j] (dim 0; likewise for others), and what is there if "
      "include_self, as their sum, prod, mean, amax or amin.";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "scatter_reduce");
    const Meet meet = meet_of("scatter_reduce", a.reduce);
    check_element_index("scatter_reduce", a.self, "self", a.index, dim, false);
    check_element_index("scatter_reduce", a.src, "src", a.index, dim, true);
    ARGAND_CHECK(DtypeError, a.src.dtype() == a.self.dtype(),
                 "scatter_reduce: Expected self.dtype to be equal to src.dtype, got ", a.self.dtype(), " and ",
                 a.src.dtype());
    const bool ordered = meet == Meet::kAmax || meet == Meet::kAmin;
    ARGAND_CHECK(DtypeError, !(ordered && a.self.is_complex()) && !(meet == Meet::kMean && a.self.dtype() == kBool),
                 "scatter_reduce: ", a.reduce, " is not implemented for dtype ", a.self.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "scatter_reduce");
    const Tensor index = checked_index("scatter_reduce", a.index, size_at(out, dim), dim);
    const Tensor src = corner(a.src, index);
    const Meet meet = meet_of("scatter_reduce", a.reduce);
    if (!out.is_cpu()) {
      if (index.numel() > 0) combine_on_device(out, slots_in(out, index, dim), src, meet, a.include_self);
      return;
    }
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(out, dim), n = out.numel();
    const auto each = [&](auto f) {
      for_each_index(index, out, dim, false, [&](int64_t i, int64_t offset, int64_t stride, int64_t length) {
        for (int64_t k = 0; k < length; ++k) f(offset + k * stride + at[i + k] * step, i + k);
      });
    };
    const bool is_long = size_at(index, dim) > kShortSum && index.numel() >= kShortSum * n;
    dispatch<kAllTypes>(out.dtype(), "scatter_reduce", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(src);
      T* to = raw<T>(out);
      const auto reduce = [&](auto zero) {
        using A = decltype(zero);
        const std::unique_ptr<A[]> sums(new A[static_cast<size_t>(n)]);
        for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<A>(static_cast<op_math_t<T>>(to[i]));
        if (!a.include_self) each([&](int64_t slot, int64_t) { sums[slot] = neutral<A>(meet); });
        each([&](int64_t slot, int64_t i) {
          sums[slot] = combined<A>(meet, sums[slot], static_cast<A>(static_cast<op_math_t<T>>(from[i])));
        });
        if (meet == Meet::kMean) {
          std::vector<int64_t> counts(static_cast<size_t>(n), a.include_self ? 1 : 0);
          each([&](int64_t slot, int64_t) { ++counts[static_cast<size_t>(slot)]; });
          for (int64_t i = 0; i < n; ++i)
            sums[i] = divided<A>(sums[i], std::max<int64_t>(1, counts[static_cast<size_t>(i)]));
        }
        for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(static_cast<op_math_t<T>>(sums[i]));
      };
      if constexpr (!std::is_same_v<long_sum_t<T>, op_math_t<T>>) {
        if (is_long) return reduce(long_sum_t<T>{});
      }
      reduce(op_math_t<T>{});
    });
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    const Meet meet = meet_of("scatter_reduce", c.reduce);
    Tensor to_self = g, to_src;
    const Tensor src = part_of(c.src, c.index.sizes());
    if (meet == Meet::kSum) {
      to_src = g.gather(c.dim, c.index);
    } else if (meet == Meet::kMean) {
      const TensorOptions counts = g.options().dtype(to_real_type(g.dtype()));
      const Tensor met =
          full(g.sizes(), c.include_self ? 1 : 0, counts).scatter_add(c.dim, c.index, ones(c.index.sizes(), counts));
      to_self = g / met.clamp_min(1);
      to_src = to_self.gather(c.dim, c.index);
    } else if (meet == Meet::kProd) {
      const Tensor zero = c.self == 0, others = c.self.masked_fill(zero, 1);
      to_self = g * (others.scatter_reduce(c.dim, c.index, src, "prod", c.include_self) / others).conj();
      to_src = grad_of_product(g, c.self, c.dim, c.index, src, c.include_self, c.result());
    } else {
      // If NaNs are at a position, they are its maximum and minimum and share the gradient.
      const auto is_result = [&](const Tensor& t, const Tensor& result) {
        return (t == result).logical_or(t.isnan().logical_and(result.isnan())).to(g.dtype());
      };
      const Tensor here = is_result(c.self, c.result());
      const Tensor there = is_result(src, c.result().gather(c.dim, c.index));
      const Tensor each = g / here.scatter_add(c.dim, c.index, there);
      to_self = here * each;
      to_src = there * each.gather(c.dim, c.index);
    }
    if (!c.include_self) to_self = to_self.scatter(c.dim, c.index, 0);
    return {to_self, {}, grad_of_source(to_src, c.sizes(kSrc))};
  }
  static void samples(S& s) {
    for (const std::string reduce : {"sum", "prod", "mean", "amax", "amin"}) {
      // Integer means are rounded down, but the test rounds towards 0.
      const auto values = [&](IntArrayRef sizes) { return reduce == "mean" ? s->positive(sizes) : s->real(sizes); };
      for (const bool include_self : {true, false})
        s.add({values({3, 4}), 1, s->integer({3, 2}, 0, 4), values({3, 2}), reduce, include_self});
      s.add({values({3, 4}), 0, s->integer({5, 3}, 0, 3), values({6, 4}), reduce});
    }
    s.add({s->real({}), 0, s->integer({}, 0, 1), s->real({}), "sum"});
    s.add_without_gradient({s->real({3}), 0, s->integer({9000}, 0, 3), s->real({9000}), "sum"});  // a GPU's tiles
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5), s->real({3, 2}), "sum"},
            "scatter_reduce: index 4 is out of bounds for dimension 1 with size 4");
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->real({2}), "max"},
            "scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got max");
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->integer({2}, 0, 3), "sum"},
            "scatter_reduce: Expected self.dtype to be equal to src.dtype");
  }
};
ARGAND_OP(ScatterReduce)

namespace {

// The older names: add and multiply.
const char* reduce_named(const std::string& name) {
  if (name == "add") return "sum";
  ARGAND_CHECK(ValueError, name == "multiply", "scatter: reduce argument must be either add or multiply, got ", name);
  return "prod";
}

Tensor value_for(const Tensor& self, const Tensor& index, const Scalar& value) {
  return full(index.sizes(), value, self.options());
}

// Expands index along dim to an index for each element of source.
Tensor index_of_elements(const char* op, const Tensor& self, int64_t given, const Tensor& index, const Tensor& source,
                         const std::string& reduce) {
  ARGAND_CHECK(ValueError, reduce != "sum", op, ": reduce argument must be either prod, mean, amax or amin, got sum");
  const int64_t dim = wrap_dim(given, self.dim(), op);
  ARGAND_CHECK(ShapeError, index.dim() <= 1, op, ": Index is supposed to be a vector, but got dim: ", index.dim());
  ARGAND_CHECK(ShapeError, source.dim() == self.dim() && size_at(source, dim) == index.numel(), op,
               ": expected source with ", index.numel(), " slices along dimension ", dim, " and ", self.dim(),
               " dimensions, got ", source.sizes());
  Dims sizes(static_cast<size_t>(std::max<int64_t>(source.dim(), 1)), 1);
  sizes[dim] = index.numel();
  return source.dim() == 0 ? index.reshape({}) : index.reshape(sizes).expand(source.sizes());
}

}  // namespace

struct ScatterSrcReduce : Composite<ScatterSrcReduceArgs> {
  static constexpr auto schema =
      "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "scatter_reduce, with reduce add or multiply.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return a.self.scatter_reduce(a.dim, a.index, a.src, reduce_named(a.reduce)); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({3, 2}), "add"});
    s.add({s->real({3, 4}), 0, s->integer({3, 2}, 0, 3), s->real({3, 2}), "multiply"});
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->real({2}), "sum"},
            "scatter: reduce argument must be either add or multiply, got sum");
  }
};
ARGAND_OP(ScatterSrcReduce)

struct ScatterSrcReduceInplace : Composite<ScatterSrcReduceInplaceArgs> {
  static constexpr auto schema =
      "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)";
  static constexpr auto doc = "scatter_reduce_, with reduce add or multiply.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return a.self.scatter_reduce_(a.dim, a.index, a.src, reduce_named(a.reduce)); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({3, 2}), "add"});
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->real({2}), "sum"},
            "scatter: reduce argument must be either add or multiply, got sum");
  }
};
ARGAND_OP(ScatterSrcReduceInplace)

struct ScatterValueReduce : Composite<ScatterValueReduceArgs> {
  static constexpr auto schema =
      "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "One number added to, or multiplied with, each element that an index points to.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    return a.self.scatter_reduce(a.dim, a.index, value_for(a.self, a.index, a.value), reduce_named(a.reduce));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), 2, "multiply"});
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), 2, "sum"},
            "scatter: reduce argument must be either add or multiply, got sum");
  }
};
ARGAND_OP(ScatterValueReduce)

struct ScatterValueReduceInplace : Composite<ScatterValueReduceInplaceArgs> {
  static constexpr auto schema =
      "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)";
  static constexpr auto doc = "One number added to, or multiplied with, each element that an index points to.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    return a.self.scatter_reduce_(a.dim, a.index, value_for(a.self, a.index, a.value), reduce_named(a.reduce));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), 2, "add"});
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), 2, "sum"},
            "scatter: reduce argument must be either add or multiply, got sum");
  }
};
ARGAND_OP(ScatterValueReduceInplace)

struct IndexReduce : Composite<IndexReduceArgs> {
  static constexpr auto schema =
      "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "scatter_reduce of whole slices along dim: prod, mean, amax or amin.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    const Tensor at = index_of_elements("index_reduce", a.self, a.dim, a.index, a.source, a.reduce);
    return a.self.scatter_reduce(a.dim, at, a.source, a.reduce, a.include_self);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), 0, s->integer({5}, 0, 4), s->real({5, 3}), "amax"});
    s.add({s->positive({2, 3}), 1, s->integer({2}, 0, 3), s->positive({2, 2}), "mean", false});
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->real({2}), "sum"},
            "index_reduce: reduce argument must be either prod, mean, amax or amin, got sum");
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->real({3}), "prod"},
            "index_reduce: expected source with 2 slices");
  }
};
ARGAND_OP(IndexReduce)
ARGAND_NODE(IndexReduce)

struct IndexReduceInplace : Composite<IndexReduceInplaceArgs> {
  static constexpr auto schema =
      "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
      "Tensor(a!)";
  static constexpr auto doc = "scatter_reduce_ of whole slices along dim: prod, mean, amax or amin.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    const Tensor at = index_of_elements("index_reduce_", a.self, a.dim, a.index, a.source, a.reduce);
    return a.self.scatter_reduce_(a.dim, at, a.source, a.reduce, a.include_self);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), 0, s->integer({5}, 0, 4), s->real({5, 3}), "amin"});
    s.fails({s->real({3}), 0, s->integer({2}, 0, 3), s->real({2}), "sum"},
            "index_reduce_: reduce argument must be either prod, mean, amax or amin, got sum");
  }
};
ARGAND_OP(IndexReduceInplace)

}  // namespace argand::ops
