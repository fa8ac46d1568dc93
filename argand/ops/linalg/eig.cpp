// Eigenvalues and eigenvectors.
#include <cmath>

#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/spectral.h"
#include "argand/ops/maybe.h"

namespace argand::ops {
namespace {

bool is_upper(const std::string& half) {
  const auto is = [&](const char* upper, const char* lower) { return half == upper || half == lower; };
  ARGAND_CHECK(ValueError, is("U", "u") || is("L", "l"),
               "linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got ", half);
  return is("U", "u");
}

}  // namespace

struct EighFactors : Kernel<EighFactorsArgs> {
  static constexpr auto schema =
      "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)";
  static constexpr auto doc =
      "A = V diag(L) V^H of Hermitian matrices, of which the lower (UPLO 'L') or upper half is read, and L rising; "
      "without compute_v V is empty.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg.eigh", a.A, true);
    is_upper(a.UPLO);
    return {{batch_and(a.A, {rows_of(a.A)}), to_real_type(a.A.dtype())},
            {a.compute_v ? a.A.impl().sizes : Dims{0}, a.A.dtype()}};
  }
  // The row-major matrix is the column-major transposed one, the conjugate of A, whose eigenvectors are the conjugates
  // of those of A, and whose lower half is A's upper one.
  static void run(const Args& a, std::span<Tensor> outs) {
    const bool upper = is_upper(a.UPLO);
    const Tensor wrong = are_not_finite(upper ? a.A.triu() : a.A.tril()).unsqueeze(-1);
    const Tensor A = exec::dense_clone(a.A.masked_fill(wrong.unsqueeze(-1), 0));
    const Tensor info = exec::new_tensor({batch_and(A, {}), kInt}, A.device());
    blocks::decompose_hermitian.on(A.device())({A.dtype(), rows_of(A), batches_of(A), !upper, a.compute_v, address(A),
                                                address(outs[0]), address<int32_t>(info)});
    check_convergence("linalg.eigh", A, info,
                      "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                      "repeated eigenvalues.");
    // NaNs of numbers that are not finite, as in LAPACK.
    outs[0].masked_fill_(wrong, NAN);
    if (a.compute_v) exec::copy_elements(outs[1], mH(A).masked_fill(wrong.unsqueeze(-1), NAN));
  }
  // The gradient covers both halves of the Hermitian matrix, although the op reads only one.
  static Grads grad(const Ctx& c, const Grads& g) {
    ARGAND_CHECK(GradError, c.compute_v,
                 "_linalg_eigh: the derivative needs vectors, which are not computed without compute_v");
    const Tensor V = c.result(1);
    if (!g[0].defined() && !g[1].defined()) return {{}};
    if (!g[1].defined()) return {(V * g[0].unsqueeze(-2)).matmul(mH(V))};
    const Tensor of_V = mH(V).matmul(g[1]);
    if (V.is_complex()) check_phases("linalg_eigh_backward", "eigenvectors", imag(of_V.diagonal(0, -2, -1)));
    Tensor inner = reciprocal_gaps(c.result(0)) * of_V;
    inner = (inner + mH(inner)) / 2;
    if (g[0].defined()) inner = inner + diag_embed(g[0]);
    return {V.matmul(inner).matmul(mH(V))};
  }
  static void samples(S& s) {
    s->accuracy(up_to_phases());
    s.add_without_gradient({s->real({3, 3})});
    s.add_without_gradient({s->real({2, 3, 3}), "U"});
    s.add_without_gradient({s->real({4, 4}), "L", false});
    s.add({s->real({0, 0})});
    s.fails({s->real({2, 3})}, "linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices");
    s.fails({s->real({2, 2}), "x"}, "linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got x");
  }
};
ARGAND_OP(EighFactors)

