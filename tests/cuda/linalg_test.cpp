// Factorizations and systems of equations on a GPU, of all dtypes, one matrix and batches, against float64 on the CPU
// and by what they multiply back to.
#include "argand/exec/cuda_graph.h"
#include "argand/exec/stream.h"
#include "tests/cuda/linalg_fixture.h"

namespace argand {
namespace {

constexpr int64_t kRows[] = {0, 1, 2, 8, 33, 100, 260};

TEST_F(CudaLinalg, CholeskyMultipliesBack) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : kRows)
      for (const auto& batch : batches_for(n))
        for (const bool upper : {false, true}) {
          const Tensor A = hermitian(with(batch, n, n), type, true);
          // The other triangle is not read.
          const Tensor given = upper ? A.triu() : A.tril();
          const auto [L, info] = linalg_cholesky_ex(given.cuda(), upper);
          const Tensor x = wide(L), what = upper ? mH(x).matmul(x) : x.matmul(mH(x));
          expect_near(what, A, limit(A, static_cast<double>(n), largest(A)), name("cholesky", A));
          EXPECT_TRUE(L.equal(upper ? L.triu() : L.tril())) << name("cholesky", A);
          EXPECT_FALSE(info.cpu().any().item<bool>()) << name("cholesky", A);
        }
}

TEST_F(CudaLinalg, CholeskyTellsWhichMinorIsNotPositive) {
  for (const int64_t n : {3, 40, 300}) {
    Tensor A = hermitian({5, n, n}, kDouble, true);
    A.select(0, 1).neg_();
    A.select(0, 3).select(0, n - 1).select(0, n - 1).fill_(-1);
    const auto [L, info] = linalg_cholesky_ex(A.cuda());
    const auto [L_cpu, info_cpu] = linalg_cholesky_ex(A);
    EXPECT_TRUE(info.cpu().equal(info_cpu)) << n;
    EXPECT_EQ(message_of<LinAlgError>([&] { linalg_cholesky(A.cuda()); }),
              message_of<LinAlgError>([&] { linalg_cholesky(A); }));
    linalg_cholesky_ex(full({n, n}, NAN, TensorOptions(kDouble).device(kCUDA)));
  }
}

TEST_F(CudaLinalg, LuMultipliesBack) {
  for (const ScalarType type : kTypes)
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {0, 3}, {1, 1}, {8, 8}, {5, 9}, {9, 5}, {65, 65}, {100, 40}, {260, 260}})
      for (const auto& batch : batches_for(n)) {
        const Tensor A = numbers(with(batch, m, n), type);
        const auto [P, L, U] = linalg_lu(A.cuda());
        expect_near(wide(P).matmul(wide(L)).matmul(wide(U)), A, limit(A, static_cast<double>(n), largest(A)),
                    name("lu", A));
        EXPECT_LE(largest(L), type == kComplexFloat || type == kComplexDouble ? 1.5 : 1) << name("lu", A);
        const auto [LU, pivots, info] = linalg_lu_factor_ex(A.cuda());
        const auto [LU_cpu, pivots_cpu, info_cpu] = linalg_lu_factor_ex(wide(A));
        EXPECT_TRUE(info.cpu().equal(info_cpu)) << name("lu", A);
        EXPECT_TRUE(type != kDouble || pivots.cpu().equal(pivots_cpu)) << name("lu", A);
      }
}

TEST_F(CudaLinalg, LdlSolvesSymmetricSystems) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : kRows)
      for (const auto& batch : batches_for(n))
        for (const bool hermitian_too : {false, true}) {
          const Tensor general = numbers(with(batch, n, n), type);
          const Tensor A = general + (hermitian_too ? mH(general) : general.mT()), B = numbers(with(batch, n, 3), type);
          const auto [LD, pivots, info] = linalg_ldl_factor_ex(A.tril().cuda(), hermitian_too);
          EXPECT_FALSE(info.cpu().any().item<bool>()) << name("ldl", A);
          EXPECT_TRUE(LD.equal(LD.tril())) << name("ldl", A);
          const Tensor x = wide(linalg_ldl_solve(LD, pivots, B.cuda(), hermitian_too));
          const double size = std::max(largest(x), 1.0);
          expect_near(wide(A).matmul(x), B, limit(A, static_cast<double>(std::max<int64_t>(n, 1)), largest(A) * size),
                      name("ldl", A));
          if (A.numel() > 0) {
            EXPECT_FALSE(message_of<ValueError>([&] { linalg_ldl_solve(LD, pivots + 1000, B.cuda()); }).empty());
          }
        }
}

