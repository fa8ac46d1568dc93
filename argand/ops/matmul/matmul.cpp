// matmul, linear, tensordot, inner: products whose operands may have any number of dimensions.
#include "argand/ops/define.h"
#include "argand/ops/matmul/args.h"
#include "argand/ops/matmul/product.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

// [..., k] as [rows, k].
Tensor as_rows(const Tensor& t) {
  if (t.dim() == 2) return t;
  // Not -1, which cannot be inferred for a tensor without elements.
  return t.reshape({numel_of(t.sizes().slice(0, t.sizes().size() - 1)), t.sizes().back()});
}

Dims with_last(IntArrayRef lead, int64_t last) {
  Dims out(lead);
  out.push_back(last);
  return out;
}

// A contiguous tensor as [rows, columns]; also where it is empty, which reshape could not infer.
Tensor flat(const Tensor& t, int64_t columns) {
  const int64_t rows = numel_of(t.sizes().slice(0, t.sizes().size() - 1));
  return exec::alias(t, {rows, columns}, {columns, 1}, t.storage_offset());
}

}  // namespace

struct Matmul : Composite<MatmulArgs> {
  static constexpr auto schema = "matmul(Tensor self, Tensor other) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr const char* overloads[] = {"linalg_matmul(Tensor self, Tensor other) -> Tensor"};
  static constexpr auto doc =
      "The matrix product over the last two dimensions, with the leading ones broadcast; a vector operand is taken as "
      "a row or "
      "column, which the result drops again.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() > 0 && a.other.dim() > 0,
                 "matmul: both arguments to matmul need to be at least 1D, but they are ", a.self.dim(), "D and ",
                 a.other.dim(), "D");
    if (a.self.dim() == 1 && a.other.dim() == 1) return a.self.dot(a.other);
    if (a.self.dim() == 1) return a.self.unsqueeze(0).matmul(a.other).squeeze(-2);
    if (a.other.dim() == 1) return a.self.matmul(a.other.unsqueeze(1)).squeeze(-1);
    if (a.other.dim() == 2) {
      if (a.self.dim() == 2) return a.self.mm(a.other);
      const Dims lead(a.self.sizes().slice(0, a.self.sizes().size() - 1));
      return as_rows(a.self).mm(a.other).view(with_last(lead, a.other.sizes()[1]));
    }
    return batched(a.self, a.other);
  }
  static Tensor batched(const Tensor& a, const Tensor& b) {
    const auto lead = [](const Tensor& t) { return t.sizes().slice(0, t.sizes().size() - 2); };
    const auto tail = [](const Tensor& t) { return t.sizes().slice(t.sizes().size() - 2); };
    const Dims batch = broadcast_shapes(lead(a), lead(b), "matmul");
    const auto spread = [&](const Tensor& t) {
      Dims to = batch;
      for (const int64_t s : tail(t)) to.push_back(s);
      return t.expand(to).reshape({numel_of(batch), tail(t)[0], tail(t)[1]});
    };
    Dims out = batch;
    out.push_back(tail(a)[0]);
    out.push_back(tail(b)[1]);
    return spread(a).bmm(spread(b)).view(out);
  }
  static void samples(S& s) {
    s.add({s->real({3}), s->real({3})});
    s.add({s->real({2, 3}), s->real({3})});
    s.add({s->real({3}), s->real({3, 2})});
    s.add({s->real({2, 2, 3}), s->real({3, 4})});
    s.add({s->real({2, 1, 2, 3}), s->real({4, 3, 2})});
    s.fails({s->real({}), s->real({3})},
            "matmul: both arguments to matmul need to be at least 1D, but they are 0D and 1D");
    s.fails({s->real({2, 3}), s->real({2, 3})}, "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  }
};
ARGAND_OP(Matmul)
ARGAND_NODE(Matmul, [](const MatmulArgs& a) -> const char* {
  if (a.self.dim() == 2 && a.other.dim() == 1) return "MvBackward0";
  return a.self.dim() > 2 ? "UnsafeViewBackward0" : nullptr;
})

struct Linear : Kernel<LinearArgs> {
  static constexpr auto schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor";
  static constexpr auto doc =
      "input [..., in] times weight [out, in] transposed, plus bias [out], or one number. A weight [in] gives [...], "
      "with a 0-dim bias.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    const bool vector = a.weight.dim() == 1;
    ARGAND_CHECK(ShapeError, a.input.dim() >= 1 && a.weight.dim() >= 1,
                 "linear: both arguments to linear need to be at least 1D, but they are ", a.input.dim(), "D and ",
                 a.weight.dim(), "D");
    ARGAND_CHECK(ShapeError, vector || a.weight.dim() == 2,
                 "linear: expected input [..., in] and weight [out, in], got ", a.input.sizes(), " and ",
                 a.weight.sizes());
    ARGAND_CHECK(ShapeError, a.input.sizes().back() == a.weight.sizes().back(), "linear: expected input with ",
                 a.weight.sizes().back(), " features (weight is ", a.weight.sizes(), "), got ", a.input.sizes());
    check_same_dtype("linear", "input", a.input, "weight", a.weight);
    if (vector) {
      ARGAND_CHECK(ShapeError, !a.bias.defined() || a.bias.dim() == 0, "linear: expected a 0-dim bias (weight is ",
                   a.weight.sizes(), "), got ", a.bias.sizes());
      if (a.bias.defined()) check_same_dtype("linear", "bias", a.bias, "weight", a.weight);
      return {Dims(a.input.sizes().slice(0, a.input.sizes().size() - 1)), a.input.dtype()};
    }
    if (a.bias.defined()) {
      check_same_dtype("linear", "bias", a.bias, "weight", a.weight);
      ARGAND_CHECK(ShapeError, a.bias.dim() <= 1 && (a.bias.numel() == 1 || a.bias.sizes()[0] == a.weight.sizes()[0]),
                   "linear: expected bias [", a.weight.sizes()[0], "] (weight is ", a.weight.sizes(), "), got ",
                   a.bias.sizes());
    }
    return {with_last(a.input.sizes().slice(0, a.input.sizes().size() - 1), a.weight.sizes()[0]), a.input.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const bool vector = a.weight.dim() == 1;
    const int64_t in = a.weight.sizes().back(), features = vector ? 1 : a.weight.sizes()[0];
    const Tensor x = a.input.dim() == 2 ? a.input : flat(exec::dense(a.input), in);
    const Tensor w = exec::alias(a.weight, {in, features}, {a.weight.strides().back(), a.weight.strides()[0]},
                                 a.weight.storage_offset());
    // One number is the bias of all features.
    const Tensor given = a.bias.defined() && a.bias.numel() == 1 && !vector
                             ? exec::alias(a.bias, {features}, {0}, a.bias.storage_offset())
                             : a.bias;
    const Tensor bias = given.defined() ? exec::dense(given) : given;
    if (vector)
      product(x, w, exec::alias(out, {out.numel(), 1}, {1, 1}, out.storage_offset()), 1, 0,
              bias.defined() ? exec::alias(bias, {1}, {1}, bias.storage_offset()) : bias);
    else
      product(x, w, out.dim() == 2 ? out : flat(out, features), 1, 0, bias);
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(c.num_tensors());
    if (c.ndim(kWeight) == 1) {
      if (c.needs(kWeight))
        out[kWeight] = std::get<0>(_linear_weight_grad(g.unsqueeze(-1), c.input.conj(), false)).squeeze(0);
      if (c.needs(kBias)) out[kBias] = g.sum();
      if (c.needs(kInput)) out[kInput] = g.unsqueeze(-1) * c.weight.conj();
      return out;
    }
    if (c.needs(kWeight))
      std::tie(out[kWeight], out[kBias]) = _linear_weight_grad(g, c.input.conj(), c.needs(kBias));
    else if (c.needs(kBias))
      out[kBias] = as_rows(g).sum(0);
    // Computed last: the next op of the backward pass uses it and may become a part of this product (Note [Epilogues]).
    if (c.needs(kInput)) out[kInput] = g.matmul(c.weight.conj());
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), s->real({2, 3}), s->real({2})});
    s.add({s->real({3}), s->real({2, 3}), s->real({2})});
    s.add({s->real({2, 2, 3}), s->real({5, 3}), Tensor()});
    s.add({s->real({2, 2, 3}), s->real({3}), s->real({})});
    s.add({s->real({4, 3}), s->real({2, 3}), s->real({})});
    s.add({s->real({2, 2, 3}), s->real({2, 3}), s->real({1})});
    s.fails({s->real({4, 3}), s->real({3}), s->real({1})}, "linear: expected a 0-dim bias (weight is [3]), got [1]");
    s.fails({s->real({4, 3}), s->real({2, 4}), s->real({2})},
            "linear: expected input with 4 features (weight is [2, 4]), got [4, 3]");
    s.fails({s->real({4, 3}), s->real({2, 3}), s->real({3})}, "linear: expected bias [2] (weight is [2, 3]), got [3]");
  }
};
ARGAND_OP(Linear)
ARGAND_NODE(Linear, [](const LinearArgs&, const autograd::OpNode* n) {
  return n->next_edges()[LinearArgs::Index::kBias].is_valid() ? "AddmmBackward0" : "MmBackward0";
})

