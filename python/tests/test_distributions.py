"""Distributions: samples and probabilities that PyTorch 2.15 printed for the same seeds, and laws that hold for all of them."""
import math

import argand as torch
import pytest
from argand import distributions as D

loc, scale = torch.tensor([0.5, -1.0]), torch.tensor([0.5, 2.0])
probs = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
MAKE = {
    "normal": lambda: D.Normal(loc, scale), "laplace": lambda: D.Laplace(loc, scale), "cauchy": lambda: D.Cauchy(loc, scale),
    "gumbel": lambda: D.Gumbel(loc, scale), "uniform": lambda: D.Uniform(loc, loc + scale), "exponential": lambda: D.Exponential(scale),
    "bernoulli": lambda: D.Bernoulli(probs), "geometric": lambda: D.Geometric(probs), "categorical": lambda: D.Categorical(probs),
    "one_hot": lambda: D.OneHotCategorical(logits=probs.log()), "log_normal": lambda: D.LogNormal(loc, scale),
    "half_normal": lambda: D.HalfNormal(scale),
    "squashed": lambda: D.TransformedDistribution(D.Normal(loc, scale), [D.TanhTransform(), D.AffineTransform(1.0, -2.0)])}
# With torch.manual_seed(3): sample((2,)), and its log_prob.
PRINTED = {
    "normal": ([0.90164, -0.65033, 0.54449, -2.22744],
     [-0.54842, -1.62737, -0.22975, -1.80041]),
    "laplace": ([-1.88225, -4.11048, 0.22042, -6.84089],
     [-4.7645, -2.94153, -0.55917, -4.30674]),
    "cauchy": ([-4.14831, -2.58443, 1.07772, -4.26538],
     [-4.92239, -2.32499, -1.29961, -3.13689]),
    "gumbel": ([-0.34851, -2.62043, 0.3875, -3.56941],
     [-3.06749, -2.13132, -0.33417, -3.02204]),
    "uniform": ([0.50213, -0.78886, 0.64292, -0.94609],
     [0.69315, -0.69315, 0.69315, -0.69315]),
    "exponential": ([0.06941, 0.16895, 2.96486, 0.09614],
     [-0.72785, 0.35524, -2.17558, 0.50086]),
    "bernoulli": ([1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
     [-2.30259, -1.60944, -0.35667, -0.69315, -0.28768, -1.38629, -0.10536, -0.22314, -0.35667, -0.69315, -0.28768, -0.28768]),
    "geometric": ([51.0, 10.0, 1.0, 5.0, 2.0, 9.0, 2.0, 1.0, 0.0, 0.0, 2.0, 0.0],
     [-7.67597, -3.84087, -1.56065, -4.15888, -1.96166, -3.97543, -2.51331, -1.83258, -0.35667, -0.69315, -1.96166, -1.38629]),
    "categorical": ([0, 2, 1, 0],
     [-2.30259, -1.38629, -1.60944, -0.69315]),
    "one_hot": ([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
     [-2.30259, -1.38629, -1.60944, -0.69315]),
    "log_normal": ([2.46364, 0.52187, 1.72373, 0.1078],
     [-1.45006, -0.97704, -0.77424, 0.42703]),
    "half_normal": ([0.40164, 0.34967, 0.04449, 1.22744],
     [0.14473, -0.93422, 0.4634, -1.10726]),
    "squashed": ([-0.43419, 2.14379, 0.00724, 2.95405],
     [-0.51956, -1.92441, -0.64001, 0.59813]),
}


@pytest.mark.parametrize("name", MAKE)
def test_samples_and_probabilities_are_pytorchs(name):
    d = MAKE[name]()
    torch.manual_seed(3)
    x = d.sample((2,))
    assert x.shape == (2, *d.batch_shape, *d.event_shape) and not x.requires_grad
    values, log_probs = PRINTED[name]
    assert x.reshape(-1).tolist() == pytest.approx(values, abs=1e-4)
    assert d.log_prob(x).reshape(-1).tolist() == pytest.approx(log_probs, abs=1e-4)


@pytest.mark.parametrize("name", ["normal", "laplace", "cauchy", "gumbel", "uniform", "exponential", "log_normal", "half_normal",
                                  "squashed"])
def test_density_is_the_slope_of_cdf_and_icdf_its_inverse(name):
    d = MAKE[name]()
    torch.manual_seed(0)
    x = d.sample((3,)).requires_grad_()
    slope, = torch.autograd.grad(d.cdf(x).sum(), x)
    torch.testing.assert_close(slope, d.log_prob(x).exp(), rtol=1e-3, atol=1e-4)
    p = torch.tensor(0.3)
    torch.testing.assert_close(d.cdf(d.icdf(p)), p.expand(2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["normal", "laplace", "gumbel", "uniform", "exponential", "bernoulli", "geometric", "half_normal",
                                  "log_normal"])
def test_moments(name):
    d = MAKE[name]() if name != "log_normal" else D.LogNormal(loc, torch.tensor([0.2, 0.3]))
    torch.manual_seed(1)
    x = d.sample((40000,))
    torch.testing.assert_close(x.mean(0), d.mean, rtol=0.05, atol=0.05)
    torch.testing.assert_close(x.std(0), d.stddev, rtol=0.05, atol=0.05)
    torch.testing.assert_close(-d.log_prob(x).mean(0), d.entropy().expand(d.batch_shape), rtol=0.05, atol=0.03)
    torch.testing.assert_close(d.variance, d.stddev**2)


@pytest.mark.parametrize("p, q", [
    (D.Normal(loc, scale), D.Normal(loc + 1, scale * 0.7)), (D.Laplace(loc, scale), D.Laplace(loc - 0.5, scale * 1.5)),
    (D.Exponential(scale), D.Exponential(scale * 2)), (D.Bernoulli(probs), D.Bernoulli(probs.flip(0))),
    (D.Categorical(probs), D.Categorical(probs.flip(1))), (D.Geometric(probs), D.Geometric(probs.flip(0))),
    (D.Uniform(0.0, 1.0), D.Normal(0.3, 0.8)), (D.Uniform(0.2, 0.6), D.Uniform(0.0, 1.0)),
    (D.OneHotCategorical(probs), D.OneHotCategorical(probs.flip(1))), (D.HalfNormal(scale), D.HalfNormal(scale * 1.3)),
    (D.Independent(D.Normal(loc, scale), 1), D.Independent(D.Normal(loc + 1, scale), 1))])
def test_kl_is_the_expected_difference_of_log_probs(p, q):
    torch.manual_seed(2)
    x = p.sample((40000,))
    expected = (p.log_prob(x) - q.log_prob(x)).mean(0)
    torch.testing.assert_close(D.kl_divergence(p, q), expected, rtol=0.06, atol=0.03)


def test_kl_without_a_formula():
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Cauchy(loc, scale), D.Normal(loc, scale))
    assert D.kl_divergence(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)) == math.inf


def test_rsample_has_the_gradient_of_parameters():
    mean, deviation = loc.clone().requires_grad_(), scale.clone().requires_grad_()
    x = D.Normal(mean, deviation).rsample((5,))
    x.sum().backward()
    assert mean.grad.tolist() == [5, 5]
    torch.testing.assert_close(deviation.grad, ((x.detach() - loc) / scale).sum(0))
    logits = probs.log().requires_grad_()
    one = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert (one.sum(-1) - 1).abs().max() < 1e-6 and one.requires_grad
    with pytest.raises(NotImplementedError, match="Categorical.rsample"):
        D.Categorical(probs).rsample()


def test_shapes():
    d = D.Categorical(probs).expand((4, 2))
    assert d.batch_shape == (4, 2) and d.sample((3,)).shape == (3, 4, 2) and d.log_prob(torch.zeros(2)).shape == (4, 2)
    assert D.Categorical(probs).enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert D.OneHotCategorical(probs).enumerate_support().shape == (3, 2, 3)
    joint = D.Independent(D.Normal(torch.zeros(4, 3), 1.0), 1)
    assert joint.batch_shape == (4,) and joint.event_shape == (3,) and joint.log_prob(torch.zeros(4, 3)).shape == (4,)
    assert joint.expand((2, 4)).sample().shape == (2, 4, 3)
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Normal(loc, scale)) == "Normal(loc: torch.Size([2]), scale: torch.Size([2]))"


