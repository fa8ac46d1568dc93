// gather, scatter, scatter_add, take_along_dim: one index per element, along one dimension.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "argand/base/ignored.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/index/element_index.h"
#include "argand/ops/index/slots.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"

namespace argand::ops {
namespace {

void put(const Tensor& out, const Tensor& index, int64_t dim, const Tensor& src) {
  if (index.numel() == 0) return;
  const Tensor slots = slots_in(out, index, dim);
  blocks::put_rows.on(out.device())(out.impl().data(), {1, out.numel(), 1}, out.itemsize(), numbers_in(slots),
                                    slots.numel(), src.impl().data());
}

}  // namespace

struct Gather : Kernel<GatherArgs> {
  static constexpr auto schema = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "out[i][j] = self[index[i][j]][j] for dim 0, and likewise for others; index is int64, its shape is the result's.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    if (a.sparse_grad) warn_ignored("gather", "sparse_grad", "there are no sparse tensors: the gradient is dense");
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "gather");
    check_element_index("gather", a.self, "input", a.index, dim, false);
    return {a.index.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "gather");
    const Tensor index = checked_index("gather", a.index, size_at(a.self, dim), dim);
    if (!out.is_cpu()) {
      const Tensor from = a.self;
      if (out.numel() > 0)
        blocks::gather_along.on(out.device())(along(index, from, dim), out.itemsize(), from.impl().data(),
                                              numbers_in(index), out.impl().data());
      return;
    }
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(a.self, dim);
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      using T = decltype(block);
      const T* from = raw<T>(a.self);
      T* to = raw<T>(out);
      for_each_index(index, a.self, dim, true, [&](int64_t i, int64_t offset, int64_t stride, int64_t length) {
        const T* p = from + offset;
        for (int64_t k = 0; k < length; ++k) to[i + k] = p[k * stride + at[i + k] * step];
      });
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return zeros(c.sizes(kSelf), g.options()).scatter_add(c.dim, c.index, g);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4)});
    s.add({s->real({3, 4}), 0, s->integer({5, 4}, 0, 3)});
    s.add({s->real({}), 0, s->integer({}, 0, 1)});
    s.add({s->real({}), 0, s->integer({3}, 0, 1)});
    s.add({s->real({4}), 0, s->integer({}, 0, 4)});
    s.add({s->real({5}), 0, s->integer({2, 0}, 0, 1)});
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5)},
            "gather: index 4 is out of bounds for dimension 1 with size 4");
    s.fails({s->real({3, 4}), 1, s->integer({4, 2}, 0, 4)}, "gather: Size does not match at dimension 0");
    s.fails({s->real({3, 4}), 1, s->real({3, 2})}, "gather: expected dtype int64 for index, got float64");
  }
};
ARGAND_OP(Gather)