// Bilinear, as the products of convolutions are: what its gradient needs is linear and matmul.
struct LinearWeightGrad : Kernel<LinearWeightGradArgs> {
  static constexpr auto schema = "_linear_weight_grad(Tensor grad_output, Tensor input, bool bias) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of linear for weight, grad_output [..., out] transposed times input [..., in], and for bias: the "
      "sum of grad_output over all but the last dimension, without elements unless asked for.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static TensorMetas infer(const Args& a) {
    const IntArrayRef g = a.grad_output.sizes(), x = a.input.sizes();
    check_same_dtype("_linear_weight_grad", "grad_output", a.grad_output, "input", a.input);
    ARGAND_CHECK(ShapeError, !x.empty() && g.size() == x.size() && g.slice(0, g.size() - 1) == x.slice(0, x.size() - 1),
                 "_linear_weight_grad: expected grad_output [..., out] and input [..., in], got ", g, " and ", x);
    return {{{g.back(), x.back()}, a.input.dtype()}, {{a.bias ? g.back() : 0}, a.input.dtype()}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const int64_t out = a.grad_output.sizes().back(), in = a.input.sizes().back();
    const Tensor x = a.input.dim() == 2 ? a.input : flat(exec::dense(a.input), in);
    const Tensor g = a.grad_output.dim() == 2 ? a.grad_output : flat(exec::dense(a.grad_output), out);
    const Tensor turned = exec::alias(g, {out, g.sizes()[0]}, {g.strides()[1], g.strides()[0]}, g.storage_offset());
    if (a.bias && product_and_sums(turned, x, outs[0], outs[1])) return;
    product(turned, x, outs[0]);
    if (a.bias) reduce_into(outs[1], ReduceKind::kSum, g, {0});
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    const Tensor bias = c.bias ? g[1] : Tensor();
    if (c.needs(kGradOutput)) {
      if (g[0].defined())
        out[kGradOutput] = linear(c.input.conj(), g[0], bias);
      else if (bias.defined())
        out[kGradOutput] = bias.expand(c.sizes(kGradOutput));
    }
    if (c.needs(kInput) && g[0].defined()) out[kInput] = c.grad_output.conj().matmul(g[0]);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({4, 2}), s->real({4, 3}), true});
    s.add({s->real({2}), s->real({3}), true});
    s.add({s->real({2, 2, 5}), s->real({2, 2, 3}), false});
    s.add({s->real({0, 2}), s->real({0, 3}), true});
    s.fails({s->real({4, 2}), s->real({3, 3}), true},
            "_linear_weight_grad: expected grad_output [..., out] and input [..., in], got [4, 2] and [3, 3]");
  }
};
ARGAND_OP(LinearWeightGrad)