@pytest.mark.parametrize("bad, message", [
    (lambda: D.Normal(0.0, -1.0), "Expected parameter scale"), (lambda: D.Categorical(torch.tensor([-1.0, 2.0])), "parameter probs"),
    (lambda: D.Bernoulli(probs).log_prob(torch.tensor(0.5)), "within the support"), (lambda: D.Uniform(1.0, 0.0), "low>= high"),
    (lambda: D.Normal(loc, scale).log_prob(torch.ones(3)), "not broadcastable"), (lambda: D.Bernoulli(), "Either `probs` or `logits`"),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims")])
def test_what_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        bad()


def test_probs_and_logits():
    d = D.Bernoulli(logits=torch.tensor([0.0, 2.0]))
    torch.testing.assert_close(d.probs, torch.sigmoid(torch.tensor([0.0, 2.0])))
    c = D.Categorical(logits=torch.tensor([1.0, 2.0, 3.0]))
    assert c.logits.exp().sum().item() == pytest.approx(1.0) and c.probs.argmax() == 2
    unnormalized = D.Categorical(torch.tensor([1.0, 3.0]))
    assert unnormalized.probs.tolist() == [0.25, 0.75]
    assert unnormalized.perplexity().item() == pytest.approx(math.exp(0.5623351446), rel=1e-5)


def test_names_of_modules():
    from argand.distributions.categorical import Categorical
    from argand.distributions.normal import Normal
    from argand.distributions.transforms import TanhTransform
    assert (Categorical, Normal, TanhTransform) == (D.Categorical, D.Normal, D.TanhTransform)
    x = torch.tensor([0.3, -2.0])
    chain = D.ComposeTransform([D.TanhTransform(), D.AffineTransform(0.5, 2.0), D.ExpTransform()])
    torch.testing.assert_close(chain.inv(chain(x)), x, rtol=1e-4, atol=1e-5)
    y = x.clone().requires_grad_()
    slope, = torch.autograd.grad(chain(y).sum(), y)
    torch.testing.assert_close(chain.log_abs_det_jacobian(x, chain(x)), slope.log())
