// gather and scatter: one index per element, along one dimension.
#include "argand/ops/define.h"
#include "argand/ops/index/args.h"

namespace argand::ops {
namespace {

// index must have self's rank and, outside dim, no size above that of `t`.
void check_index(const char* op, const Tensor& t, const char* t_name, const Tensor& index, int64_t dim, bool check_at_dim) {
  ARGAND_CHECK(DtypeError, index.dtype() == kLong, op, ": expected dtype int64 for index, got ", index.dtype());
  ARGAND_CHECK(ShapeError, std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(t.dim(), 1), op,
               ": Index tensor must have the same number of dimensions as ", t_name, " tensor, got ", index.sizes(), " and ", t.sizes());
  for (int64_t d = 0; d < std::min(index.dim(), t.dim()); ++d) {
    if (d == dim && !check_at_dim) continue;
    ARGAND_CHECK(ShapeError, index.sizes()[d] <= t.sizes()[d], op, ": Size does not match at dimension ", d, " expected index ",
                 index.sizes(), " to be no larger than ", t_name, " ", t.sizes(), " apart from dimension ", dim);
  }
}

// visit(linear position in `sizes`, offset by `strides` without dim) for each position, in row-major order.
template <class F>
void for_each_position(IntArrayRef sizes, IntArrayRef strides, int64_t dim, F visit) {
  const int64_t n = numel_of(sizes);
  Dims at(sizes.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < n; ++i) {
    visit(i, offset);
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t step = static_cast<int64_t>(d) == dim ? 0 : strides[d];
      offset += step;
      if (++at[d] < sizes[d]) break;
      offset -= step * sizes[d];
      at[d] = 0;
    }
  }
}

void check_range(const char* op, const Tensor& index, int64_t bound, int64_t dim) {
  const int64_t* p = raw<int64_t>(index);
  for (int64_t i = 0; i < index.numel(); ++i)
    ARGAND_CHECK(IndexError, p[i] >= 0 && p[i] < bound, op, ": index ", p[i], " is out of bounds for dimension ", dim, " with size ", bound);
}

int64_t size_at(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.sizes()[dim]; }
int64_t stride_at(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.strides()[dim]; }

}  // namespace

struct Gather : Kernel<GatherArgs> {
  static constexpr auto schema = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor";
  static constexpr auto doc = "out[i][j] = self[index[i][j]][j] for dim 0, and likewise for others; index is int64, its shape is the result's.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "gather");
    check_index("gather", a.self, "input", a.index, dim, false);
    return {a.index.impl().sizes, a.self.dtype()};
  }
  static void cpu(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "gather");
    const Tensor index = exec::dense(a.index);
    check_range("gather", index, size_at(a.self, dim), dim);
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(a.self, dim);
    dispatch<kAllTypes>(out.dtype(), "gather", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(a.self);
      T* to = raw<T>(out);
      for_each_position(index.sizes(), a.self.strides(), dim, [&](int64_t i, int64_t offset) { to[i] = from[offset + at[i] * step]; });
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return zeros(c.sizes(kSelf), g.options()).scatter_add(c.dim, c.index, g); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4)});
    s.add({s->real({3, 4}), 0, s->integer({5, 4}, 0, 3)});
    s.add({s->real({}), 0, s->integer({}, 0, 1)});
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5)}, "gather: index 4 is out of bounds for dimension 1 with size 4");
    s.fails({s->real({3, 4}), 1, s->integer({4, 2}, 0, 4)}, "gather: Size does not match at dimension 0");
    s.fails({s->real({3, 4}), 1, s->real({3, 2})}, "gather: expected dtype int64 for index, got float64");
  }
};
ARGAND_OP(Gather)

struct ScatterAdd : Kernel<ScatterAddArgs> {
  static constexpr auto schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor";
  static constexpr auto doc = "Adds src[i][j] to self[index[i][j]][j] (dim 0; likewise for others), in the order of src: deterministic.";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "scatter_add");
    check_index("scatter_add", a.self, "self", a.index, dim, false);
    check_index("scatter_add", a.src, "src", a.index, dim, true);
    ARGAND_CHECK(DtypeError, a.src.dtype() == a.self.dtype(), "scatter_add: expected self and src to have the same dtype, got ",
                 a.self.dtype(), " and ", a.src.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void cpu(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "scatter_add");
    const Tensor index = exec::dense(a.index);
    check_range("scatter_add", index, size_at(out, dim), dim);
    // src may be larger than index: only its corner counts.
    const Tensor src = exec::dense(exec::alias(a.src, index.impl().sizes, a.src.impl().strides, a.src.storage_offset()));
    const int64_t* at = raw<int64_t>(index);
    const int64_t step = stride_at(out, dim);
    dispatch<kAllTypes>(out.dtype(), "scatter_add", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(src);
      T* to = raw<T>(out);
      for_each_position(index.sizes(), out.strides(), dim, [&](int64_t i, int64_t offset) {
        T& slot = to[offset + at[i] * step];
        slot = static_cast<T>(static_cast<op_math_t<T>>(slot) + static_cast<op_math_t<T>>(from[i]));
      });
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_src(const Ctx& c, const Tensor& g) {
    const Tensor part = g.gather(c.dim, c.index);
    if (part.sizes() == IntArrayRef(c.sizes(kSrc))) return part;
    const Tensor out = zeros(c.sizes(kSrc), g.options());
    out.as_strided(part.sizes(), out.strides()).copy_(part);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({3, 2})});
    s.add({s->real({3, 4}), 0, s->integer({5, 3}, 0, 3), s->real({6, 4})});
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 4, 5), s->real({3, 2})}, "scatter_add: index 4 is out of bounds for dimension 1 with size 4");
    s.fails({s->real({3, 4}), 1, s->integer({3, 2}, 0, 4), s->real({2, 2})}, "scatter_add: Size does not match at dimension 0");
  }
};
ARGAND_OP(ScatterAdd)

}  // namespace argand::ops
