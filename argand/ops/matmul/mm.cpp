// Products of matrices and vectors: mm, bmm, addmm, baddbmm, mv, addmv, dot, vdot, outer, addr.
#include "argand/ops/define.h"
#include "argand/ops/matmul/args.h"
#include "argand/ops/matmul/product.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/write_into.h"

namespace argand::ops {
namespace {

void check_matrix(const char* op, const char* name, const Tensor& t, int64_t rank) {
  ARGAND_CHECK(ShapeError, t.dim() == rank, op, ": ", name, " must be a ", rank, "-D tensor, got a tensor of shape ",
               t.sizes());
}

Dims check_mm(const char* op, const char* a_name, const Tensor& a, const char* b_name, const Tensor& b) {
  check_matrix(op, a_name, a, 2);
  check_matrix(op, b_name, b, 2);
  check_same_dtype(op, a_name, a, b_name, b);
  ARGAND_CHECK(ShapeError, a.sizes()[1] == b.sizes()[0], op, ": mat1 and mat2 shapes cannot be multiplied (",
               a.sizes()[0], "x", a.sizes()[1], " and ", b.sizes()[0], "x", b.sizes()[1], ")");
  return {a.sizes()[0], b.sizes()[1]};
}

Dims check_bmm(const char* op, const Tensor& a, const Tensor& b) {
  check_matrix(op, "batch1", a, 3);
  check_matrix(op, "batch2", b, 3);
  check_same_dtype(op, "batch1", a, "batch2", b);
  ARGAND_CHECK(ShapeError, a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], op,
               ": Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ", a.sizes()[2],
               "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
  return {a.sizes()[0], a.sizes()[1], b.sizes()[2]};
}

// A factor multiplies in the type of the sums: float32 for half precision.
void check_factors(const char* op, const Scalar& beta, const Scalar& alpha, ScalarType dtype) {
  check_fits(op, beta, op_math_type(dtype));
  check_fits(op, alpha, op_math_type(dtype));
}

// Copies the broadcast `self` to out, ready to be added to.  With beta 0 it is not read.
void load_addend(const Tensor& self, const Scalar& beta, const Tensor& out) {
  if (!beta.equal(0)) exec::copy_elements(out, self);
}

Tensor scaled(const Tensor& t, const Scalar& by) { return by.equal(1) ? t : t * by; }
// The gradient through a factor.
Tensor scaled_back(const Tensor& g, const Scalar& by) {
  return scaled(g, by.isComplex() ? Scalar(std::conj(by.to<std::complex<double>>())) : by);
}

}  // namespace

struct Mm : Kernel<MmArgs> {
  static constexpr auto schema = "mm(Tensor self, Tensor mat2) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The product of two matrices: [n, m] x [m, p] -> [n, p].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) { return {check_mm("mm", "self", a.self, "mat2", a.mat2), a.self.dtype()}; }
  static void run(const Args& a, Tensor& out) { product(a.self, a.mat2, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.mm(c.mat2.t().conj()); }
  static Tensor grad_mat2(const Ctx& c, const Tensor& g) { return c.self.t().conj().mm(g); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({3, 4})});
    s.add({s->real({1, 5}), s->real({5, 1})});
    s.add({s->real({0, 3}), s->real({3, 2})});
    s.add({s->real({2, 0}), s->real({0, 3})});
    s.fails({s->real({2, 3}), s->real({4, 2})}, "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)");
    s.fails({s->real({3}), s->real({3, 2})}, "mm: self must be a 2-D tensor, got a tensor of shape [3]");
    s.fails({s->real({2, 3}), s->integer({3, 2}, 0, 3)},
            "mm: expected self and mat2 to have the same dtype, but got: float64 != int64");
  }
};
ARGAND_OP(Mm)

struct Bmm : Kernel<BmmArgs> {
  static constexpr auto schema = "bmm(Tensor self, Tensor mat2) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "Products of batches of matrices: [b, n, m] x [b, m, p] -> [b, n, p].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) { return {check_bmm("bmm", a.self, a.mat2), a.self.dtype()}; }
  static void run(const Args& a, Tensor& out) { batched_product(a.self, a.mat2, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.bmm(c.mat2.transpose(1, 2).conj()); }
  static Tensor grad_mat2(const Ctx& c, const Tensor& g) { return c.self.transpose(1, 2).conj().bmm(g); }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), s->real({2, 4, 2})});
    s.add({s->real({0, 3, 4}), s->real({0, 4, 2})});
    s.fails({s->real({2, 3, 4}), s->real({3, 4, 2})},
            "bmm: Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [3, 4].");
    s.fails({s->real({3, 4}), s->real({3, 4, 2})}, "bmm: batch1 must be a 3-D tensor");
  }
};
ARGAND_OP(Bmm)

