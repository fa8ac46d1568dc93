#include "argand/kernels/cpu/fourier_plan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>

#include "argand/base/fork_mutex.h"
#include "argand/kernels/cpu/multiversion.h"

namespace argand::cpu {
namespace {

// The cost of a pass grows with the square of its prime.  Up to these primes it is faster than a convolution: as one
// factor of a length, and as the whole length.
constexpr int64_t kLargestRadix = 101, kLargestAlone = 47;
constexpr int64_t kChunk = 32;  // numbers of a line of work of large radices
constexpr size_t kKeptPlans = 16;
constexpr int64_t kLargestKept = int64_t{1} << 20;

// ---- passes: n = radix * left; x is [radix][left][width], y is [left][radix][width]

template <class T>
struct PassArgs {
  const T *x_re, *x_im, *w_re, *w_im, *base_re, *base_im;
  T *y_re, *y_im;
  int64_t radix, left, width;
};

template <class T, int R>
struct Values {
  T re[R], im[R];
};

// The transform of R values in place, of which 4 and below need no table.
template <class T, int R>
ARGAND_INLINE void butterfly(Values<T, R>& v, const T* base_re, const T* base_im) {
  if constexpr (R == 2) {
    const T re = v.re[0] - v.re[1], im = v.im[0] - v.im[1];
    v.re[0] += v.re[1], v.im[0] += v.im[1];
    v.re[1] = re, v.im[1] = im;
  } else if constexpr (R == 3) {
    const T sine = -base_im[1];
    const T sum_re = v.re[1] + v.re[2], sum_im = v.im[1] + v.im[2];
    const T turn_re = (v.im[1] - v.im[2]) * sine, turn_im = (v.re[2] - v.re[1]) * sine;
    const T mid_re = v.re[0] - sum_re / 2, mid_im = v.im[0] - sum_im / 2;
    v.re[0] += sum_re, v.im[0] += sum_im;
    v.re[1] = mid_re + turn_re, v.im[1] = mid_im + turn_im;
    v.re[2] = mid_re - turn_re, v.im[2] = mid_im - turn_im;
  } else if constexpr (R == 4) {
    const T a_re = v.re[0] + v.re[2], a_im = v.im[0] + v.im[2], b_re = v.re[0] - v.re[2], b_im = v.im[0] - v.im[2];
    const T c_re = v.re[1] + v.re[3], c_im = v.im[1] + v.im[3];
    const T d_re = v.im[1] - v.im[3], d_im = v.re[3] - v.re[1];  // times -i
    v.re[0] = a_re + c_re, v.im[0] = a_im + c_im;
    v.re[1] = b_re + d_re, v.im[1] = b_im + d_im;
    v.re[2] = a_re - c_re, v.im[2] = a_im - c_im;
    v.re[3] = b_re - d_re, v.im[3] = b_im - d_im;
  } else {
    static_assert(R == 5);
    const T c1 = base_re[1], c2 = base_re[2], s1 = -base_im[1], s2 = -base_im[2];
    const T a_re = v.re[1] + v.re[4], a_im = v.im[1] + v.im[4], b_re = v.re[2] + v.re[3], b_im = v.im[2] + v.im[3];
    const T d_re = v.re[1] - v.re[4], d_im = v.im[1] - v.im[4], e_re = v.re[2] - v.re[3], e_im = v.im[2] - v.im[3];
    const T p_re = v.re[0] + (c1 * a_re + c2 * b_re), p_im = v.im[0] + (c1 * a_im + c2 * b_im);
    const T q_re = v.re[0] + (c2 * a_re + c1 * b_re), q_im = v.im[0] + (c2 * a_im + c1 * b_im);
    const T s_re = s1 * d_im + s2 * e_im, s_im = -(s1 * d_re + s2 * e_re);  // times -i
    const T t_re = s2 * d_im - s1 * e_im, t_im = -(s2 * d_re - s1 * e_re);
    v.re[0] += a_re + b_re, v.im[0] += a_im + b_im;
    v.re[1] = p_re + s_re, v.im[1] = p_im + s_im;
    v.re[4] = p_re - s_re, v.im[4] = p_im - s_im;
    v.re[2] = q_re + t_re, v.im[2] = q_im + t_im;
    v.re[3] = q_re - t_re, v.im[3] = q_im - t_im;
  }
}

template <class T, int R>
struct PassBody {
  ARGAND_INLINE static void run(PassArgs<T> a) {
    const int64_t step = a.left * a.width;
    if (a.width == 1) {  // one line's first pass: neighbours are the places, not the lanes
      ARGAND_VECTORIZE
      for (int64_t p = 0; p < a.left; ++p) {
        Values<T, R> v;
        for (int i = 0; i < R; ++i) v.re[i] = a.x_re[p + i * step], v.im[i] = a.x_im[p + i * step];
        butterfly<T, R>(v, a.base_re, a.base_im);
        a.y_re[p * R] = v.re[0], a.y_im[p * R] = v.im[0];
        for (int j = 1; j < R; ++j) {
          const T w_re = a.w_re[(j - 1) * a.left + p], w_im = a.w_im[(j - 1) * a.left + p];
          a.y_re[p * R + j] = v.re[j] * w_re - v.im[j] * w_im;
          a.y_im[p * R + j] = v.re[j] * w_im + v.im[j] * w_re;
        }
      }
      return;
    }
    for (int64_t p = 0; p < a.left; ++p) {
      const T *x_re = a.x_re + p * a.width, *x_im = a.x_im + p * a.width;
      T *y_re = a.y_re + p * R * a.width, *y_im = a.y_im + p * R * a.width;
      T w_re[R], w_im[R];
      for (int j = 1; j < R; ++j) w_re[j] = a.w_re[(j - 1) * a.left + p], w_im[j] = a.w_im[(j - 1) * a.left + p];
      ARGAND_VECTORIZE
      for (int64_t q = 0; q < a.width; ++q) {
        Values<T, R> v;
        for (int i = 0; i < R; ++i) v.re[i] = x_re[q + i * step], v.im[i] = x_im[q + i * step];
        butterfly<T, R>(v, a.base_re, a.base_im);
        y_re[q] = v.re[0], y_im[q] = v.im[0];
        for (int j = 1; j < R; ++j) {
          y_re[q + j * a.width] = v.re[j] * w_re[j] - v.im[j] * w_im[j];
          y_im[q + j * a.width] = v.re[j] * w_im[j] + v.im[j] * w_re[j];
        }
      }
    }
  }
};

// An odd prime: inputs i and radix - i share their factors, so only their sums and differences are multiplied.
template <class T>
struct PrimePassBody {
  ARGAND_INLINE static void run(PassArgs<T> a) {
    for (int64_t p = 0; p < a.left; ++p)
      for (int64_t q = 0; q < a.width; q += kChunk) chunk(a, p, q, a.width - q < kChunk ? a.width - q : kChunk);
  }
  ARGAND_INLINE static void chunk(const PassArgs<T>& a, int64_t p, int64_t q, int64_t count) {
    constexpr int64_t kHalf = kLargestRadix / 2 + 1;
    T sum_re[kHalf][kChunk], sum_im[kHalf][kChunk], turn_re[kHalf][kChunk], turn_im[kHalf][kChunk];
    const int64_t half = a.radix / 2, step = a.left * a.width;
    const T *x_re = a.x_re + p * a.width + q, *x_im = a.x_im + p * a.width + q;
    T *y_re = a.y_re + p * a.radix * a.width + q, *y_im = a.y_im + p * a.radix * a.width + q;
    for (int64_t i = 1; i <= half; ++i) {
      const T *lo_re = x_re + i * step, *lo_im = x_im + i * step;
      const T *hi_re = x_re + (a.radix - i) * step, *hi_im = x_im + (a.radix - i) * step;
      ARGAND_VECTORIZE
      for (int64_t l = 0; l < count; ++l) {
        sum_re[i][l] = lo_re[l] + hi_re[l], sum_im[i][l] = lo_im[l] + hi_im[l];
        turn_re[i][l] = hi_im[l] - lo_im[l], turn_im[i][l] = lo_re[l] - hi_re[l];  // the difference times i
      }
    }
    for (int64_t l = 0; l < count; ++l) {
      T re = x_re[l], im = x_im[l];
      for (int64_t i = 1; i <= half; ++i) re += sum_re[i][l], im += sum_im[i][l];
      y_re[l] = re, y_im[l] = im;
    }
    for (int64_t j = 1; j <= half; ++j) {
      T even_re[kChunk], even_im[kChunk], odd_re[kChunk], odd_im[kChunk];
      for (int64_t l = 0; l < count; ++l) even_re[l] = x_re[l], even_im[l] = x_im[l], odd_re[l] = 0, odd_im[l] = 0;
      for (int64_t i = 1, at = j; i <= half; ++i, at = at + j < a.radix ? at + j : at + j - a.radix) {
        const T c = a.base_re[at], s = a.base_im[at];
        ARGAND_VECTORIZE
        for (int64_t l = 0; l < count; ++l) {
          even_re[l] += c * sum_re[i][l], even_im[l] += c * sum_im[i][l];
          odd_re[l] += s * turn_re[i][l], odd_im[l] += s * turn_im[i][l];
        }
      }
      const int64_t k = a.radix - j;
      const T w_re = a.w_re[(j - 1) * a.left + p], w_im = a.w_im[(j - 1) * a.left + p];
      const T u_re = a.w_re[(k - 1) * a.left + p], u_im = a.w_im[(k - 1) * a.left + p];
      ARGAND_VECTORIZE
      for (int64_t l = 0; l < count; ++l) {
        const T b_re = even_re[l] + odd_re[l], b_im = even_im[l] + odd_im[l];
        const T e_re = even_re[l] - odd_re[l], e_im = even_im[l] - odd_im[l];
        y_re[j * a.width + l] = b_re * w_re - b_im * w_im, y_im[j * a.width + l] = b_re * w_im + b_im * w_re;
        y_re[k * a.width + l] = e_re * u_re - e_im * u_im, y_im[k * a.width + l] = e_re * u_im + e_im * u_re;
      }
    }
  }
};

// to = from * the factor of each element, which all lanes share; from may be to.
template <class T>
struct ScaleBody {
  ARGAND_INLINE static void run(Planes<T> from, Planes<T> to, const T* w_re, const T* w_im, int64_t n, int64_t lanes) {
    for (int64_t i = 0; i < n; ++i) {
      ARGAND_VECTORIZE
      for (int64_t l = i * lanes; l < (i + 1) * lanes; ++l) {
        const T re = from.re[l] * w_re[i] - from.im[l] * w_im[i], im = from.re[l] * w_im[i] + from.im[l] * w_re[i];
        to.re[l] = re, to.im[l] = im;
      }
    }
  }
};

template <class T>
void run_pass(const PassArgs<T>& a) {
  switch (a.radix) {
    case 2:
      return on_vector_unit<PassBody<T, 2>>(a);
    case 3:
      return on_vector_unit<PassBody<T, 3>>(a);
    case 4:
      return on_vector_unit<PassBody<T, 4>>(a);
    case 5:
      return on_vector_unit<PassBody<T, 5>>(a);
    default:
      return on_vector_unit<PrimePassBody<T>>(a);
  }
}

int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return std::max(largest, n);
}

// The least length of at least n that is a power of 2, or 3 or 5 times one.
int64_t convenient_length(int64_t n) {
  int64_t best = 0;
  for (const int64_t odd : {1, 3, 5}) {
    int64_t m = odd;
    while (m < n) m *= 2;
    if (best == 0 || m < best) best = m;
  }
  return best;
}

}  // namespace

