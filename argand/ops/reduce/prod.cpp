// Products.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

ScalarType product_dtype(const Tensor& self, const std::optional<ScalarType>& dtype) {
  return dtype.value_or(is_integral(self.dtype(), true) ? kLong : self.dtype());
}

void multiply(const Tensor& self, IntArrayRef dims, const Tensor& out) {
  // In bool a product is `and`; an int64 product of truncated fractions would not be.
  if (out.dtype() == kBool) return reduce_into(out, ReduceKind::kAll, self, dims, {.as = kBool});
  reduce_into(out, ReduceKind::kProd, self, dims);
}

// For each element the product of the others along dim.  Without division: right where elements are 0.
Tensor product_of_others(const Tensor& t, int64_t dim) {
  if (t.numel() == 0) return t;
  if (t.dim() == 0) return ones_like(t);
  const Tensor before = shifted(t.cumprod(dim), dim, true, 1);
  const Tensor after = shifted(t.flip({dim}).cumprod(dim), dim, true, 1).flip({dim});
  return before * after;
}

}  // namespace

struct Prod : Kernel<ProdArgs> {
  static constexpr auto schema = "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc = "The product of all elements; 1 if there is none. Integers and bool multiply to int64.";
  static constexpr auto autocast = Autocast::kFloat32;
  static TensorMeta infer(const Args& a) { return {{}, product_dtype(a.self, a.dtype)}; }
  static void run(const Args& a, Tensor& out) { multiply(a.self, reduced_dims(a.self, {}, "prod"), out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor factors = c.self.to(g.scalar_type());  // what was multiplied
    return g * product_of_others(factors.reshape({-1}), 0).reshape(factors.sizes()).conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({})});
    s.add({s->real({0, 3})});
    s.add({s->integer({2, 2}, 0, 1).to(kDouble) + s->integer({2, 1}, 0, 2)});  // zeros
    s.add({zeros({3}, kDouble)});
    s.add({s->real({3}), kFloat});
    s.add({s->integer({2, 3}, -5, 6)});
    s.add({s->real({2, 3}), kBool});
    s.add({s->boolean({2, 3})});
  }
};
ARGAND_OP(Prod)

struct ProdDim : Kernel<ProdDimArgs> {
  static constexpr auto schema =
      "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc = "The products along dim; 1 over no elements. Integers and bool multiply to int64.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_chooses_dtype = "of any dtype";
  static TensorMeta infer(const Args& a) {
    const Dims dims{wrap_dim(a.dim, a.self.dim(), "prod")};
    return {reduced_sizes(a.self.sizes(), dims, a.keepdim), product_dtype(a.self, a.dtype)};
  }
  static void run(const Args& a, Tensor& out) { multiply(a.self, Dims{wrap_dim(a.dim, a.self.dim(), "prod")}, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return expand_reduced(g, c.self.sizes(), c.dim, c.keepdim) *
           product_of_others(c.self.to(g.scalar_type()), c.dim).conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 0});
    s.add({s->real({2, 3, 4}), -2, true});
    s.add({s->integer({4, 4}, 0, 2).to(kDouble), 1});  // zeros
    s.add({s->real({}), 0});
    s.add({s->real({0, 3}), 0});
    s.add({s->real({2, 3}), 1, false, kFloat});
    s.add({s->integer({2, 3}, -5, 6), 1});
    s.fails({s->real({2, 3}), 2}, "prod: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(ProdDim)
ARGAND_NODE(ProdDim, "ProdBackward1")

}  // namespace argand::ops
