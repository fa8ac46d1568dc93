// How a discrete Fourier transform of one length is computed.
//
// Lengths whose primes are small go through Stockham's passes: each takes out one factor and leaves the results in
// order, so nothing is permuted.  Other lengths are written as a convolution with a chirp (Bluestein), whose transforms
// have small primes.  Many lines are transformed side by side: element i of line l stands at i * lanes + l, real and
// imaginary parts apart, so that the loops over the lanes are loops over neighbours.  A line's bits do not depend on
// the lines beside it.
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
  // Whether the length has large primes: float32 then computes in float64, as three transforms lose digits.
  static bool needs_convolution(int64_t n);

  explicit FourierPlan(int64_t n);
  ~FourierPlan() { delete joining_.load(std::memory_order_relaxed); }
  FourierPlan(const FourierPlan&) = delete;
  FourierPlan& operator=(const FourierPlan&) = delete;
  // Elements of a line that the planes given to run() must have place for.
  int64_t room() const { return inner_ ? inner_->room() : n_; }
  // X[k] = sum of x[j] exp(-2 pi i j k / n), for `lanes` lines.  Returns where the result is: in x or in other.
  // The inverse, not divided by n: run(x.swapped(), other.swapped()).swapped().
  Planes<T> run(Planes<T> x, Planes<T> other, int64_t lanes) const;
  // exp(-pi i k / n) for 0 <= k <= n, which join the transforms of what stands at even places and at odd ones of a line
  // twice as long; made when first asked for.
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
  // Threads that find none make it, and the first one's stays: whoever waited for another could wait for ever in a
  // child of fork().
  mutable std::atomic<const std::vector<std::complex<T>>*> joining_{nullptr};
};

}  // namespace argand::cpu