struct Addmm : Kernel<AddmmArgs> {
  static constexpr auto schema =
      "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "beta * self + alpha * mat1 @ mat2; self is broadcast. With beta 0, self is not read.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr auto python_old_orders = "beta self alpha mat1 mat2; beta self mat1 mat2";
  static TensorMeta infer(const Args& a) {
    const Dims sizes = check_mm("addmm", "mat1", a.mat1, "mat2", a.mat2);
    check_same_dtype("addmm", "self", a.self, "mat1", a.mat1);
    ARGAND_CHECK(ShapeError, broadcast_shapes(sizes, a.self.sizes(), "addmm") == sizes, "addmm: self of shape ",
                 a.self.sizes(), " does not broadcast to ", sizes);
    check_factors("addmm", a.beta, a.alpha, a.self.dtype());
    return {sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    load_addend(a.self, a.beta, out);
    product(a.mat1, a.mat2, out, a.alpha, a.beta);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return scaled_back(g, c.beta); }
  static Tensor grad_mat1(const Ctx& c, const Tensor& g) { return scaled_back(g.mm(c.mat2.t().conj()), c.alpha); }
  static Tensor grad_mat2(const Ctx& c, const Tensor& g) { return scaled_back(c.mat1.t().conj().mm(g), c.alpha); }
  static void samples(S& s) {
    s.add({s->real({2, 4}), s->real({2, 3}), s->real({3, 4})});
    s.add({s->real({4}), s->real({2, 3}), s->real({3, 4}), 2, 3});
    s.add({s->real({2, 1}), s->real({2, 3}), s->real({3, 4}), 0, 1});
    s.fails({s->real({5}), s->real({2, 3}), s->real({3, 4})}, "addmm: shapes [2, 4] and [5] do not broadcast");
    s.fails({s->integer({2}, 0, 3).to(kByte), s->integer({2, 2}, 0, 3).to(kByte), s->integer({2, 2}, 0, 3).to(kByte), 1,
             300},
            "addmm: value cannot be converted to type uint8_t without overflow");
    s.fails({s->real({4}), s->real({2, 3}), s->real({4, 4})},
            "addmm: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x4)");
  }
};
ARGAND_OP(Addmm)

struct Baddbmm : Kernel<BaddbmmArgs> {
  static constexpr auto schema =
      "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "beta * self + alpha * batch1 @ batch2 for batches of matrices; self is broadcast.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr auto python_old_orders = "beta self alpha batch1 batch2; beta self batch1 batch2";
  static TensorMeta infer(const Args& a) {
    const Dims sizes = check_bmm("baddbmm", a.batch1, a.batch2);
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.batch1.dtype() && a.self.dtype() == a.batch2.dtype(),
                 "baddbmm: Input dtypes must be the same, got: input ", a.self.dtype(), ", batch1: ", a.batch1.dtype(),
                 ", batch2: ", a.batch2.dtype());
    ARGAND_CHECK(ShapeError, broadcast_shapes(sizes, a.self.sizes(), "baddbmm") == sizes, "baddbmm: self of shape ",
                 a.self.sizes(), " does not broadcast to ", sizes);
    check_factors("baddbmm", a.beta, a.alpha, a.self.dtype());
    return {sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    load_addend(a.self, a.beta, out);
    batched_product(a.batch1, a.batch2, out, a.alpha, a.beta);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return scaled_back(g, c.beta); }
  static Tensor grad_batch1(const Ctx& c, const Tensor& g) {
    return scaled_back(g.bmm(c.batch2.transpose(1, 2).conj()), c.alpha);
  }
  static Tensor grad_batch2(const Ctx& c, const Tensor& g) {
    return scaled_back(c.batch1.transpose(1, 2).conj().bmm(g), c.alpha);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 5}), s->real({2, 3, 4}), s->real({2, 4, 5}), 2, 3});
    s.fails({s->real({2, 3, 4}), s->real({2, 3, 4}), s->real({2, 4, 5})},
            "baddbmm: shapes [2, 3, 5] and [2, 3, 4] do not broadcast");
    s.fails({s->real({2, 3, 5}).to(kFloat), s->real({2, 3, 4}).to(kFloat), s->real({2, 4, 5}).to(kFloat), 1e39},
            "baddbmm: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Baddbmm)

struct Mv : Composite<MvArgs> {
  static constexpr auto schema = "mv(Tensor self, Tensor vec) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "Matrix times vector: [n, m] x [m] -> [n].";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kAsGiven;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 2 && a.vec.dim() == 1 && a.self.sizes()[1] == a.vec.sizes()[0],
                 "mv: expected a matrix [n, m] and a vector [m], got ", a.self.sizes(), " and ", a.vec.sizes());
    return a.self.mm(a.vec.unsqueeze(1)).squeeze(1);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({4})});
    s.fails({s->real({3, 4}), s->real({3})}, "mv: expected a matrix [n, m] and a vector [m], got [3, 4] and [3]");
  }
};
ARGAND_OP(Mv)
ARGAND_NODE(Mv)