struct ScatterAdd : Kernel<ScatterAddArgs> {
  static constexpr auto schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Adds src[i][j] to self[index[i][j]][j] (dim 0; likewise for others), in the order of src: deterministic.";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "scatter_add");
    check_element_index("scatter_add", a.self, "self", a.index, dim, false);
    check_element_index("scatter_add", a.src, "src", a.index, dim, true);
    ARGAND_CHECK(DtypeError, a.src.dtype() == a.self.dtype(),
                 "scatter_add: expected self and src to have the same dtype, got ", a.self.dtype(), " and ",
                 a.src.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "scatter_add");
    const Tensor index = checked_index("scatter_add", a.index, size_at(out, dim), dim);
    const Tensor src = corner(a.src, index);
    if (!out.is_cpu()) {
      if (index.numel() == 0) return;
      const Tensor slots = slots_in(out, index, dim);
      return blocks::add_rows.on(out.device())(out.impl().data(), {1, out.numel(), 1}, out.dtype(), numbers_in(slots),
                                               slots.numel(), src.impl().data());
    }
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(out, dim);
    const int64_t most = size_at(index, dim);  // the most elements that can have one position
    dispatch<kAllTypes>(out.dtype(), "scatter_add", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(src);
      const auto add_to = [&](auto* to) {
        using Sum = op_math_t<std::remove_pointer_t<decltype(to)>>;
        for_each_index(index, out, dim, dim != 0, [&](int64_t i, int64_t offset, int64_t stride, int64_t length) {
          auto* p = to + offset;
          for (int64_t k = 0; k < length; ++k) {
            auto& slot = p[k * stride + at[i + k] * step];
            slot = static_cast<std::remove_pointer_t<decltype(to)>>(
                static_cast<Sum>(slot) + static_cast<Sum>(static_cast<op_math_t<T>>(from[i + k])));
          }
        });
      };
      using Sum = long_sum_t<T>;
      constexpr bool kRounds = !std::is_same_v<op_math_t<T>, T>;
      const bool is_long = most > kShortSum && index.numel() >= kShortSum * out.numel();
      if (kRounds && most > 1 && index.numel() < out.numel() / 64)
        add_sorted(raw<T>(out), from, slots_on_cpu(out, index, dim));
      else if (kRounds ? most > 1 : !std::is_same_v<Sum, T> && is_long)
        through_sums<Sum>(raw<T>(out), out.numel(), add_to);
      else
        add_to(raw<T>(out));
    });
  }
  using Slots = std::vector<std::pair<int64_t, int64_t>>;  // places in the result, and in index
  static Slots slots_on_cpu(const Tensor& out, const Tensor& index, int64_t dim) {
    Slots slots(static_cast<size_t>(index.numel()));
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(out, dim);
    for_each_index(index, out, dim, false, [&](int64_t i, int64_t offset, int64_t stride, int64_t length) {
      for (int64_t k = i; k < i + length; ++k)
        slots[static_cast<size_t>(k)] = {offset + (k - i) * stride + at[k] * step, k};
    });
    std::sort(slots.begin(), slots.end());
    return slots;
  }
  // For few elements: each sum is rounded once, when all of it is there.
  template <class T>
  static void add_sorted(T* to, const T* from, const Slots& slots) {
    using Sum = op_math_t<T>;
    for (size_t k = 0; k < slots.size();) {
      T& slot = to[slots[k].first];
      auto sum = static_cast<Sum>(slot);
      for (const int64_t same = slots[k].first; k < slots.size() && slots[k].first == same; ++k)
        sum = static_cast<Sum>(sum + static_cast<Sum>(from[slots[k].second]));
      slot = static_cast<T>(sum);
    }
  }
  // add_to() for copies of the elements that are not rounded after each addition.
  template <class Sum, class T, class AddTo>
  static void through_sums(T* to, int64_t n, AddTo add_to) {
    const std::unique_ptr<Sum[]> sums(new Sum[static_cast<size_t>(n)]);
    const auto each = [n](auto copy) {
      parallel_for(0, n, kElementIndexGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) copy(i);
      });
    };
    each([&](int64_t i) { sums[i] = static_cast<Sum>(static_cast<op_math_t<T>>(to[i])); });
    add_to(sums.get());
    each([&](int64_t i) { to[i] = static_cast<T>(static_cast<op_math_t<T>>(sums[i])); });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_src(const Ctx& c, const Tensor& g) {
    return grad_of_source(g.gather(c.dim, c.index), c.sizes(kSrc));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({3, 2})});
    s.add({s->real({3, 4}), 0, s->integer({5, 3}, 0, 3), s->real({6, 4})});
    s.add({s->real({}), 0, s->integer({3}, 0, 1), s->real({4})});
    s.add({s->real({4}), 0, s->integer({1}, 0, 4), s->real({})});
    s.fails({s->real({}), 0, s->integer({3}, 0, 1), s->real({})}, "scatter_add: Size does not match at dimension 0");
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5), s->real({3, 2})},
            "scatter_add: index 4 is out of bounds for dimension 1 with size 4");
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({2, 2})},
            "scatter_add: Size does not match at dimension 0");
  }
};
ARGAND_OP(ScatterAdd)

struct Scatter : Kernel<ScatterArgs> {
  static constexpr auto schema = "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Writes src[i][j] to self[index[i][j]][j] (dim 0; likewise for others), in the order of src: of equal indices "
      "the last "
      "one counts.";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "scatter");
    check_element_index("scatter", a.self, "self", a.index, dim, false);
    check_element_index("scatter", a.src, "src", a.index, dim, true);
    ARGAND_CHECK(DtypeError, a.src.dtype() == a.self.dtype(),
                 "scatter: Expected self.dtype to be equal to src.dtype, got ", a.self.dtype(), " and ", a.src.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "scatter");
    const Tensor index = checked_index("scatter", a.index, size_at(out, dim), dim);
    const Tensor src = corner(a.src, index);
    if (!out.is_cpu()) return put(out, index, dim, src);
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(out, dim);
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      using T = decltype(block);
      const T* from = raw<T>(src);
      T* to = raw<T>(out);
      for_each_index(index, out, dim, dim != 0, [&](int64_t i, int64_t offset, int64_t stride, int64_t length) {
        T* p = to + offset;
        for (int64_t k = 0; k < length; ++k) p[k * stride + at[i + k] * step] = from[i + k];
      });
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.scatter(c.dim, c.index, 0); }
  static Tensor grad_src(const Ctx& c, const Tensor& g) {
    return grad_of_source(g.gather(c.dim, c.index), c.sizes(kSrc));
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 1, s->integer({2, 1}, 0, 3), s->real({2, 1})});
    s.add({s->real({5, 3}), 0, s->integer({1, 2}, 0, 5), s->real({2, 3})});
    s.add({s->real({3}), 0, s->integer({0}, 0, 3), s->real({2})});
    s.add({s->real({}), 0, s->integer({1}, 0, 1), s->real({})});
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5), s->real({3, 2})},
            "scatter: index 4 is out of bounds for dimension 1 with size 4");
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({2, 2})},
            "scatter: Size does not match at dimension 0");
    s.fails({s->real({3}), 0, s->integer({1}, 0, 3), s->integer({1}, 0, 3)},
            "scatter: Expected self.dtype to be equal to src.dtype");
  }
};
ARGAND_OP(Scatter)