std::complex<double> root_of_unity(int64_t n, int64_t k) {
  if (2 * k > n) return std::conj(root_of_unity(n, n - k));
  // The angle is pi a / n: half a turn at most, of which the second quarter mirrors the first.
  int64_t a = 2 * k;
  const bool mirrored = 2 * a > n;
  if (mirrored) a = n - a;
  const auto part = [n](int64_t of, int64_t parts) {
    return std::numbers::pi * static_cast<double>(of) / static_cast<double>(parts * n);
  };
  double cosine, sine;
  if (4 * a > n) {
    const double rest = part(n - 2 * a, 2);
    cosine = std::sin(rest), sine = std::cos(rest);
  } else {
    cosine = std::cos(part(a, 1)), sine = std::sin(part(a, 1));
  }
  return {mirrored ? -cosine : cosine, -sine};
}

template <class T>
bool FourierPlan<T>::needs_convolution(int64_t n) {
  const int64_t prime = largest_prime(n);
  return prime > (prime == n ? kLargestAlone : kLargestRadix);
}

template <class T>
FourierPlan<T>::FourierPlan(int64_t n) : n_(n) {
  if (needs_convolution(n)) {
    prepare_convolution();
    return;
  }
  int64_t left = n;
  for (const int64_t radix : {4, 2, 3, 5})
    while (left % radix == 0) add_pass(radix, left);
  for (int64_t p = 7; left > 1; p += 2)
    while (left % p == 0) add_pass(p, left);
}

