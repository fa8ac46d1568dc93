#include "argand/ops/norm/gradient.h"

#include "argand/ops/maybe.h"

namespace argand::ops {
namespace {

Tensor reshape_defined(const Tensor& t, IntArrayRef sizes) { return t.defined() ? t.reshape(sizes) : t; }

double count_over(const NormShape& shape) {
  double n = 1;
  for (const int64_t d : shape.over) n *= static_cast<double>(shape.elements[static_cast<size_t>(d)]);
  return n;
}

}  // namespace

// With L = <u, grad_x> + <v, grad_weight> + <s, grad_bias>:
//   dL/dh = rstd * (u - E[u] - z E[u z]), as backward is symmetric in h and u
//   dL/dz = -rstd * (E[h z] u + E[u z] h) + v g, from which x, mean and rstd get theirs through z = (x - mean) rstd
//   dL/drstd = ... + sum of u * (h - E[h] - z E[h z])
NormGradients norm_backward_gradient(const NormShape& shape, const NormTensors& t, const Tensor& u_given,
                                     const Tensor& v_given, const Tensor& s_given) {
  const Tensor g = t.grad_out.reshape(shape.elements), rstd = t.rstd.reshape(shape.statistics),
               weight = reshape_defined(t.weight, shape.weights), u = reshape_defined(u_given, shape.elements),
               v = reshape_defined(v_given, shape.weights), s = reshape_defined(s_given, shape.weights);
  Tensor centered = t.input.reshape(shape.elements);
  if (t.mean.defined()) centered = centered - t.mean.reshape(shape.statistics);
  const Tensor z = centered * rstd, h = weight.defined() ? g * weight : g;
  NormGradients out;
  Tensor z_grad;
  if (u.defined()) {
    Tensor h_grad = u, rest = h;  // grad_x = rstd * rest
    if (!t.fixed_statistics) {
      const Tensor uz = (u * z).mean(shape.over, true), hz = (h * z).mean(shape.over, true);
      if (t.mean.defined()) {
        h_grad = h_grad - u.mean(shape.over, true);
        rest = rest - h.mean(shape.over, true);
      }
      h_grad = h_grad - z * uz;
      rest = rest - z * hz;
      z_grad = -(rstd * (hz * u + uz * h));
    }
    h_grad = h_grad * rstd;
    out.grad_out = weight.defined() ? h_grad * weight : h_grad;
    out.weight = (g * h_grad).sum(shape.samples, true);
    out.rstd = (u * rest).sum(shape.over, true);
  }
  if (v.defined()) {
    out.grad_out = add_defined(out.grad_out, v * z);
    z_grad = add_defined(z_grad, v * g);
  }
  if (s.defined()) out.grad_out = add_defined(out.grad_out, s.expand(shape.elements));
  if (z_grad.defined()) {
    out.input = z_grad * rstd;
    out.mean = -out.input.sum(shape.over, true);
    out.rstd = add_defined(out.rstd, (z_grad * centered).sum(shape.over, true));
  }
  const auto restore = [](Tensor& grad, const Tensor& like) {
    grad = grad.defined() && like.defined() ? grad.reshape(like.sizes()) : Tensor();
  };
  restore(out.grad_out, t.grad_out);
  restore(out.input, t.input);
  restore(out.mean, t.mean);
  restore(out.rstd, t.rstd);
  restore(out.weight, t.weight);
  return out;
}

// mean' = 1 / n, and rstd' = -rstd^3 (x - mean) / n.
Tensor norm_statistics_gradient(const NormShape& shape, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                const Tensor& grad_mean, const Tensor& grad_rstd, IntArrayRef sizes) {
  const double n = count_over(shape);
  Tensor out;
  if (grad_mean.defined()) out = (grad_mean.reshape(shape.statistics) / n).expand(shape.elements);
  if (grad_rstd.defined()) {
    const Tensor r = rstd.reshape(shape.statistics);
    Tensor centered = input.reshape(shape.elements);
    if (mean.defined()) centered = centered - mean.reshape(shape.statistics);
    out = add_defined(out, centered * (grad_rstd.reshape(shape.statistics) * r * r * r / -n));
  }
  return out.defined() ? out.reshape(sizes) : out;
}

}  // namespace argand::ops
