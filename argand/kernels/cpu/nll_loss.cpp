#include "argand/kernels/cpu/nll_loss.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce.h"
#include "argand/kernels/cpu/tile.h"

namespace argand::cpu {
namespace {

// For each target, in order: visit(its place, offset of its class's element, class); ignored ones are left out.
template <class F>
void for_each_target(const NllLossCall& c, F visit) {
  for (int64_t o = 0; o < c.outer; ++o)
    for (int64_t i = 0; i < c.inner; ++i) {
      const int64_t at = o * c.inner + i, t = c.targets[at];
      if (t != c.ignore_index) visit(at, (o * c.classes + t) * c.inner + i, t);
    }
}

template <class A>
A sum_of(const void* x, int64_t n) {
  A total{};
  reduce({ReduceKind::kSum, x, scalar_type_v<A>, scalar_type_v<A>, &total}, ReduceLayout({n}, {1}, {0}));
  return total;
}

}  // namespace

void nll_loss(const NllLossCall& c, void* losses_out, void* weights_out) {
  dispatch<kFloatingTypes>(c.type, "nll_loss", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const T *x = static_cast<const T*>(c.input), *w = static_cast<const T*>(c.weight);
    A *losses = static_cast<A*>(losses_out), *weights = static_cast<A*>(weights_out);
    std::fill(losses, losses + c.outer * c.inner, A(0));
    std::fill(weights, weights + c.outer * c.inner, A(0));
    for_each_target(c, [&](int64_t at, int64_t offset, int64_t t) {
      weights[at] = w ? static_cast<A>(w[t]) : A(1);
      losses[at] = -weights[at] * static_cast<A>(x[offset]);
    });
  });
}

void nll_loss_backward(const NllLossCall& c, const void* grad, int64_t grad_stride, const void* total_weight,
                       void* out) {
  dispatch<kFloatingTypes>(c.type, "nll_loss_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const T *g = static_cast<const T*>(grad), *w = static_cast<const T*>(c.weight);
    T* to = static_cast<T*>(out);
    std::fill(to, to + c.outer * c.classes * c.inner, T(0));
    const A total = total_weight ? static_cast<A>(*static_cast<const T*>(total_weight)) : A(1);
    for_each_target(c, [&](int64_t at, int64_t offset, int64_t t) {
      to[offset] = static_cast<T>(-(w ? static_cast<A>(w[t]) : A(1)) * static_cast<A>(g[at * grad_stride]) / total);
    });
  });
}

void total_loss(const TotalLossCall& c) {
  dispatch<kFloatTypes>(c.type, "loss", [&](auto tag) {
    using A = typename decltype(tag)::type;
    const A total = sum_of<A>(c.weights, c.n);
    convert_elements(&total, c.type, c.total, c.total_type, 1);
    if (!c.loss) return;
    const A sum = sum_of<A>(c.losses, c.n), loss = c.mean ? sum / total : sum;
    convert_elements(&loss, c.type, c.loss, c.loss_type, 1);
  });
}

}  // namespace argand::cpu
