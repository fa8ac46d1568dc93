// Eigenvalues and eigenvectors.
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/decompose.h"
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

constexpr const char* kEighFailure[] = {
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
    "eigenvalues."};

// Decomposes one row-major matrix, of which only one half is read.  Null `vectors`: values alone.  Numbers that are not
// finite give NaNs, as in LAPACK.
template <class T>
int32_t decompose_half(const T* from, int64_t n, bool upper, real_of_t<T>* values, T* vectors) {
  using W = wide_t<T>;
  std::vector<W> a;
  load_columns(from, n, n, upper, a);  // the adjoint's lower half is the upper
  bool finite = true;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) finite &= std::isfinite(std::abs(a[static_cast<size_t>(j * n + i)]));
  if (!finite) {
    std::fill_n(values, n, static_cast<real_of_t<T>>(NAN));
    if (vectors) std::fill_n(vectors, n * n, T(static_cast<real_of_t<T>>(NAN)));
    return 0;
  }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < j; ++i) a[static_cast<size_t>(j * n + i)] = 0;
  Hermitian<W> to;
  if (!decompose_hermitian(std::move(a), n, vectors != nullptr, to)) return 1;
  for (int64_t k = 0; k < n; ++k) values[k] = static_cast<real_of_t<T>>(to.values[static_cast<size_t>(k)]);
  if (vectors) store_columns(to.vectors, n, n, vectors);
  return 0;
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
  static void cpu(const Args& a, std::span<Tensor> outs) {
    const Tensor A = exec::dense(a.A);
    const int64_t n = rows_of(A);
    const bool upper = is_upper(a.UPLO);
    std::vector<int32_t> failed(static_cast<size_t>(batches_of(A)));
    dispatch<kMatrixTypes>(A.dtype(), Args::kName, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(A);
      auto* values = raw<real_of_t<T>>(outs[0]);
      T* vectors = a.compute_v ? raw<T>(outs[1]) : nullptr;
      each_matrix(batches_of(A), 8 * n * n * n, [&](int64_t b) {
        failed[static_cast<size_t>(b)] =
            decompose_half(from + b * n * n, n, upper, values + b * n, vectors ? vectors + b * n * n : nullptr);
      });
    });
    check_failures("linalg.eigh", failed, A.dim() > 2, kEighFailure);
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
    return std::get<0>(_linalg_eigh(a.self, a.UPLO, GradMode::is_enabled() && a.self.requires_grad()));
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3, 3}), "U"});
    s.fails({s->real({2})}, "linalg.eigh: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgEigvalsh)

namespace {

ScalarType complex_type(ScalarType real) { return to_real_type(real) == kDouble ? kComplexDouble : kComplexFloat; }

constexpr const char* kEigFailures[] = {"input tensor should not contain infs or NaNs.",
                                        "the algorithm failed to converge"};

// Decomposes all matrices of a batch.  Undefined vectors: values alone.
void decompose_all(const char* op, const Tensor& given, const Tensor& to_values, const Tensor& to_vectors) {
  const Tensor A = exec::dense(given);
  const int64_t n = rows_of(A);
  std::vector<int32_t> failed(static_cast<size_t>(batches_of(A)));
  dispatch<kMatrixTypes>(A.dtype(), op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::complex<real_of_t<T>>;
    const T* from = raw<T>(A);
    C* values = raw<C>(to_values);
    C* vectors = to_vectors.defined() ? raw<C>(to_vectors) : nullptr;
    each_matrix(batches_of(A), 16 * n * n * n, [&](int64_t b) {
      std::vector<wide_t<T>> a;
      General to;
      int32_t& wrong = failed[static_cast<size_t>(b)];
      wrong = !load_columns(from + b * n * n, n, n, false, a)               ? 1
              : !decompose_general(std::move(a), n, vectors != nullptr, to) ? 2
                                                                            : 0;
      if (wrong) return;
      store_columns(to.values, 1, n, values + b * n);
      if (vectors) store_columns(to.vectors, n, n, vectors + b * n * n);
    });
  });
  const bool finite = std::find(failed.begin(), failed.end(), 1) == failed.end();
  check_failures("torch.linalg.eig", failed, A.dim() > 2 && finite, kEigFailures);
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
  static void cpu(const Args& a, std::span<Tensor> outs) { decompose_all("linalg.eig", a.self, outs[0], outs[1]); }
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
  static void cpu(const Args& a, Tensor& out) { decompose_all("linalg.eigvals", a.self, out, Tensor()); }
  static void samples(S& s) {
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
    return GradMode::is_enabled() && a.self.requires_grad() ? std::get<0>(linalg_eig(a.self)) : _linalg_eigvals(a.self);
  }
  static void samples(S& s) {
    s.add({s->real({3, 3})});
    s.add({s->real({2, 4, 4})});
    s.fails({s->real({2})}, "linalg.eigvals: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgEigvals)

}  // namespace argand::ops