struct Tensordot : Composite<TensordotArgs> {
  static constexpr auto schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Sums the products over dims_self of self and dims_other of other; the other dimensions are kept, self's first.";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.dims_self.size() == a.dims_other.size(),
                 "tensordot: both dimension lists should have same length, got ", a.dims_self, " and ", a.dims_other);
    const Dims da = wrap_dims(a.dims_self, a.self.dim(), "tensordot", false),
               db = wrap_dims(a.dims_other, a.other.dim(), "tensordot", false);
    Tensor self = a.self, other = a.other;
    int64_t contracted = 1;
    for (size_t i = 0; i < da.size(); ++i) {
      int64_t n = a.self.sizes()[da[i]], m = a.other.sizes()[db[i]];
      // A dimension of size 1 is combined with every element of the other tensor's.
      if (n == 1 && m != 1) other = other.sum(db[i], true, other.dtype()), m = 1;
      if (m == 1 && n != 1) self = self.sum(da[i], true, self.dtype()), n = 1;
      ARGAND_CHECK(ShapeError, n == m, "tensordot: contracted dimensions need to match, but first has size ", n,
                   " in dim ", da[i], " and second has size ", m, " in dim ", db[i]);
      contracted *= n;
    }
    Dims out, order_a, order_b = db;
    const auto keep = [&](const Tensor& t, const Dims& used, Dims& order) {
      int64_t n = 1;
      for (int64_t d = 0; d < t.dim(); ++d) {
        if (std::find(used.begin(), used.end(), d) != used.end()) continue;
        order.push_back(d);
        out.push_back(t.sizes()[d]);
        n *= t.sizes()[d];
      }
      return n;
    };
    const int64_t rows = keep(self, da, order_a), columns = keep(other, db, order_b);
    for (const int64_t d : da) order_a.push_back(d);
    // The product of two vectors: autocast does not cast dot() on the CPU, and PyTorch does not cast this either.
    if (out.empty() && self.dtype() == other.dtype())
      return self.permute(order_a).reshape({contracted}).dot(other.permute(order_b).reshape({contracted}));
    return self.permute(order_a)
        .reshape({rows, contracted})
        .mm(other.permute(order_b).reshape({contracted, columns}))
        .reshape(out);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), s->real({4, 3, 5}), {1, 2}, {1, 0}});
    s.fails(
        {s->real({2, 3}), s->real({2, 3}), {1}, {0}},
        "tensordot: contracted dimensions need to match, but first has size 3 in dim 1 and second has size 2 in dim 0");
  }
};
ARGAND_OP(Tensordot)

struct Inner : Composite<InnerArgs> {
  static constexpr auto schema = "inner(Tensor self, Tensor other) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "Sums the products over the last dimension of both.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    if (a.self.dim() == 0 || a.other.dim() == 0) return a.self * a.other;
    ARGAND_CHECK(ShapeError, a.self.sizes().back() == a.other.sizes().back(),
                 "inner() the last dimension must match on both input tensors but got shapes ", a.self.sizes(), " and ",
                 a.other.sizes());
    return tensordot(a.self, a.other, {-1}, {-1});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({4, 3})});
    s.fails({s->real({2, 3}), s->real({2})}, "inner() the last dimension must match");
  }
};
ARGAND_OP(Inner)

}  // namespace argand::ops