struct ScatterValue : Kernel<ScatterValueArgs> {
  static constexpr auto schema = "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "Writes one value to self[index[i][j]][j] (dim 0; likewise for others).";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static constexpr bool only_linear = false;  // the value is there whatever self is
  static TensorMeta infer(const Args& a) {
    check_element_index("scatter", a.self, "self", a.index, wrap_dim(a.dim, a.self.dim(), "scatter"), false);
    check_fits("scatter", a.value, a.self.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "scatter");
    const Tensor index = checked_index("scatter", a.index, size_at(out, dim), dim);
    if (!out.is_cpu()) {
      const Tensor values = exec::new_tensor({index.impl().sizes, out.dtype()}, out.device());
      exec::copy_elements(values, exec::wrapped_number(a.value));
      return put(out, index, dim, values);
    }
    const Tensor value = exec::dense_clone(exec::wrapped_number(a.value), out.dtype());
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(out, dim);
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      using T = decltype(block);
      const T v = *raw<T>(value);
      T* to = raw<T>(out);
      for_each_index(index, out, dim, dim != 0, [&](int64_t i, int64_t offset, int64_t stride, int64_t length) {
        T* p = to + offset;
        for (int64_t k = 0; k < length; ++k) p[k * stride + at[i + k] * step] = v;
      });
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.scatter(c.dim, c.index, 0); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), 1.5});
    s.add({s->real({}), 0, s->integer({}, 0, 1), 2});
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5), 0},
            "scatter: index 4 is out of bounds for dimension 1 with size 4");
  }
};
ARGAND_OP(ScatterValue)
ARGAND_NODE(ScatterValue, "ScatterBackward1")

struct TakeAlongDim : Composite<TakeAlongDimArgs> {
  static constexpr auto schema = "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "gather, with self and indices broadcast against each other outside dim; without dim, both flat.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.indices.dtype() == kLong,
                 "take_along_dim: dtype of indices should be Long (int64) but got ", a.indices.dtype());
    if (!a.dim) return a.self.reshape({-1}).gather(0, a.indices.reshape({-1}));
    ARGAND_CHECK(ShapeError, a.self.dim() == a.indices.dim(),
                 "take_along_dim: input and indices should have the same number of dimensions, but got ", a.self.dim(),
                 " dimensions for input, and ", a.indices.dim(), " dimensions for indices");
    const int64_t dim = wrap_dim(*a.dim, a.self.dim(), "take_along_dim");
    Dims from = a.self.impl().sizes, index = a.indices.impl().sizes;
    if (!from.empty()) from[dim] = index[dim] = 1;
    Dims to = broadcast_shapes(from, index, "take_along_dim"), index_to = to;
    if (!to.empty()) {
      to[dim] = a.self.sizes()[dim];
      index_to[dim] = a.indices.sizes()[dim];
    }
    const Tensor at = a.indices.expand(index_to);  // a negative index counts from the end
    return a.self.expand(to).gather(dim, where(at < 0, at + size_at(a.self, dim), at));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->integer({3, 2}, 0, 4), 1});
    s.add({s->real({3, 4}), s->integer({1, 4}, 0, 3), 0});
    s.add({s->real({3, 4}), s->integer({5}, 0, 12)});
    s.fails({s->real({3, 4}), s->integer({3}, 0, 3), 0},
            "take_along_dim: input and indices should have the same number of dimensions");
  }
};
ARGAND_OP(TakeAlongDim)

}  // namespace argand::ops
