#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "argand/base/error.h"
#include "argand/kernels/cpu/random.h"

namespace argand::cpu {

namespace {

template <class T>
void check_weights(const T* weights, int64_t rows, int64_t categories) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int64_t r = 0; r < rows; ++r, weights += categories) {
    bool positive = false;
    for (int64_t i = 0; i < categories; ++i) {
      const Wide w = static_cast<Wide>(weights[i]);
      ARGAND_CHECK(ValueError, w >= 0 && w <= std::numeric_limits<Wide>::max(),
                   "multinomial: probability tensor contains either `inf`, `nan` or element < 0");
      positive |= w > 0;
    }
    ARGAND_CHECK(ValueError, positive, "multinomial: invalid multinomial distribution (sum of probabilities <= 0)");
  }
}

template <class T>
struct Key {
  T value;
  int64_t index;
  // Largest first.  Equal values have no order: then the sorting algorithm decides, so it must be PyTorch's choice
  // below.
  friend bool operator<(const Key& a, const Key& b) { return a.value > b.value; }
};

// The k largest of `keys`, in order, to the front.
template <class T>
void select_largest(std::vector<Key<T>>& keys, int64_t k) {
  if (k == 1) {  // the first of equal ones
    std::iter_swap(keys.begin(), std::min_element(keys.begin(), keys.end()));
  } else if (k * 64 <= static_cast<int64_t>(keys.size())) {
    std::partial_sort(keys.begin(), keys.begin() + k, keys.end());
  } else {
    std::nth_element(keys.begin(), keys.begin() + k - 1, keys.end());
    std::sort(keys.begin(), keys.begin() + k - 1);
  }
}

// The k first events of Poisson processes whose rates are the weights: each waits exponential(1) / weight.
template <class T>
void draw_distinct(CpuGeneratorImpl& gen, const T* weights, int64_t rows, int64_t categories, int64_t k, int64_t* out) {
  std::vector<T> waits(static_cast<size_t>(rows * categories));
  exponential(gen, waits.data(), rows * categories, 1.0);
  std::vector<Key<T>> keys(static_cast<size_t>(categories));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < categories; ++i) {
      const size_t at = static_cast<size_t>(r * categories + i);
      keys[static_cast<size_t>(i)] = {weights[at] / waits[at], i};
    }
    select_largest(keys, k);
    for (int64_t j = 0; j < k; ++j) *out++ = keys[static_cast<size_t>(j)].index;
  }
}

// Each sample is the first category whose cumulated probability reaches a fraction in [0, 1).
template <class T>
void draw_independent(CpuGeneratorImpl& gen, const T* weights, int64_t rows, int64_t categories, int64_t k,
                      int64_t* out) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<Sum> cumulated(static_cast<size_t>(categories));
  std::vector<double> fractions(static_cast<size_t>(k));
  for (int64_t r = 0; r < rows; ++r, weights += categories) {
    Sum sum = 0;
    for (size_t i = 0; i < cumulated.size(); ++i) cumulated[i] = sum += static_cast<Sum>(weights[i]);
    for (Sum& c : cumulated) c /= sum;
    cumulated.back() = 1;
    uniform(gen, fractions.data(), k);
    for (double u : fractions)
      *out++ = std::lower_bound(cumulated.begin(), cumulated.end(), u,
                                [](Sum c, double x) { return static_cast<double>(c) < x; }) -
               cumulated.begin();
  }
}

}  // namespace

template <class T>
void multinomial(CpuGeneratorImpl& gen, const T* weights, int64_t rows, int64_t categories, int64_t k, bool replacement,
                 int64_t* out) {
  check_weights(weights, rows, categories);
  if (replacement && k > 1) {
    draw_independent(gen, weights, rows, categories, k, out);
  } else {
    draw_distinct(gen, weights, rows, categories, k, out);
  }
}

#define ARGAND_INSTANTIATE(T) \
  template void multinomial(CpuGeneratorImpl&, const T*, int64_t, int64_t, int64_t, bool, int64_t*);

ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
ARGAND_INSTANTIATE(Half)
ARGAND_INSTANTIATE(BFloat16)

}  // namespace argand::cpu
