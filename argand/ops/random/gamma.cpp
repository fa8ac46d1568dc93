// Samples of gamma and Dirichlet distributions with gradients: the derivative of a sample by the parameter at a fixed
// quantile (implicit reparametrisation).
#include <limits>

#include "argand/kernels/cpu/random.h"
#include "argand/kernels/math/incomplete.h"
#include "argand/ops/define.h"
#include "argand/ops/random/args.h"
#include "argand/ops/random/draw.h"

namespace argand::ops {

namespace {

// Draws standard gamma variables for a contiguous tensor of shapes.
void draw_gamma(const Tensor& alpha, const Tensor& out, const std::optional<Generator>& g) {
  dispatch<kFloatingTypes>(out.dtype(), "_standard_gamma", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!out.is_cpu()) {
      const Tensor shapes = exec::dense(alpha, kDouble);
      Draw draw{Draw::kGamma, static_cast<double>(std::numeric_limits<T>::min())};
      draw.chances = shapes.impl().data();
      return draw_on_device(out, draw, g);
    }
    cpu::standard_gamma(generator_of(g), raw<T>(out), raw<T>(alpha), out.numel());
  });
}

}  // namespace

struct StandardGamma : Kernel<StandardGammaArgs> {
  static constexpr auto schema = "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "Samples of gamma distributions with the shapes self and the scale 1.";
  static constexpr int variants = kFunction;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) { return {a.self.impl().sizes, a.self.dtype()}; }
  static void run(const Args& a, Tensor& out) {
    draw_gamma(exec::dense(a.self), out, a.generator);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * _standard_gamma_grad(c.self, c.result()); }
  static void samples(S& s) {
    // The gradient is that of the implicit function, not of this stream's numbers.
    s.add_without_gradient({s->real({4, 6}, 0.1, 5)});
    s.fails({s->integer({2}, 1, 5)}, "_standard_gamma: not implemented for");
  }
};
ARGAND_OP(StandardGamma)

struct StandardGammaGrad : Pointwise<StandardGammaGradArgs> {
  static constexpr auto schema = "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor";
  static constexpr auto doc = "The derivative of the samples output of _standard_gamma(self) in self.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static constexpr auto compute = kFloatBody;
  static constexpr auto math_header = "incomplete";
  ARGAND_BODY((a, x), gamma_sample_slope(a, x))
  static void samples(S& s) { s.add({s->positive({2, 3}), s->positive({2, 3})}); }
};
ARGAND_OP(StandardGammaGrad)

struct SampleDirichlet : Kernel<SampleDirichletArgs> {
  static constexpr auto schema = "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "Samples of Dirichlet distributions, whose concentrations are the rows of self.";
  static constexpr int variants = kFunction;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() > 0, "_sample_dirichlet: expected at least one dimension, got a number");
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    fill(out, a.self, a.generator);
  }
  static void fill(const Tensor& out, const Tensor& concentrations, const std::optional<Generator>& g) {
    const Tensor parts = exec::new_tensor({out.impl().sizes, kDouble}, out.device());
    draw_gamma(exec::dense_clone(concentrations, kDouble), parts, g);
    const Tensor fractions = parts.div(parts.sum(-1, true));
    dispatch<kFloatingTypes>(out.dtype(), "_sample_dirichlet", [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Limits = std::numeric_limits<T>;  // the support is open: neither 0 nor 1
      const auto least = static_cast<double>(Limits::min()), step = static_cast<double>(Limits::epsilon());
      exec::copy_elements(out, fractions.clamp(least, 1 - step / 2));
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor x = c.result();
    return _dirichlet_grad(x, c.self, c.self.sum(-1, true).expand_as(c.self)) * (g - (x * g).sum(-1, true));
  }
  static void samples(S& s) {
    s.fails({s->positive({})}, "_sample_dirichlet: expected at least one dimension, got a number");
  }
};
ARGAND_OP(SampleDirichlet)

struct DirichletGrad : Pointwise<DirichletGradArgs> {
  static constexpr auto schema = "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor";
  static constexpr auto doc =
      "The derivative of samples x of _sample_dirichlet(alpha) in their own concentrations over 1 - x, with total = "
      "alpha.sum(-1, True).";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static constexpr auto compute = kFloatBody;
  static constexpr auto math_header = "incomplete";
  ARGAND_BODY((x, a, total), dirichlet_sample_slope(x, a, total))
  static void samples(S& s) { s.add({s->real({2, 3}, 0.1, 0.9), s->positive({2, 3}), s->real({2, 3}, 3, 5)}); }
};
ARGAND_OP(DirichletGrad)

}  // namespace argand::ops