TEST_F(CudaLinalg, SolvesSystems) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : kRows)
      for (const auto& batch : batches_for(n)) {
        const Tensor A = numbers(with(batch, n, n), type) + static_cast<double>(n) * eye(n, TensorOptions(type));
        for (const int64_t columns : {0, 1, 5}) {
          const Tensor B = numbers(with(batch, n, columns), type), X = linalg_solve(A.cuda(), B.cuda());
          expect_near(wide(A).matmul(wide(X)), B, limit(A, static_cast<double>(n), largest(A)), name("solve", A));
          const auto [LU, pivots] = linalg_lu_factor(A.cuda());
          expect_near(wide(A).matmul(wide(linalg_lu_solve(LU, pivots, B.cuda()))), B,
                      limit(A, static_cast<double>(n), largest(A)), name("lu_solve", A));
        }
        const Tensor Y = numbers(with(batch, 3, n), type), Z = linalg_solve(A.cuda(), Y.cuda(), false);
        expect_near(wide(Z).matmul(wide(A)), Y, limit(A, static_cast<double>(n), largest(A)), name("solve", A));
        const Tensor inverse = linalg_inv(A.cuda()), product = wide(A).matmul(wide(inverse));
        expect_near(product, eye(n, product.options()).expand(product.sizes()),
                    limit(A, static_cast<double>(n), largest(A)), name("inv", A));
      }
}

TEST_F(CudaLinalg, SingularMatricesGiveTheSameInfoAndErrors) {
  for (const int64_t n : {2, 40, 200})
    for (const int64_t batch : {1, 3, 100}) {
      Tensor A = numbers({batch, n, n}, kDouble);
      A.select(0, batch - 1).narrow(-1, n / 2, 1).zero_();
      const Tensor B = numbers({batch, n, 1}, kDouble);
      const auto [X, info] = linalg_solve_ex(A.cuda(), B.cuda());
      const auto [X_cpu, info_cpu] = linalg_solve_ex(A, B);
      EXPECT_TRUE(info.cpu().equal(info_cpu)) << n << " " << batch;
      EXPECT_EQ(message_of<LinAlgError>([&] { linalg_solve(A.cuda(), B.cuda()); }),
                message_of<LinAlgError>([&] { linalg_solve(A, B); }));
      EXPECT_EQ(message_of<LinAlgError>([&] { linalg_inv(A.cuda()); }),
                message_of<LinAlgError>([&] { linalg_inv(A); }));
      EXPECT_EQ(largest(linalg_det(A.cuda()).select(0, batch - 1)), 0);
      linalg_solve_ex(full({batch, n, n}, NAN, TensorOptions(kDouble).device(kCUDA)), B.cuda());
    }
}

TEST_F(CudaLinalg, Determinants) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : {0, 1, 2, 8, 33})
      for (const auto& batch : batches_for(n)) {
        const Tensor A = numbers(with(batch, n, n), type), expected = linalg_det(wide(A));
        expect_near(linalg_det(A.cuda()), expected, 100 * limit(A, static_cast<double>(n), largest(expected)),
                    name("det", A));
        const auto [sign, log] = linalg_slogdet(A.cuda());
        const auto [sign_cpu, log_cpu] = linalg_slogdet(wide(A));
        expect_near(log, log_cpu, 1e3 * limit(A, static_cast<double>(n), 1 + largest(log_cpu)), name("slogdet", A));
        expect_near(sign, sign_cpu, 1e3 * limit(A, static_cast<double>(n), 1), name("slogdet", A));
      }
  const Tensor A = numbers({4, 6, 6}, kDouble), x = A.cuda().requires_grad_(), y = A.clone().requires_grad_();
  linalg_det(x).sum().backward();
  linalg_det(y).sum().backward();
  expect_near(x.grad(), y.grad(), 1e-9 * largest(y.grad()), "the gradient of det");
}