template <class T>
void FourierPlan<T>::add_pass(int64_t radix, int64_t& left) {
  Pass pass{radix, left / radix, n_ / left, {}, {}, {}, {}};
  const auto add = [](std::vector<T>& re, std::vector<T>& im, std::complex<double> w) {
    re.push_back(static_cast<T>(w.real()));
    im.push_back(static_cast<T>(w.imag()));
  };
  for (int64_t j = 1; j < radix; ++j)
    for (int64_t p = 0; p < pass.left; ++p) add(pass.re, pass.im, root_of_unity(left, j * p));
  for (int64_t j = 0; j < radix; ++j) add(pass.base_re, pass.base_im, root_of_unity(radix, j));
  left = pass.left;
  passes_.push_back(std::move(pass));
}

// j k = (j^2 + k^2 - (k - j)^2) / 2: X[k] = c[k] sum of (x[j] c[j]) conj(c[k - j]) with the chirp c[k] = exp(-pi i k^2
// / n).
template <class T>
void FourierPlan<T>::prepare_convolution() {
  const int64_t m = convenient_length(2 * n_ - 1);
  inner_ = of(m);
  std::vector<T> re(static_cast<size_t>(m)), im(static_cast<size_t>(m)), other_re(re), other_im(im);
  const T scale = T(1) / static_cast<T>(m);
  int64_t square = 0;  // k^2 modulo 2 n
  for (int64_t k = 0; k < n_; ++k) {
    const std::complex<double> c = root_of_unity(2 * n_, square);
    square = (square + 2 * k + 1) % (2 * n_);
    chirp_re_.push_back(static_cast<T>(c.real()));
    chirp_im_.push_back(static_cast<T>(c.imag()));
    for (const auto at : {static_cast<size_t>(k), static_cast<size_t>((m - k) % m)})
      re[at] = chirp_re_.back() * scale, im[at] = -chirp_im_.back() * scale;
  }
  const Planes<T> result = inner_->run({re.data(), im.data()}, {other_re.data(), other_im.data()}, 1);
  filter_re_.assign(result.re, result.re + m);
  filter_im_.assign(result.im, result.im + m);
}