struct Addmv : Composite<AddmvArgs> {
  static constexpr auto schema =
      "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "beta * self + alpha * mat @ vec.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto python_old_orders = "beta self alpha mat vec; beta self mat vec";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kAsGiven;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.mat.dim() == 2 && a.vec.dim() == 1 && a.mat.sizes()[1] == a.vec.sizes()[0],
                 "addmv: expected a matrix [n, m] and a vector [m], got ", a.mat.sizes(), " and ", a.vec.sizes());
    const Tensor column = a.self.dim() == 0 ? a.self : a.self.unsqueeze(1);
    return column.addmm(a.mat, a.vec.unsqueeze(1), a.beta, a.alpha).squeeze(1);
  }
  static void samples(S& s) {
    s.add({s->real({3}), s->real({3, 4}), s->real({4}), 2, 3});
    s.fails({s->real({3}), s->real({3, 4}), s->real({5})}, "addmv: expected a matrix [n, m] and a vector [m]");
  }
};
ARGAND_OP(Addmv)
ARGAND_NODE(Addmv)

struct AddmvInplace : Composite<AddmvInplaceArgs> {
  static constexpr auto schema =
      "addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
  static constexpr auto doc = "addmv, into self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    return write_into("addmv_", a.self, [&](const Tensor& self) { return self.addmv(a.mat, a.vec, a.beta, a.alpha); });
  }
  static void samples(S& s) {
    s.add({s->real({3}), s->real({3, 4}), s->real({4}), 2, 3});
    s.fails({s->real({}), s->real({3, 4}), s->real({4})}, "addmv_: expected self of shape [3], got []");
  }
};
ARGAND_OP(AddmvInplace)

struct Dot : Composite<DotArgs> {
  static constexpr auto schema = "dot(Tensor self, Tensor tensor) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The sum of the products of two vectors of one length.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kAsGiven;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 1 && a.tensor.dim() == 1, "dot: 1D tensors expected, but got ",
                 a.self.dim(), "D and ", a.tensor.dim(), "D tensors");
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.tensor.dtype(),
                 "dot : expected both vectors to have same dtype, but found ", a.self.dtype(), " and ",
                 a.tensor.dtype());
    ARGAND_CHECK(ShapeError, a.self.sizes() == a.tensor.sizes(), "dot: inconsistent tensor size, expected tensor ",
                 a.self.sizes(), " and src ", a.tensor.sizes(), " to have the same number of elements");
    return a.self.unsqueeze(0).mm(a.tensor.unsqueeze(1)).view(IntArrayRef());
  }
  static void samples(S& s) {
    s.add({s->real({5}), s->real({5})});
    s.fails({s->real({5}), s->real({4})}, "dot: inconsistent tensor size");
    s.fails({s->real({5, 1}), s->real({5})}, "dot: 1D tensors expected, but got 2D and 1D tensors");
  }
};
ARGAND_OP(Dot)
ARGAND_NODE(Dot)

struct Vdot : Composite<VdotArgs> {
  static constexpr auto schema = "vdot(Tensor self, Tensor other) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The dot product with the first vector conjugated.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kAsGiven;
  static Tensor compose(const Args& a) { return a.self.conj().dot(a.other); }
  static void samples(S& s) { s.add({s->real({5}), s->real({5})}); }
};
ARGAND_OP(Vdot)
ARGAND_NODE(Vdot)

