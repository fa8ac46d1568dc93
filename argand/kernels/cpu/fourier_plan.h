// How a discrete Fourier transform of one length is computed.
//
// Lengths with small prime factors use Stockham's passes: each handles one factor and leaves the results in order, so
// nothing is permuted.  Other lengths become a convolution with a chirp (Bluestein), whose transforms have small prime
// factors.  Several lines are transformed together: element i of line l is at i * lanes + l, with separate real and
// imaginary parts, so that loops over the lanes access neighbours.  A line's bits do not depend on the other lines.
#pragma once
#include <atomic>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace argand::cpu {

// exp(-2 pi i k / n) for 0 <= k < n, from an angle of an eighth of a turn at most.
std::complex<double> root_of_unity(int64_t n, int64_t k);

template <class T>
struct Planes {
  T* re;
  T* im;
  Planes swapped() const { return {im, re}; }
};

template <class T>
class FourierPlan {
 public:
  // Plans of the last lengths are kept.  Thread safety: may be called from any thread.
  static std::shared_ptr<const FourierPlan> of(int64_t n);
  // Whether the length has large prime factors: float32 then computes in float64, because three transforms lose digits.
  static bool needs_convolution(int64_t n);

  explicit FourierPlan(int64_t n);
  ~FourierPlan() { delete joining_.load(std::memory_order_relaxed); }
  FourierPlan(const FourierPlan&) = delete;
  FourierPlan& operator=(const FourierPlan&) = delete;
  // The number of elements per line for which the planes given to run() must have room.
  int64_t room() const { return inner_ ? inner_->room() : n_; }
  // X[k] = sum of x[j] exp(-2 pi i j k / n), for `lanes` lines.  Returns where the result is: in x or in other.
  // The inverse, not divided by n: run(x.swapped(), other.swapped()).swapped().
  Planes<T> run(Planes<T> x, Planes<T> other, int64_t lanes) const;
  // exp(-pi i k / n) for 0 <= k <= n, which combine the transforms of the even and the odd elements of a line twice as
  // long; made at the first call.
  const std::vector<std::complex<T>>& joining_roots() const;

 private:
  struct Pass {
    int64_t radix, left, done;        // left = the length after the pass; done = the product of the radices before
    std::vector<T> re, im;            // twiddles of output j at j - 1 rows of `left`
    std::vector<T> base_re, base_im;  // the roots of unity of the radix
  };
  void add_pass(int64_t radix, int64_t& left);
  void prepare_convolution();
  Planes<T> convolve(Planes<T> x, Planes<T> other, int64_t lanes) const;

  int64_t n_;
  std::vector<Pass> passes_;
  std::shared_ptr<const FourierPlan> inner_;  // the transform of the convolution
  std::vector<T> chirp_re_, chirp_im_, filter_re_, filter_im_;
  // Each thread that finds none makes one, and the first is kept: a thread that waited for another could wait for ever
  // in a child of fork().
  mutable std::atomic<const std::vector<std::complex<T>>*> joining_{nullptr};
};

}  // namespace argand::cpu
