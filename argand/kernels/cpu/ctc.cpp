#include "argand/kernels/cpu/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "argand/core/dispatch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

// One sequence: its labels with blanks around them.
struct Lattice {
  const int64_t* labels;
  int64_t count, steps, blank;
  Lattice(const CtcSequences& q, int64_t n)
      : labels(q.labels + q.begins[n]), count(q.counts[n]), steps(q.lengths[n]), blank(q.blank) {}
  int64_t states() const { return 2 * count + 1; }
  int64_t label(int64_t s) const { return s % 2 == 0 ? blank : labels[s / 2]; }
  // Whether a path may go from state s - 2 to s: a blank must stand between equal labels.
  bool skips(int64_t s) const { return s >= 2 && label(s) != label(s - 2); }
};

void check_labels(const CtcSequences& q) {
  for (int64_t n = 0; n < q.batch; ++n) {
    const Lattice l(q, n);
    for (int64_t i = 0; i < l.count; ++i)
      ARGAND_CHECK(IndexError, l.labels[i] >= 0 && l.labels[i] < q.classes, q.op, ": expected targets in [0, ",
                   q.classes, "), got ", l.labels[i]);
  }
}

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

// log(e^a + e^b + e^c)
template <class T>
T log_sum(T a, T b, T c = kNever<T>) {
  const T top = std::max({a, b, c}), shift = top == kNever<T> ? T(0) : top;
  return std::log(std::exp(a - shift) + std::exp(b - shift) + std::exp(c - shift)) + shift;
}

template <class T>
const T* probs_at(const CtcSequences& q, int64_t n, int64_t t) {
  return static_cast<const T*>(q.log_probs) + (t * q.batch + n) * q.classes;
}

template <class T>
T forward_pass(const CtcSequences& q, int64_t n, T* alpha) {
  const Lattice l(q, n);
  const int64_t states = l.states(), width = q.width();
  if (l.steps == 0) return l.count == 0 ? T(0) : -kNever<T>;
  for (int64_t s = 0; s < std::min<int64_t>(2, states); ++s) alpha[s] = probs_at<T>(q, n, 0)[l.label(s)];
  for (int64_t t = 1; t < l.steps; ++t) {
    const T *before = alpha + (t - 1) * width, *p = probs_at<T>(q, n, t);
    for (int64_t s = 0; s < states; ++s)
      alpha[t * width + s] =
          log_sum(before[s], s > 0 ? before[s - 1] : kNever<T>, l.skips(s) ? before[s - 2] : kNever<T>) + p[l.label(s)];
  }
  const T* last = alpha + (l.steps - 1) * width;
  return -log_sum(last[states - 1], l.count > 0 ? last[states - 2] : kNever<T>);
}

// `grad`: of step 0; that of the next is `row` elements further.
template <class T>
void backward_pass(const CtcSequences& q, int64_t n, const T* alpha, T loss, T grad_loss, T* grad, int64_t row) {
  const Lattice l(q, n);
  const int64_t states = l.states();
  std::vector<T> beta(static_cast<size_t>(states), kNever<T>), after(beta);
  for (int64_t t = l.steps; t-- > 0;) {
    const T* p = probs_at<T>(q, n, t);
    T* g = grad + t * row;
    std::fill(g, g + q.classes, kNever<T>);
    for (int64_t s = 0; s < states; ++s) {
      const auto i = static_cast<size_t>(s);
      T sum = s >= states - 2 ? T(0) : kNever<T>;
      if (t + 1 < l.steps)
        sum = log_sum(after[i], s + 1 < states ? after[i + 1] : kNever<T>,
                      s + 2 < states && l.skips(s + 2) ? after[i + 2] : kNever<T>);
      beta[i] = sum + p[l.label(s)];
      T& of_label = g[l.label(s)];
      of_label = log_sum(of_label, alpha[t * q.width() + s] + beta[i]);
    }
    std::swap(beta, after);
    for (int64_t c = 0; c < q.classes; ++c) g[c] = (std::exp(p[c]) - std::exp(g[c] + loss - p[c])) * grad_loss;
  }
}

}  // namespace

void ctc_loss(const CtcSequences& q, void* alpha, void* losses) {
  check_labels(q);
  dispatch<kFloatTypes>(q.type, q.op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *paths = static_cast<T*>(alpha), *loss = static_cast<T*>(losses);
    const int64_t each = q.steps * q.width();
    std::fill(paths, paths + q.batch * each, kNever<T>);
    parallel_for(0, q.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) loss[n] = forward_pass(q, n, paths + n * each);
    });
  });
}

void ctc_loss_backward(const CtcSequences& q, const CtcGradient& g) {
  check_labels(q);
  dispatch<kFloatTypes>(q.type, q.op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *grads = static_cast<const T*>(g.grad_losses), *loss = static_cast<const T*>(g.losses),
            *paths = static_cast<const T*>(g.alpha);
    T* to = static_cast<T*>(g.grad);
    const int64_t each = q.steps * q.width(), row = q.batch * q.classes;
    std::fill(to, to + q.steps * row, T(0));
    parallel_for(0, q.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        if (!g.zero_infinity || loss[n] != -kNever<T>)
          backward_pass(q, n, paths + n * each, loss[n], grads[n], to + n * q.classes, row);
    });
  });
}

}  // namespace argand::cpu
