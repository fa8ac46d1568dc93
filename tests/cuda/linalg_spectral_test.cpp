// Eigenvalues and singular values on a GPU, of all dtypes, one matrix and batches.
#include "tests/cuda/linalg_fixture.h"

namespace argand {
namespace {

class CudaSpectral : public CudaLinalg {};

TEST_F(CudaSpectral, HermitianMatrices) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : {0, 1, 2, 8, 33, 260})
      for (const auto& batch : batches_for(n))
        for (const char* half : {"L", "U"}) {
          const Tensor A = hermitian(with(batch, n, n), type, false);
          const Tensor given = *half == 'U' ? A.triu() : A.tril();
          const auto [L, V] = linalg_eigh(given.cuda(), half);
          const double most = limit(A, static_cast<double>(n), largest(A) * std::sqrt(static_cast<double>(n) + 1));
          expect_near((wide(V) * wide(L).unsqueeze(-2)).matmul(mH(wide(V))), A, most, name("eigh", A));
          expect_orthonormal(V, name("eigh", A));
          const Tensor values = linalg_eigvalsh(wide(A));
          expect_near(L, values, most, name("eigh", A));
          expect_near(linalg_eigvalsh(given.cuda(), half), values, most, name("eigvalsh", A));
        }
}

TEST_F(CudaSpectral, HermitianMatricesThatAreNotFiniteGiveNans) {
  for (const int64_t n : {4, 100}) {
    Tensor A = hermitian({3, n, n}, kFloat, false);
    A.select(0, 1).select(0, 2).select(0, 1).fill_(NAN);
    const auto [L, V] = linalg_eigh(A.cuda());
    EXPECT_TRUE(L.select(0, 1).isnan().all().item<bool>());
    EXPECT_TRUE(V.select(0, 1).isnan().all().item<bool>());
    EXPECT_TRUE(L.select(0, 0).isfinite().all().item<bool>());
    EXPECT_TRUE(V.select(0, 2).isfinite().all().item<bool>());
  }
}

TEST_F(CudaSpectral, SingularValues) {
  for (const ScalarType type : kTypes)
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 2}, {2, 0}, {1, 1}, {8, 8}, {5, 9}, {9, 5}, {32, 3}, {40, 33}, {33, 90}, {260, 200}})
      for (const auto& batch : batches_for(std::max(m, n)))
        for (const bool is_full : {false, true}) {
          const Tensor A = numbers(with(batch, m, n), type);
          const auto [U, S, Vh] = linalg_svd(A.cuda(), is_full);
          const int64_t k = std::min(m, n);
          const double most =
              limit(A, static_cast<double>(std::max(m, n)), largest(A) * std::sqrt(static_cast<double>(m + n + 1)));
          if (A.numel() > 0)
            expect_near((wide(U).narrow(-1, 0, k) * wide(S).unsqueeze(-2)).matmul(wide(Vh).narrow(-2, 0, k)), A, most,
                        name("svd", A));
          EXPECT_EQ(U.size(-1), is_full ? m : k);
          expect_orthonormal(U, name("svd", A));
          expect_orthonormal(wide(Vh).transpose(-2, -1).conj().to(A.scalar_type()), name("svd", A));
          const Tensor values = linalg_svdvals(wide(A));
          expect_near(S, values, most, name("svd", A));
          expect_near(linalg_svdvals(A.cuda()), values, most, name("svdvals", A));
        }
}

// Repeated values and values of 0.
TEST_F(CudaSpectral, SingularValuesOfHardMatrices) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : {8, 100}) {
      const Tensor column = numbers({n, 1}, type), zero = zeros({n, n}, TensorOptions(type));
      for (const Tensor& A : {zero, eye(n, TensorOptions(type)), column.matmul(mH(column))}) {
        const auto [U, S, Vh] = linalg_svd(A.cuda());
        expect_near((wide(U) * wide(S).unsqueeze(-2)).matmul(wide(Vh)), A,
                    limit(A, static_cast<double>(n), 1 + largest(A)), name("svd", A));
        expect_orthonormal(U, name("svd", A));
        expect_orthonormal(Vh, name("svd", A));
      }
    }
}

TEST_F(CudaSpectral, RefusesWhatIsNotFinite) {
  Tensor A = numbers({3, 5, 4}, kFloat);
  A.select(0, 1).select(0, 2).select(0, 1).fill_(INFINITY);
  EXPECT_EQ(message_of<LinAlgError>([&] { linalg_svd(A.cuda()); }), message_of<LinAlgError>([&] { linalg_svd(A); }));
  const Tensor square = full({40, 40}, NAN, TensorOptions(kDouble));
  EXPECT_EQ(message_of<LinAlgError>([&] { linalg_eig(square.cuda()); }),
            message_of<LinAlgError>([&] { linalg_eig(square); }));
}

TEST_F(CudaSpectral, GeneralMatrices) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : {0, 1, 2, 8, 70, 130})
      for (const auto& batch : batches_for(n == 130 ? 200 : n)) {
        const Tensor A = numbers(with(batch, n, n), type);
        const auto [L, V] = linalg_eig(A.cuda());
        const Tensor x = wide(A).to(kComplexDouble), v = wide(V);
        const double most = 10 * limit(A, static_cast<double>(n), largest(A) * std::sqrt(static_cast<double>(n) + 1));
        expect_near(x.matmul(v), v * wide(L).unsqueeze(-2), most, name("eig", A));
        if (n == 0 || A.numel() == 0) continue;
        expect_near(v.abs().square().sum(-2), ones(wide(L).sizes(), kDouble), most, name("eig", A));
        // The trace is the sum of all values, also of those without vectors.
        const Tensor trace = x.diagonal(0, -2, -1).sum(-1);
        expect_near(linalg_eigvals(A.cuda()).sum(-1), trace, 10 * most, name("eigvals", A));
      }
}

TEST_F(CudaSpectral, GivesTheSameBits) {
  for (const auto& sizes : {std::vector<int64_t>{200, 200}, {50, 8, 8}, {3, 100, 100}}) {
    const Tensor A = numbers(sizes, kFloat).cuda(), S = hermitian(sizes, kFloat, false).cuda();
    expect_same_twice("eigh", [&] {
      const auto [L, V] = linalg_eigh(S);
      return std::vector{L, V};
    });
    expect_same_twice("svd", [&] {
      const auto [U, values, Vh] = linalg_svd(A);
      return std::vector{U, values, Vh};
    });
  }
}

TEST_F(CudaSpectral, GradientsAreThoseOfTheCpu) {
  const Tensor A = hermitian({2, 12, 12}, kDouble, true);
  const auto gradient = [](const Tensor& given) {
    const Tensor x = given.detach().requires_grad_();
    const auto [L, V] = linalg_eigh(x);
    const auto [U, S, Vh] = linalg_svd(x, false);
    (L.square().sum() + V.abs().select(-1, 0).sum() + S.sum() + U.abs().select(-1, 0).sum()).backward();
    return x.grad();
  };
  expect_near(gradient(A.cuda()), gradient(A), 1e-7 * (1 + largest(gradient(A))), "eigh and svd");
}

}  // namespace
}  // namespace argand