TEST_F(CudaLinalg, Triangles) {
  for (const ScalarType type : kTypes)
    for (const int64_t n : {0, 1, 8, 100, 600})
      for (const auto& batch : batches_for(n))
        for (const bool upper : {true, false})
          for (const bool left : {true, false})
            for (const bool ones : {true, false}) {
              const Tensor A = numbers(with(batch, n, n), type) / std::max<double>(1, static_cast<double>(n)) +
                               eye(n, TensorOptions(type));
              const Tensor B = numbers(left ? with(batch, n, 3) : with(batch, 3, n), type);
              const Tensor X = linalg_solve_triangular(A.cuda(), B.cuda(), upper, left, ones);
              Tensor T = upper ? wide(A).triu(ones ? 1 : 0) : wide(A).tril(ones ? -1 : 0);
              if (ones) T = T + eye(n, T.options());
              expect_near(left ? T.matmul(wide(X)) : wide(X).matmul(T), B, limit(A, static_cast<double>(n), 10),
                          name("solve_triangular", A));
            }
}

TEST_F(CudaLinalg, QrMultipliesBack) {
  for (const ScalarType type : kTypes)
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 2}, {2, 0}, {1, 1}, {8, 8}, {5, 9}, {9, 5}, {70, 65}, {300, 200}, {40, 260}})
      for (const auto& batch : batches_for(n))
        for (const char* mode : {"reduced", "complete", "r"}) {
          const Tensor A = numbers(with(batch, m, n), type);
          const auto [Q, R] = linalg_qr(A.cuda(), mode);
          EXPECT_TRUE(R.equal(R.triu())) << name("qr", A);
          if (std::string(mode) == "r") continue;
          expect_orthonormal(Q, name("qr", A));
          expect_near(wide(Q).matmul(wide(R)), A, limit(A, static_cast<double>(m), largest(A)), name("qr", A));
          if (m < n || std::string(mode) == "complete") continue;
          const auto [a, tau] = geqrf(A.cuda());
          EXPECT_TRUE(linalg_householder_product(a, tau).equal(Q)) << name("householder_product", A);
        }
}

TEST_F(CudaLinalg, LeastSquares) {
  const Tensor A = numbers({3, 50, 20}, kDouble), B = numbers({3, 50, 2}, kDouble);
  for (const char* driver : {"gels", "gelsd"}) {
    const auto got = linalg_lstsq(A.cuda(), B.cuda(), {}, driver), expected = linalg_lstsq(A, B, {}, driver);
    expect_near(std::get<0>(got), std::get<0>(expected), 1e-10, driver);
  }
}

TEST_F(CudaLinalg, GivesTheSameBits) {
  for (const auto& sizes : {std::vector<int64_t>{300, 300}, {50, 8, 8}, {3, 100, 100}}) {
    const Tensor A = (numbers(sizes, kFloat) + 40 * eye(sizes.back())).cuda(),
                 S = hermitian(sizes, kFloat, true).cuda();
    expect_same_twice("solve", [&] { return std::vector{linalg_solve(A, S), linalg_inv(A), linalg_det(A)}; });
    expect_same_twice("cholesky", [&] { return std::vector{linalg_cholesky(S)}; });
    expect_same_twice("triangles", [&] { return std::vector{linalg_solve_triangular(A, S, true)}; });
    expect_same_twice("qr", [&] {
      const auto [Q, R] = linalg_qr(A);
      return std::vector{Q, R};
    });
  }
}

