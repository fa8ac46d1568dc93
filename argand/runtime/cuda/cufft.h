// Fourier transforms by cuFFT on the current stream of the current device.
//
// cuFFT prepares a plan for each problem: tables, and the kernels it chooses.  Plans are kept per device, as many as
// fourier_plans() (kernels/api/fourier.h) allows.  They have no working memory of their own: that comes from the
// caller, so that the allocator counts it.  The same problem gives the same bits every time.  A library built without
// cuFFT's headers has none.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

namespace argand::cuda {

enum class CufftKind { kComplex, kRealToComplex, kComplexToReal };

// Where the elements lie, in elements of their own side: (x0, x1, x2) of item b at
// ((x0 * embed[1] + x1) * embed[2] + x2) * stride + b * distance.
struct CufftLayout {
  std::array<int64_t, 3> embed;
  int64_t stride, distance;
};

// `batch` transforms of n[0], n[1], ... n[rank - 1] points, of the side that is real.
struct CufftProblem {
  CufftKind kind;
  bool in_double;
  int rank;  // 1, 2 or 3
  std::array<int64_t, 3> n;
  CufftLayout from, to;
  int64_t batch;
};

class CufftPlan;

// Whether the library is there; a dry run, which computes nothing, says yes.
bool has_cufft();
// Null if the library does not take the problem.
std::shared_ptr<CufftPlan> cufft_plan(const CufftProblem& problem);
// Addresses are aligned to complex numbers, also those of real ones.  The results are not scaled.  kComplex: `to` may
// be `from`; kComplexToReal: `from` is overwritten.
void cufft_transform(const std::shared_ptr<CufftPlan>& plan, bool forward, const void* from, void* to);

// The plans that the current device keeps.
int64_t cufft_plans();
int64_t most_cufft_plans();
void set_most_cufft_plans(int64_t n);
void clear_cufft_plans();

}  // namespace argand::cuda