struct Outer : Composite<OuterArgs> {
  static constexpr auto schema = "outer(Tensor self, Tensor vec2) -> Tensor";
  static constexpr const char* overloads[] = {"ger(Tensor self, Tensor vec2) -> Tensor"};
  static constexpr auto doc = "All products of the elements of two vectors: [n], [m] -> [n, m].";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 1 && a.vec2.dim() == 1, "outer: expected 1-D tensors, got ",
                 a.self.sizes(), " and ", a.vec2.sizes());
    return a.self.unsqueeze(1) * a.vec2;
  }
  static void samples(S& s) {
    s.add({s->real({3}), s->real({4})});
    s.fails({s->real({3, 1}), s->real({4})}, "outer: expected 1-D tensors, got [3, 1] and [4]");
  }
};
ARGAND_OP(Outer)

namespace {

// The dtype kind of a factor must be representable in the result.
void check_factor(const char* name, const Scalar& factor, ScalarType result) {
  ARGAND_CHECK(DtypeError, !factor.isBoolean() || result == kBool, "addr: Boolean ", name,
               " only supported for Boolean results.");
  ARGAND_CHECK(DtypeError, !factor.isFloatingPoint() || is_floating_point(result) || is_complex(result),
               "addr: For integral input tensors, argument ", name, " must not be a floating point number.");
  ARGAND_CHECK(DtypeError, !factor.isComplex() || is_complex(result), "addr: For non-complex input tensors, argument ",
               name, " must not be a complex number.");
  check_fits("addr", factor, op_math_type(result));
}

}  // namespace

struct Addr : Composite<AddrArgs> {
  static constexpr auto schema =
      "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr auto doc = "beta * self + alpha * outer(vec1, vec2).";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto python_old_orders = "beta self alpha vec1 vec2; beta self vec1 vec2";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) {
    const ScalarType type = promote_types(promote_types(a.self.dtype(), a.vec1.dtype()), a.vec2.dtype());
    check_factor("beta", a.beta, type);
    check_factor("alpha", a.alpha, type);
    if (a.self.dtype() == kBool && a.vec1.dtype() == kBool && a.vec2.dtype() == kBool) {
      const Tensor product = outer(a.vec1, a.vec2).logical_and(full({}, !a.alpha.equal(0), kBool));
      return a.self.logical_and(full({}, !a.beta.equal(0), kBool)).logical_or(product);
    }
    const Tensor product = scaled(outer(a.vec1, a.vec2), a.alpha);
    if (!a.beta.equal(0)) return scaled(a.self, a.beta) + product;
    // self is not read, even if it holds NaN, but its dtype counts.
    return product.to(promote_types(product.dtype(), a.self.dtype()));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({3}), s->real({4}), 2, 3});
    s.add({s->boolean({3, 4}), s->boolean({3}), s->boolean({4}), 2, 3});
    s.fails({s->real({3, 4}), s->real({3}), s->real({4}), true},
            "addr: Boolean beta only supported for Boolean results.");
    s.fails({s->boolean({3, 4}), s->boolean({3}), s->boolean({4}), 1, 0.5},
            "addr: For integral input tensors, argument alpha must not be a floating point number.");
    s.fails({s->real({3, 4}).to(kFloat), s->real({3}).to(kFloat), s->real({4}).to(kFloat), 1, 1e39},
            "addr: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Addr)
ARGAND_NODE(Addr)

struct AddrInplace : Composite<AddrInplaceArgs> {
  static constexpr auto schema =
      "addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
  static constexpr auto doc = "addr, into self.";
  static constexpr int variants = kMethod;
  static constexpr auto python_old_orders = "beta self alpha vec1 vec2; beta self vec1 vec2";
  static Tensor compose(const Args& a) {
    return write_into("addr_", a.self, [&](const Tensor& self) { return self.addr(a.vec1, a.vec2, a.beta, a.alpha); });
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({3}), s->real({4}), 2, 3});
    s.fails({s->real({4}), s->real({3}), s->real({4})}, "addr_: expected self of shape [3, 4], got [4]");
  }
};
ARGAND_OP(AddrInplace)

}  // namespace argand::ops