TEST_F(CudaLinalg, StreamsDoNotDisturbEachOther) {
  constexpr int kStreams = 4, kRounds = 10;
  std::vector<Tensor> A, B, expected, got;
  for (int i = 0; i < kStreams; ++i) {
    A.push_back((numbers({200, 200}, kFloat) + 20 * eye(200)).cuda());
    B.push_back(numbers({200, 200}, kFloat).cuda());
    expected.push_back(linalg_inv(A.back()).matmul(linalg_solve(A.back(), B.back())));
  }
  cuda::synchronize();
  std::vector<Stream> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(stream_from_pool(Device(kCUDA, 0)));
  for (int round = 0; round < kRounds; ++round) {
    got.clear();
    for (int i = 0; i < kStreams; ++i) {
      const StreamGuard on(streams[static_cast<size_t>(i)]);
      const Tensor &a = A[static_cast<size_t>(i)], &b = B[static_cast<size_t>(i)];
      // The ex forms do not wait for the device.
      got.push_back(std::get<0>(linalg_inv_ex(a)).matmul(std::get<0>(linalg_solve_ex(a, b))));
    }
    cuda::synchronize();
    for (int i = 0; i < kStreams; ++i)
      ASSERT_TRUE(got[static_cast<size_t>(i)].equal(expected[static_cast<size_t>(i)])) << "stream " << i;
  }
}

TEST_F(CudaLinalg, InACaptureTrianglesAreRecordedAndFactorizationsAnError) {
  const Tensor A = (numbers({4, 8, 8}, kFloat) + 8 * eye(8)).cuda(), big = (numbers({100, 100}, kFloat)).cuda();
  const Tensor B = numbers({4, 8, 3}, kFloat).cuda();
  Tensor X = linalg_solve_triangular(A, B, true);
  const Tensor expected = X.cpu();
  std::string message;
  cuda::CUDAGraph graph;
  {
    cuda::GraphCapture capture(graph);
    message = message_of<Error>([&] { linalg_lu_factor_ex(big); });
    X = linalg_solve_triangular(A, B, true);
    capture.end();
  }
  EXPECT_NE(message.find("linear algebra by cuSOLVER is not possible while a CUDA graph is being captured"),
            std::string::npos)
      << message;
  for (int i = 0; i < 3; ++i) {
    X.zero_();
    graph.replay();
    EXPECT_TRUE(X.cpu().equal(expected)) << "replay " << i;
  }
}

// Whatever repeats is launched as a graph by the library itself: Note [Launch tape].
TEST_F(CudaLinalg, RepeatedCallsGiveTheSameBits) {
  const Tensor A = (numbers({64, 8, 8}, kFloat) + 8 * eye(8)).cuda(), B = numbers({64, 8, 8}, kFloat).cuda();
  Tensor first;
  for (int i = 0; i < 40; ++i) {
    const Tensor x = linalg_solve_triangular(A, B * 2, true).relu() + std::get<0>(linalg_solve_ex(A, B + 1));
    const Tensor y = (x * x).sum(-1).sqrt();
    cuda::synchronize();
    if (i == 0) first = y;
    ASSERT_TRUE(y.equal(first)) << "round " << i;
  }
}

// What is made of these blocks: TearDown looks for warnings.
TEST_F(CudaLinalg, RunsOnTheDevice) {
  const Tensor A = (numbers({100, 100}, kFloat) + 20 * eye(100)).cuda(), S = hermitian({100, 100}, kFloat, true).cuda();
  linalg_solve(A, S);
  linalg_inv(A);
  linalg_det(A);
  linalg_slogdet(A);
  linalg_lu(A);
  linalg_cholesky(S);
  linalg_qr(A);
  linalg_eigh(S);
  linalg_eigvalsh(S);
  linalg_svd(A);
  linalg_svdvals(A);
  linalg_pinv(A);
  linalg_eig(A);
  linalg_matrix_exp(A / 20);
  linalg_matrix_rank(A);
  linalg_polar(A);
  cholesky_inverse(linalg_cholesky(S));
}

}  // namespace
}  // namespace argand