template <class T>
Planes<T> FourierPlan<T>::convolve(Planes<T> x, Planes<T> other, int64_t lanes) const {
  const int64_t m = inner_->n_;
  on_vector_unit<ScaleBody<T>>(x, x, chirp_re_.data(), chirp_im_.data(), n_, lanes);
  for (T* plane : {x.re, x.im}) std::fill(plane + n_ * lanes, plane + m * lanes, T(0));
  const Planes<T> product = inner_->run(x, other, lanes);
  on_vector_unit<ScaleBody<T>>(product, product, filter_re_.data(), filter_im_.data(), m, lanes);
  const Planes<T> free = product.re == x.re ? other : x;
  const Planes<T> result = inner_->run(product.swapped(), free.swapped(), lanes).swapped();
  on_vector_unit<ScaleBody<T>>(result, result, chirp_re_.data(), chirp_im_.data(), n_, lanes);
  return result;
}

template <class T>
Planes<T> FourierPlan<T>::run(Planes<T> x, Planes<T> other, int64_t lanes) const {
  if (inner_) return convolve(x, other, lanes);
  for (const Pass& p : passes_) {
    run_pass<T>({x.re, x.im, p.re.data(), p.im.data(), p.base_re.data(), p.base_im.data(), other.re, other.im, p.radix,
                 p.left, p.done * lanes});
    std::swap(x, other);
  }
  return x;
}

template <class T>
const std::vector<std::complex<T>>& FourierPlan<T>::joining_roots() const {
  if (const auto* known = joining_.load(std::memory_order_acquire)) return *known;
  auto roots = std::make_unique<std::vector<std::complex<T>>>();
  for (int64_t k = 0; k <= n_; ++k) roots->emplace_back(root_of_unity(2 * n_, k));
  const std::vector<std::complex<T>>* known = nullptr;
  if (joining_.compare_exchange_strong(known, roots.get(), std::memory_order_acq_rel)) return *roots.release();
  return *known;
}

template <class T>
std::shared_ptr<const FourierPlan<T>> FourierPlan<T>::of(int64_t n) {
  using Kept = std::pair<int64_t, std::shared_ptr<const FourierPlan>>;
  static constinit ProcessMutex mutex;
  // The last used plan comes first; never destroyed, because threads may still use it.
  const auto all = []() -> std::list<Kept>& {
    static auto& kept = *new std::list<Kept>;
    return kept;
  };
  {
    const std::lock_guard lock(mutex);
    std::list<Kept>& kept = all();
    const auto found = std::find_if(kept.begin(), kept.end(), [n](const Kept& k) { return k.first == n; });
    if (found != kept.end()) {
      kept.splice(kept.begin(), kept, found);
      return found->second;
    }
  }
  auto made = std::make_shared<const FourierPlan>(n);
  if (n > kLargestKept) return made;
  const std::lock_guard lock(mutex);
  std::list<Kept>& kept = all();
  kept.emplace_front(n, made);
  if (kept.size() > kKeptPlans) kept.pop_back();
  return made;
}

template class FourierPlan<float>;
template class FourierPlan<double>;

}  // namespace argand::cpu