struct LinalgEigh : Composite<LinalgEighArgs> {
  static constexpr auto schema =
      "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "self = V diag(L) V^H of Hermitian matrices, of which the lower (UPLO 'L') or upper half is read, and L rising. "
      "NaN of numbers that are not finite.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) { return _linalg_eigh(a.self, a.UPLO); }
  static void samples(S& s) {
    s->accuracy(up_to_phases());
    s.add_without_gradient({s->real({2, 3, 3})});
    s.fails({s->real({2, 3})}, "linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgEigh)

struct LinalgEigvalsh : Composite<LinalgEigvalshArgs> {
  static constexpr auto schema = "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The eigenvalues of Hermitian matrices, rising; linalg_eigh says what is read.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    return std::get<0>(_linalg_eigh(a.self, a.UPLO, exec::is_differentiated(a.self)));
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3, 3}), "U"});
    s.fails({s->real({2})}, "linalg.eigh: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgEigvalsh)

namespace {

ScalarType complex_type(ScalarType real) { return to_real_type(real) == kDouble ? kComplexDouble : kComplexFloat; }

// The vectors of real matrices, which come as their real and imaginary parts (GeneralCall).
Tensor joined(const Tensor& parts, const Tensor& values) {
  const Tensor turn = imag(values).unsqueeze(-2);
  const Tensor before = parts.roll(1, -1), after = parts.roll(-1, -1), none = zeros_like(parts);
  return complex(where(turn < 0, before, parts), where(turn > 0, after, where(turn < 0, -parts, none)));
}

// Decomposes all matrices of a batch.  Undefined vectors: values alone.
void decompose_all(const Tensor& A, const Tensor& to_values, const Tensor& to_vectors) {
  constexpr const char* op = "torch.linalg.eig";
  check_finite(A, [&](int64_t) { ARGAND_THROW(LinAlgError, op, ": input tensor should not contain infs or NaNs."); });
  const Tensor columns = in_columns(A), info = exec::new_tensor({batch_and(A, {}), kInt}, A.device());
  const Tensor vectors = to_vectors.defined() ? exec::new_tensor({A.impl().sizes, A.dtype()}, A.device()) : Tensor();
  blocks::decompose_general.on(A.device())({A.dtype(), rows_of(A), batches_of(A), address(columns), address(to_values),
                                            vectors.defined() ? address(vectors) : nullptr, address<int32_t>(info)});
  check_convergence(op, A, info, "the algorithm failed to converge");
  if (!vectors.defined()) return;
  const Tensor found = transposed(vectors);
  exec::copy_elements(to_vectors, A.is_complex() ? found : joined(found, to_values));
}

}  // namespace

struct LinalgEig : Kernel<LinalgEigArgs> {
  static constexpr auto schema = "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)";
  static constexpr auto doc = "self V = V diag(L) with complex L and columns of V of length 1.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "eigenvalues, eigenvectors";
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg.eig", a.self, true);
    return {{batch_and(a.self, {rows_of(a.self)}), complex_type(a.self.dtype())},
            {a.self.impl().sizes, complex_type(a.self.dtype())}};
  }
  static void run(const Args& a, std::span<Tensor> outs) { decompose_all(a.self, outs[0], outs[1]); }
  // The columns of V keep their length, so the part of a step along them is removed.
  static Grads grad(const Ctx& c, const Grads& g) {
    if (!g[0].defined() && !g[1].defined()) return {{}};
    const Tensor& V = c.result(1);
    Tensor inner = g[0].defined() ? diag_embed(g[0]) : Tensor();
    if (g[1].defined()) {
      const Tensor of_V = mH(V).matmul(g[1]), along = of_V.diagonal(0, -2, -1);
      check_phases("linalg_eig_backward", "eigenvectors", imag(along));
      const Tensor across = of_V - mH(V).matmul(V) * real(along).unsqueeze(-2);
      inner = add_defined(inner, across * reciprocal_gaps(c.result(0)).conj());
    }
    const Tensor result = linalg_solve(mH(V), inner.matmul(mH(V)));
    return {is_complex(c.dtype(kSelf)) ? result : real(result)};
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s->accuracy(up_to_phases());
    s->accuracy({16, "eigenvectors of general matrices move farther than their matrix", kCUDA});
    s.add_without_gradient({s->real({4, 4})});
    s.add_without_gradient({s->real({2, 3, 3})});
    s.add({s->real({0, 0})});
    s.fails({s->real({2, 3})}, "linalg.eig: A must be batches of square matrices, but they are 2 by 3 matrices");
    s.fails({full({2, 2}, NAN, TensorOptions(kCPU).dtype(kDouble))},
            "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  }
};
ARGAND_OP(LinalgEig)

struct EigvalsAlone : Kernel<EigvalsAloneArgs> {
  static constexpr auto schema = "_linalg_eigvals(Tensor self) -> Tensor";
  static constexpr auto doc = "The eigenvalues, complex; without a gradient.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_matrices("linalg.eigvals", a.self, true);
    return {batch_and(a.self, {rows_of(a.self)}), complex_type(a.self.dtype())};
  }
  static void run(const Args& a, Tensor& out) { decompose_all(a.self, out, Tensor()); }
  static void samples(S& s) {
    s->accuracy(up_to_phases());
    s.add({s->real({2, 4, 4})});
    s.fails({s->real({2, 3})}, "linalg.eigvals: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(EigvalsAlone)

struct LinalgEigvals : Composite<LinalgEigvalsArgs> {
  static constexpr auto schema = "linalg_eigvals(Tensor self) -> Tensor";
  static constexpr auto doc = "The eigenvalues, complex, in no order.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "eigenvalues";
  // The gradient needs vectors.
  static Tensor compose(const Args& a) {
    check_matrices("linalg.eigvals", a.self, true);
    return exec::is_differentiated(a.self) ? std::get<0>(linalg_eig(a.self)) : _linalg_eigvals(a.self);
  }
  static void samples(S& s) {
    s->accuracy(up_to_phases());
    s.add({s->real({3, 3})});
    s.add({s->real({2, 4, 4})});
    s.fails({s->real({2})}, "linalg.eigvals: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgEigvals)

}  // namespace argand::ops
