"""Distributions: samples and probabilities that PyTorch 2.15 printed for the same seeds, and laws that hold for all of them."""
import math

import argand as torch
import pytest
from argand import distributions as D
from argand.distributions import constraints as C


def f64(values):
    return torch.tensor(values, dtype=torch.float64)


loc, scale = torch.tensor([0.5, -1.0]), torch.tensor([0.5, 2.0])
shape = torch.tensor([1.5, 4.0])
probs = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
MAKE = {
    "normal": lambda: D.Normal(loc, scale), "laplace": lambda: D.Laplace(loc, scale), "cauchy": lambda: D.Cauchy(loc, scale),
    "gumbel": lambda: D.Gumbel(loc, scale), "uniform": lambda: D.Uniform(loc, loc + scale), "exponential": lambda: D.Exponential(scale),
    "bernoulli": lambda: D.Bernoulli(probs), "geometric": lambda: D.Geometric(probs), "categorical": lambda: D.Categorical(probs),
    "one_hot": lambda: D.OneHotCategorical(logits=probs.log()), "log_normal": lambda: D.LogNormal(loc, scale),
    "half_normal": lambda: D.HalfNormal(scale),
    "squashed": lambda: D.TransformedDistribution(D.Normal(loc, scale), [D.TanhTransform(), D.AffineTransform(1.0, -2.0)]),
    "half_cauchy": lambda: D.HalfCauchy(scale), "pareto": lambda: D.Pareto(scale, shape), "weibull": lambda: D.Weibull(scale, shape),
    "kumaraswamy": lambda: D.Kumaraswamy(scale, shape), "von_mises": lambda: D.VonMises(loc, shape * 10),
    "generalized_pareto": lambda: D.GeneralizedPareto(loc, scale, torch.tensor([0.2, -0.3])),
    "continuous_bernoulli": lambda: D.ContinuousBernoulli(torch.tensor([0.2, 0.4999])),
    "relaxed_bernoulli": lambda: D.RelaxedBernoulli(torch.tensor(0.7), probs[0]),
    "relaxed_one_hot": lambda: D.RelaxedOneHotCategorical(torch.tensor(0.7), probs),
    "logistic_normal": lambda: D.LogisticNormal(loc, scale), "multinomial": lambda: D.Multinomial(4, probs),
    "multivariate_normal": lambda: D.MultivariateNormal(loc, torch.tensor([[2.0, 0.5], [0.5, 1.0]])),
    "low_rank": lambda: D.LowRankMultivariateNormal(loc, torch.tensor([[1.0], [-0.5]]), scale),
    "mixture": lambda: D.MixtureSameFamily(D.Categorical(probs[0, :2]), D.Normal(loc, scale)),
    "gamma": lambda: D.Gamma(shape, scale), "chi2": lambda: D.Chi2(shape), "beta": lambda: D.Beta(shape, scale),
    "dirichlet": lambda: D.Dirichlet(probs * 5), "student_t": lambda: D.StudentT(shape * 3, loc, scale),
    "fisher_snedecor": lambda: D.FisherSnedecor(shape * 4, shape * 6), "inverse_gamma": lambda: D.InverseGamma(shape * 2, scale),
    "poisson": lambda: D.Poisson(shape * 9), "binomial": lambda: D.Binomial(torch.tensor([3.0, 80.0, 30.0]), probs),
    "negative_binomial": lambda: D.NegativeBinomial(5, probs), "lkj": lambda: D.LKJCholesky(3, 1.5),
    "wishart": lambda: D.Wishart(f64(4.5), f64([[2.0, 0.5], [0.5, 1.0]]))}
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
    "half_cauchy": ([4.64831, 1.58443, 0.57772, 3.26538],
     [-4.22924, -1.63184, -0.60646, -2.44374]),
    "pareto": ([0.5117, 2.1763, 1.34331, 2.09849],
     [1.04077, 0.27076, -1.37211, 0.45279]),
    "weibull": ([0.0532, 1.52486, 0.65006, 1.32439],
     [-0.0564, -0.4585, -0.25259, -0.73572]),
    "kumaraswamy": ([0.9481, 0.65573, 0.32044, 0.77124],
     [-2.08026, -0.02885, -0.13609, -0.89051]),
    "von_mises": ([0.48616, -0.92358, -0.16692, -0.95544],
     [0.42502, 0.8056, -2.78754, 0.88263]),
    "generalized_pareto": ([0.50214, -0.78056, 0.67412, -0.94557],
     [0.68802, -0.77124, 0.28917, -0.71227]),
    "continuous_bernoulli": ([0.00231, 0.10557, 0.17405, 0.02695],
     [0.61111, 0.00016, 0.37303, 0.00019]),
    "relaxed_bernoulli": ([2e-05, 0.00648, 0.4756, 0.00026, 0.10501, 0.06195],
     [5.11087, 2.32939, -0.55696, 4.26506, 0.61848, -0.38484]),
    "relaxed_one_hot": ([0.00702, 0.06703, 0.92596, 0.1987, 0.69564, 0.10565, 0.10902, 0.24229, 0.64869, 0.85093, 0.02091, 0.12816],
     [3.87351, 0.32659, 0.60707, 1.81899]),
    "logistic_normal": ([0.55193, 0.15365, 0.29442, 0.4629, 0.05227, 0.48483],
     [1.51439, 2.41543]),
    "multinomial": ([1.0, 1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 2.0, 2.0, 2.0, 1.0, 1.0],
     [-2.14047, -2.07944, -2.14047, -1.67398]),
    "multivariate_normal": ([1.636, -0.55246, 0.62583, -1.54262],
     [-2.45559, -2.30997]),
    "low_rank": ([1.36619, -2.26957, 0.70749, -3.02243],
     [-2.88858, -3.3376]),
    "mixture": ([0.54449, 0.52309],
     [-1.01169, -1.00735]),
    "gamma": ([4.53432, 2.00587, 2.43453, 0.81057],
     [-2.43026, -0.94268, -1.69133, -1.27036]),
    "chi2": ([1.90496, 9.80459, 1.0649, 6.68491],
     [-1.83673, -4.00574, -1.27131, -2.8289]),
    "beta": ([0.70916, 0.70023, 0.87438, 0.74312],
     [-0.00593, 0.72196, 0.51853, 0.74589]),
    "dirichlet": ([0.11794, 0.50924, 0.37282, 0.52299, 0.33549, 0.14152, 0.1332, 0.11047, 0.75633, 0.39193, 0.37194, 0.23612],
     [0.00685, 1.35576, 1.71446, 1.07682]),
    "student_t": ([0.92801, -0.50498, 0.59105, -2.04195],
     [-0.69578, -1.66599, -0.3011, -1.77827]),
    "fisher_snedecor": ([3.37308, 0.79834, 1.55888, 0.52696],
     [-3.23422, -0.04229, -1.28535, -0.43715]),
    "inverse_gamma": ([0.1189, 0.24507, 0.1823, 0.44764],
     [1.54008, 1.51499, 1.29312, -0.21393]),
    "poisson": ([17.0, 41.0, 10.0, 34.0],
     [-2.75935, -3.10992, -2.57752, -2.74118]),
    "binomial": ([0.0, 14.0, 20.0, 1.0, 15.0, 6.0, 0.0, 15.0, 25.0, 1.0, 16.0, 10.0],
     [-0.31608, -2.30995, -1.95502, -0.98083, -3.06247, -1.92789, -0.31608, -2.21465, -3.0696, -0.98083, -2.75928, -2.39838]),
    "negative_binomial": ([0.0, 0.0, 10.0, 3.0, 0.0, 1.0, 1.0, 1.0, 23.0, 8.0, 1.0, 2.0],
     [-0.5268, -1.11572, -2.67786, -1.98983, -1.43841, -1.21527, -1.21995, -1.11572, -4.45057, -2.80636, -1.21527, -1.50295]),
    "lkj": ([1.0, 0.0, 0.0, -0.25934, 0.96579, 0.0, -0.14526, 0.59259, 0.7923, 1.0, 0.0, 0.0, -0.63828, 0.7698, 0.0, 0.54992, 0.26345,
      0.79258],
     [-1.32939, -1.78265]),
    "wishart": ([10.93625, 4.26589, 4.26589, 7.71886, 10.2304, 2.06598, 2.06598, 2.73374],
     [-8.16302, -6.51189]),
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
                                  "squashed", "half_cauchy", "pareto", "weibull", "kumaraswamy", "generalized_pareto",
                                  "continuous_bernoulli"])
def test_density_is_the_slope_of_cdf_and_icdf_its_inverse(name):
    d = MAKE[name]()
    torch.manual_seed(0)
    x = d.sample((3,)).requires_grad_()
    slope, = torch.autograd.grad(d.cdf(x).sum(), x)
    torch.testing.assert_close(slope, d.log_prob(x).exp(), rtol=1e-3, atol=1e-4)
    p = torch.tensor(0.3)
    torch.testing.assert_close(d.cdf(d.icdf(p)), p.expand(2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["normal", "laplace", "gumbel", "uniform", "exponential", "bernoulli", "geometric", "half_normal",
                                  "log_normal", "weibull", "kumaraswamy", "continuous_bernoulli", "gamma", "chi2", "beta", "poisson",
                                  "binomial", "negative_binomial", "dirichlet", "multinomial", "multivariate_normal", "low_rank",
                                  "mixture", "wishart"])
def test_moments_of_samples(name):
    tamer = {"log_normal": lambda: D.LogNormal(loc, torch.tensor([0.2, 0.3])), "beta": lambda: D.Beta(shape, shape.flip(0)),
             "binomial": lambda: D.Binomial(30, probs)}
    d = tamer.get(name, MAKE[name])()
    torch.manual_seed(1)
    x = d.sample((40000,))
    torch.testing.assert_close(x.mean(0), d.mean, rtol=0.05, atol=0.05)
    torch.testing.assert_close(x.std(0), d.stddev, rtol=0.05, atol=0.05)
    torch.testing.assert_close(d.variance, d.stddev**2)
    if name in ("poisson", "negative_binomial", "mixture"):
        with pytest.raises(NotImplementedError):
            d.entropy()
    else:
        torch.testing.assert_close(-d.log_prob(x).mean(0), d.entropy().expand(d.batch_shape), rtol=0.05, atol=0.03)


# Distributions of a number, in float64, for laws that integrals of their densities must keep.
CONTINUOUS = {
    "normal": lambda: D.Normal(f64(0.5), f64(0.7)), "laplace": lambda: D.Laplace(f64(0.5), f64(0.7)),
    "gumbel": lambda: D.Gumbel(f64(0.5), f64(0.7)),
    "uniform": lambda: D.Uniform(f64(0.2), f64(0.9)), "wide_uniform": lambda: D.Uniform(f64(-1.0), f64(2.0)),
    "exponential": lambda: D.Exponential(f64(2.5)), "gamma": lambda: D.Gamma(f64(2.5), f64(1.5)),
    "low_gamma": lambda: D.Gamma(f64(0.6), f64(0.5)),
    "chi2": lambda: D.Chi2(f64(3.0)), "beta": lambda: D.Beta(f64(2.5), f64(0.8)), "pareto": lambda: D.Pareto(f64(0.1), f64(5.0)),
    "high_pareto": lambda: D.Pareto(f64(1.5), f64(6.0)), "continuous_bernoulli": lambda: D.ContinuousBernoulli(f64(0.2)),
    "even_continuous_bernoulli": lambda: D.ContinuousBernoulli(f64(0.5002)), "half_normal": lambda: D.HalfNormal(f64(0.7)),
    "student_t": lambda: D.StudentT(f64(7.0), f64(0.5), f64(0.7)), "fisher_snedecor": lambda: D.FisherSnedecor(f64(3.0), f64(9.0)),
    "inverse_gamma": lambda: D.InverseGamma(f64(6.0), f64(2.0)), "kumaraswamy": lambda: D.Kumaraswamy(f64(2.0), f64(3.0)),
    "weibull": lambda: D.Weibull(f64(0.8), f64(1.7)), "log_normal": lambda: D.LogNormal(f64(0.1), f64(0.4)),
    "generalized_pareto": lambda: D.GeneralizedPareto(f64(0.5), f64(0.7), f64(0.1)),
    "ending_pareto": lambda: D.GeneralizedPareto(f64(0.5), f64(0.7), f64(-0.3)),
    "limit_pareto": lambda: D.GeneralizedPareto(f64(0.5), f64(0.7), f64(0.0)), "cauchy": lambda: D.Cauchy(f64(0.5), f64(0.7)),
    "half_cauchy": lambda: D.HalfCauchy(f64(0.7)), "relaxed_bernoulli": lambda: D.RelaxedBernoulli(f64(0.7), f64(0.3)),
    "mixture": lambda: D.MixtureSameFamily(D.Categorical(f64([0.3, 0.7])), D.Normal(f64([0.5, -1.0]), f64([0.7, 0.2])))}


def integral(d, *functions):
    """The integrals of 1 and of functions times the density, over the support by way of biject_to, whose slope they thereby test."""
    support = getattr(d.support, "base_constraint", d.support)
    if getattr(support, "upper_bound", None) == math.inf:
        support = C.greater_than(support.lower_bound)
    transform = D.biject_to(support)
    z = torch.linspace(-50, 50, 40001, dtype=torch.float64)
    if support is C.real:  # where heavy tails end far out
        z = (z * 9 / 50).sinh()
    z, dz = (z[1:] + z[:-1]) / 2, z[1:] - z[:-1]
    x = transform(z)
    weights = (d.log_prob(x) + transform.log_abs_det_jacobian(z, x)).exp() * dz
    return [torch.where(weights > 0, weights * f(x), 0 * x).sum().item() for f in (torch.ones_like, *functions)]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_moments_are_integrals_of_the_density(name):
    d = CONTINUOUS[name]()
    at = 1.6 if name == "high_pareto" else 0.6
    total, mean, squares, entropy, above = integral(d, lambda x: x, lambda x: x**2, lambda x: -d.log_prob(x), lambda x: (x > at).double())
    assert total == pytest.approx(1, abs=1e-3)
    if "cauchy" not in name and name != "relaxed_bernoulli":
        assert (d.mean.item(), d.variance.item()) == pytest.approx((mean, squares - mean**2), rel=2e-3)
    if name not in ("mixture", "fisher_snedecor", "relaxed_bernoulli"):
        assert d.entropy().item() == pytest.approx(entropy, abs=5e-3)
    if name not in ("student_t", "fisher_snedecor", "beta", "relaxed_bernoulli"):
        assert d.cdf(f64(at)).item() == pytest.approx(1 - above, abs=2e-3)


DISCRETE = {
    "bernoulli": lambda: D.Bernoulli(f64(0.3)), "binomial": lambda: D.Binomial(7, f64(0.3)), "poisson": lambda: D.Poisson(f64(3.5)),
    "geometric": lambda: D.Geometric(f64(0.3)), "negative_binomial": lambda: D.NegativeBinomial(f64(2.5), f64(0.5))}


@pytest.mark.parametrize("name", DISCRETE)
def test_moments_are_sums_of_the_probabilities(name):
    d = DISCRETE[name]()
    x = d.enumerate_support() if d.has_enumerate_support else torch.arange(200, dtype=torch.float64)
    p = d.log_prob(x).exp()
    assert p.sum().item() == pytest.approx(1)
    mean = (p * x).sum()
    assert (d.mean.item(), d.variance.item()) == pytest.approx((mean.item(), (p * (x - mean) ** 2).sum().item()))
    assert d.mode == x[p.argmax()]
    if name not in ("poisson", "negative_binomial"):
        assert d.entropy().item() == pytest.approx(-(p * d.log_prob(x)).sum().item())


def test_multinomial_sums_over_all_counts():
    d = D.Multinomial(3, f64([0.2, 0.3, 0.5]))
    counts = f64([[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)])
    p = d.log_prob(counts).exp()
    assert p.sum().item() == pytest.approx(1)
    torch.testing.assert_close((p[:, None] * counts).sum(0), d.mean)
    assert d.entropy().item() == pytest.approx(-(p * p.log()).sum().item())


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


def test_kl_of_numbers_is_the_integral_of_the_difference_of_log_probs():
    others = [D.Gumbel(f64(0.2), f64(0.9)), D.Cauchy(f64(0.1), f64(1.2)), D.Laplace(f64(0.2), f64(0.9)), D.Normal(f64(0.2), f64(0.9)),
              D.Exponential(f64(1.2)), D.Gamma(f64(1.2), f64(2.0)), D.Beta(f64(1.2), f64(2.0)), D.Pareto(f64(0.05), f64(2.0)),
              D.ContinuousBernoulli(f64(0.7)), D.HalfNormal(f64(0.9)), D.Uniform(f64(0.0), f64(1.0)), D.LogNormal(f64(0.2), f64(0.9))]
    checked = infinite = 0
    for p in (make() for make in CONTINUOUS.values()):
        for q in (*(make() for make in CONTINUOUS.values()), *others):
            try:
                kl = D.kl_divergence(p, q)
            except NotImplementedError:
                continue
            outside = integral(p, lambda x: 1 - q.support.check(x).double())[1]
            if kl == math.inf:
                infinite += 1
                assert outside > 0, (p, q)
                continue
            checked += 1
            assert outside == 0, (p, q)
            expected = integral(p, lambda x: p.log_prob(x) - q.log_prob(x))[1]
            assert kl.item() == pytest.approx(expected, rel=5e-3, abs=5e-3), (p, q)
    assert checked > 60 and infinite > 60


@pytest.mark.parametrize("p, q", [
    (D.Bernoulli(f64(0.3)), D.Bernoulli(f64(0.6))), (D.Binomial(7, f64(0.3)), D.Binomial(7, f64(0.6))),
    (D.Poisson(f64(3.5)), D.Poisson(f64(2.0))), (D.Geometric(f64(0.3)), D.Geometric(f64(0.6))),
    (D.Bernoulli(f64(0.3)), D.Poisson(f64(0.6)))])
def test_kl_of_counts_is_the_sum_of_the_differences(p, q):
    x = p.enumerate_support() if p.has_enumerate_support else torch.arange(80, dtype=torch.float64)
    expected = (p.log_prob(x).exp() * (p.log_prob(x) - q.log_prob(x))).sum()
    torch.testing.assert_close(D.kl_divergence(p, q), expected)


def test_kl_of_more_tries_is_infinite():
    assert D.kl_divergence(D.Binomial(3, f64(0.5)), D.Binomial(2, f64(0.5))) == math.inf
    assert D.kl_divergence(D.Poisson(f64([1.0, 2.0])), D.Bernoulli(f64(0.5))).tolist() == [math.inf] * 2
    with pytest.raises(NotImplementedError, match="q.total_count > p.total_count"):
        D.kl_divergence(D.Binomial(2, f64(0.5)), D.Binomial(3, f64(0.5)))


COVARIANCE = f64([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.7]])
LOW_RANK = D.LowRankMultivariateNormal(f64([0.5, -1.0, 2.0]), f64([[1.0, 0.2], [-0.5, 0.3], [0.1, 2.0]]), f64([0.5, 1.0, 2.0]))


def test_low_rank_is_the_multivariate_normal_of_its_covariance():
    full = D.MultivariateNormal(LOW_RANK.loc, LOW_RANK.covariance_matrix)
    x = torch.linspace(-2, 2, 12, dtype=torch.float64).reshape(2, 2, 3)
    torch.testing.assert_close(LOW_RANK.log_prob(x), full.log_prob(x))
    for name in ("scale_tril", "precision_matrix", "variance"):
        torch.testing.assert_close(getattr(LOW_RANK, name), getattr(full, name))
    torch.testing.assert_close(LOW_RANK.entropy(), full.entropy())
    torch.testing.assert_close(LOW_RANK.expand((4,)).scale_tril, full.scale_tril.expand(4, 3, 3))
    other = D.MultivariateNormal(torch.stack([LOW_RANK.loc, LOW_RANK.loc + 1]), COVARIANCE)
    for p, q, like in ((LOW_RANK, other, (full, other)), (other, LOW_RANK, (other, full)), (LOW_RANK, full, (full, full))):
        torch.testing.assert_close(D.kl_divergence(p, q), D.kl_divergence(*like))


def test_multivariate_normal_of_a_diagonal_is_independent_normals():
    scales = f64([0.5, 2.0, 1.0])
    independent = [D.Independent(D.Normal(mean, scales * k), 1) for mean, k in ((f64([1.0, 2.0, 3.0]), 1), (f64([0.0, 2.5, 3.5]), 1.3))]
    p, q = (D.MultivariateNormal(d.mean, scale_tril=d.stddev.diag()) for d in independent)
    x = torch.linspace(-2, 2, 12, dtype=torch.float64).reshape(4, 3)
    torch.testing.assert_close(p.log_prob(x), independent[0].log_prob(x))
    torch.testing.assert_close(p.entropy(), independent[0].entropy())
    torch.testing.assert_close(D.kl_divergence(p, q), D.kl_divergence(*independent))


@pytest.mark.parametrize("name, value", [("covariance_matrix", COVARIANCE), ("precision_matrix", COVARIANCE.inverse()),
                                         ("scale_tril", torch.linalg.cholesky(COVARIANCE))])
def test_covariance_its_inverse_and_its_factor_are_one(name, value):
    for d in (D.MultivariateNormal(torch.zeros(4, 3, dtype=torch.float64), **{name: value}), D.Wishart(f64([4.0] * 4), **{name: value})):
        for e in (d, d.expand((2, 4))):
            torch.testing.assert_close(e.covariance_matrix, COVARIANCE.expand(*e.batch_shape, 3, 3))
            torch.testing.assert_close(e.precision_matrix @ COVARIANCE, torch.eye(3, dtype=torch.float64).expand(*e.batch_shape, 3, 3))
            torch.testing.assert_close(e.scale_tril @ e.scale_tril.mT, e.covariance_matrix)


def test_mahalanobis_distance_of_any_batches():
    from argand.distributions.multivariate_normal import _batch_mahalanobis
    torch.manual_seed(0)
    for batch_l, batch_x in (((), (5, 4)), ((4,), (5, 4)), ((4,), ()), ((5, 1), (1, 4)), ((2, 1, 4), (7, 1, 5, 1)), ((), ())):
        factor = torch.randn(*batch_l, 3, 3, dtype=torch.float64).tril() + 3 * torch.eye(3, dtype=torch.float64)
        x = torch.randn(*batch_x, 3, dtype=torch.float64)
        inverse = (factor @ factor.mT).inverse()
        torch.testing.assert_close(_batch_mahalanobis(factor, x), torch.einsum("...i,...ij,...j->...", x, inverse, x))


def test_wishart_of_a_number_is_a_gamma():
    wisharts = [D.Wishart(f64(df), f64([[v]])) for df, v in ((4.5, 2.0), (3.0, 0.7))]
    gammas = [D.Gamma(f64(df / 2), f64(0.5 / v)) for df, v in ((4.5, 2.0), (3.0, 0.7))]
    x = f64([0.3, 2.0, 9.0])
    for w, g in zip(wisharts, gammas):
        torch.testing.assert_close(w.log_prob(x[:, None, None]), g.log_prob(x))
        for name in ("mean", "variance", "mode"):
            torch.testing.assert_close(getattr(w, name).squeeze(), getattr(g, name))
        torch.testing.assert_close(w.entropy(), g.entropy())
    torch.testing.assert_close(D.kl_divergence(*wisharts), D.kl_divergence(*gammas))


@pytest.mark.parametrize("concentration", [0.7, 1.0, 3.0])
def test_lkj_of_two_is_a_density_of_their_correlation(concentration):
    d = D.LKJCholesky(2, f64(concentration))
    r = torch.linspace(-math.pi / 2, math.pi / 2, 20001, dtype=torch.float64)[1:-1].sin()
    factors = torch.zeros(r.shape[0], 2, 2, dtype=torch.float64)
    factors[:, 0, 0], factors[:, 1, 0], factors[:, 1, 1] = 1, r, (1 - r**2).sqrt()
    log_density = d.log_prob(factors)
    assert torch.trapezoid(log_density.exp(), r).item() == pytest.approx(1, abs=1e-3)
    # The determinant is 1 - r^2, and L has the measure of r.
    torch.testing.assert_close(log_density - log_density[len(r) // 2], (concentration - 1) * torch.log(1 - r**2))


def test_lkj_is_the_onion_of_corr_cholesky_transform():
    # Partial correlations of column j are independent, (z + 1) / 2 of Beta(b, b), b = concentration + (D - 2 - j) / 2.
    d, transform = D.LKJCholesky(4, f64(1.5)), D.transform_to(C.corr_cholesky)
    x = torch.linspace(-1, 0.8, 12, dtype=torch.float64).reshape(2, 6)
    z, column = x.tanh(), torch.tensor([0, 0, 1, 0, 1, 2])
    b = 1.5 + (2 - column) / 2
    expected = (D.Beta(b.double(), b.double()).log_prob((z + 1) / 2) - math.log(2) + torch.log(1 - z**2)).sum(-1)
    y = transform(x)
    torch.testing.assert_close(d.log_prob(y) + transform.log_abs_det_jacobian(x, y), expected)


def test_dirichlet_of_two_is_a_beta():
    x = f64([0.1, 0.5, 0.9])
    d, b = D.Dirichlet(f64([2.5, 0.8])), D.Beta(f64(2.5), f64(0.8))
    torch.testing.assert_close(d.log_prob(torch.stack([x, 1 - x], -1)), b.log_prob(x))
    for name in ("mean", "variance"):
        torch.testing.assert_close(getattr(d, name)[0], getattr(b, name))
    assert D.Dirichlet(f64([0.3, 0.2, 0.9])).mode.tolist() == [1, 0, 0]
    assert D.Dirichlet(f64([3.0, 2.0, 1.0])).mode.tolist() == [2 / 3, 1 / 3, 0]


def test_exponential_families_by_their_natural_parameters():
    families = [D.Normal(f64([0.5, 2.0]), f64(0.7)), D.Gamma(f64(2.5), f64([1.5, 0.3])), D.Exponential(f64([0.5, 2.0])),
                D.Bernoulli(f64([0.3, 0.8])), D.Beta(f64([2.5, 0.8]), f64(1.5)), D.Dirichlet(f64([[2.5, 0.8, 0.1]])),
                D.ContinuousBernoulli(f64([0.2, 0.9])), D.Wishart(f64([4.5]), COVARIANCE)]
    fallback = D.kl._KL_REGISTRY[D.ExponentialFamily, D.ExponentialFamily]
    for d in families:
        assert isinstance(d, D.ExponentialFamily)
        if not isinstance(d, (D.Beta, D.Dirichlet)):  # whose carrier measure is not 0
            torch.testing.assert_close(D.ExponentialFamily.entropy(d), d.entropy())
        other = d.expand((2, *d.batch_shape))
        assert fallback(d, other).abs().max() < 1e-9
        shifted = {D.Normal: lambda: D.Normal(f64(0.1), f64(1.0)), D.Gamma: lambda: D.Gamma(f64(1.0), f64(2.0)),
                   D.Beta: lambda: D.Beta(f64(1.0), f64(2.0)), D.Bernoulli: lambda: D.Bernoulli(f64(0.6))}.get(type(d))
        if shifted:
            torch.testing.assert_close(fallback(d, shifted()), D.kl_divergence(d, shifted()))


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


REPARAMETRIZED = {
    "normal": (D.Normal, 0.5, 0.7), "laplace": (D.Laplace, 0.5, 0.7), "cauchy": (D.Cauchy, 0.5, 0.7), "gumbel": (D.Gumbel, 0.5, 0.7),
    "uniform": (D.Uniform, 0.5, 0.7), "exponential": (D.Exponential, 0.7), "half_normal": (D.HalfNormal, 0.7),
    "half_cauchy": (D.HalfCauchy, 0.7), "log_normal": (D.LogNormal, 0.5, 0.7), "pareto": (D.Pareto, 0.5, 1.7),
    "weibull": (D.Weibull, 0.5, 1.7), "kumaraswamy": (D.Kumaraswamy, 0.5, 1.7),
    "generalized_pareto": (D.GeneralizedPareto, 0.5, 0.7, 0.2), "continuous_bernoulli": (D.ContinuousBernoulli, 0.3),
    "relaxed_bernoulli": (D.RelaxedBernoulli, 0.6, 0.3), "relaxed_one_hot": (D.RelaxedOneHotCategorical, 0.6, [0.2, 0.3]),
    "logistic_normal": (D.LogisticNormal, [0.5, 0.1], [0.7, 0.2]),
    "multivariate_normal": (lambda l, t: D.MultivariateNormal(l, t @ t.mT), [0.5, 0.1], [[1.0, 0.2], [0.3, 2.0]]),
    "scale_tril": (lambda l, t: D.MultivariateNormal(l, scale_tril=t.tril()), [0.5, 0.1], [[1.0, 0.2], [0.3, 2.0]]),
    "precision": (lambda l, t: D.MultivariateNormal(l, precision_matrix=t @ t.mT), [0.5, 0.1], [[1.0, 0.2], [0.3, 2.0]]),
    "low_rank": (D.LowRankMultivariateNormal, [0.5, 0.1], [[1.0], [0.3]], [0.2, 0.4])}


@pytest.mark.parametrize("name", REPARAMETRIZED)
def test_gradients_of_samples_and_log_probs(name):
    make, *values = REPARAMETRIZED[name]
    parameters = [f64(v).requires_grad_() for v in values]

    def sample(*parameters):
        torch.manual_seed(4)
        return make(*parameters).rsample((3,))
    assert make(*parameters).has_rsample
    assert torch.autograd.gradcheck(sample, parameters)
    x = sample(*parameters).detach()
    assert torch.autograd.gradcheck(lambda *parameters: make(*parameters).log_prob(x), parameters)


@pytest.mark.parametrize("make, values, samples", [
    (D.Gamma, (2.5, 1.5), 40000), (D.Beta, (2.5, 1.5), 40000), (D.Chi2, (3.5,), 40000), (D.InverseGamma, (6.0, 1.5), 40000),
    (lambda a: D.Dirichlet(a), ([0.7, 2.5, 1.5],), 40000), (D.FisherSnedecor, (5.0, 12.0), 40000),
    (lambda n: D.Wishart(n, COVARIANCE[:2, :2]), (4.5,), 20000)])
def test_samples_of_gammas_move_as_their_mean(make, values, samples):
    # Implicit gradients hold for the distribution, not along one stream: the mean gradient is that of the mean, which is known.
    parameters = [f64(v).requires_grad_() for v in values]
    torch.manual_seed(6)
    d = make(*parameters)
    weight = torch.arange(1, d.mean.numel() + 1, dtype=torch.float64).reshape(d.mean.shape)
    actual = torch.autograd.grad((make(*parameters).rsample((samples,)).mean(0) * weight).sum(), parameters)
    expected = torch.autograd.grad((d.mean * weight).sum(), parameters, materialize_grads=True)
    torch.testing.assert_close(actual, expected, rtol=0.05, atol=0.01)


def test_scale_of_student_t_has_the_gradient_of_its_samples():
    mean, deviation = f64(0.5).requires_grad_(), f64(0.7).requires_grad_()
    x = D.StudentT(f64(7.0), mean, deviation).rsample((5,))
    assert torch.autograd.grad(x.sum(), mean, retain_graph=True)[0] == 5
    torch.testing.assert_close(torch.autograd.grad(x.sum(), deviation)[0], ((x - 0.5) / 0.7).sum().detach())


def test_cdf_of_gamma_with_its_gradients():
    assert D.Gamma(2.0, 1.5).cdf(torch.tensor(3.0)).item() == pytest.approx(1 - 5.5 * math.exp(-4.5), rel=1e-6)
    a = f64([0.1, 0.5, 1.0, 2.5, 40.0, 1e5])
    x = (a * f64([[0.01], [0.9], [1.001], [1.3], [20.0]])).requires_grad_()
    d = D.Gamma(a, f64(1.0))
    slope, = torch.autograd.grad(d.cdf(x).sum(), x)
    torch.testing.assert_close(slope, d.log_prob(x).exp())
    # Integrated by parts.
    more = D.Gamma(a + 1, f64(1.0))
    torch.testing.assert_close(d.cdf(x) - more.cdf(x), more.log_prob(x).exp(), rtol=0, atol=1e-9)
    parameters = [f64([0.1, 2.5, 40.0]).requires_grad_(), f64([0.3, 2.0, 1.0]).requires_grad_(), f64([0.2, 1.0, 41.0])]
    assert torch.autograd.gradcheck(lambda a, rate, x: D.Gamma(a, rate).cdf(x), parameters)


@pytest.mark.parametrize("concentration", [1e-3, 0.5, 5.0, 29.9, 30.1, 500.0])
def test_von_mises_on_the_circle(concentration):
    d = D.VonMises(f64(0.5), f64(concentration))
    x = torch.linspace(-math.pi, math.pi, 20001, dtype=torch.float64) + 0.5
    assert torch.trapezoid(d.log_prob(x).exp(), x).item() == pytest.approx(1, abs=1e-9)
    assert d.variance.item() == pytest.approx(1 - torch.trapezoid(d.log_prob(x).exp() * (x - 0.5).cos(), x).item(), abs=1e-9)
    torch.manual_seed(0)
    drawn = d.sample((20000,))
    assert drawn.abs().max() <= math.pi
    assert (drawn - 0.5).cos().mean().item() == pytest.approx(1 - d.variance.item(), abs=0.02)


def test_series_of_continuous_bernoulli_near_one_half():
    by_series, exact = (D.ContinuousBernoulli(f64([0.49, 0.506]), lims=lims) for lims in ((0.4, 0.6), (0.499, 0.501)))
    for what in ("mean", "variance"):
        torch.testing.assert_close(getattr(by_series, what), getattr(exact, what), rtol=1e-9, atol=0)
    torch.testing.assert_close(by_series._cont_bern_log_norm(), exact._cont_bern_log_norm(), rtol=1e-10, atol=0)


def test_what_is_warned_of():
    class Bare(D.Distribution):
        def log_prob(self, value):
            self._validate_sample(value)
            return value

    with pytest.warns(UserWarning, match="does not define `arg_constraints`. Please set `arg_constraints = {}` or initialize"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support` to enable sample validation. Please initialize"):
        bare.log_prob(torch.ones(()))
    with pytest.warns(FutureWarning, match="will be deprecated"):
        assert D.Normal(loc, scale).sample_n(3).shape == (3, 2)

    class P(D.Normal):
        pass

    class Q(D.Normal):
        pass

    D.register_kl(P, D.Normal)(lambda p, q: 1)
    D.register_kl(D.Normal, Q)(lambda p, q: 2)
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(P, Q\). Please register_kl\(P, Q\)"):
        assert D.kl_divergence(P(0.0, 1.0), Q(0.0, 1.0)) == 1
    with pytest.warns(UserWarning, match="Low df values detected"):
        D.Wishart(f64(1.5), f64([[1.0, 0.0], [0.0, 1.0]]))


def test_subclasses_expand_as_they_say():
    class Shifted(D.Normal):
        def __init__(self, loc, by, validate_args=None):
            self.by = by
            super().__init__(loc + by, 1.0, validate_args)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Shifted, _instance)
            new.by = self.by
            return super().expand(batch_shape, _instance=new)

    class More(Shifted):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    d = Shifted(loc, 3.0).expand((4, 2))
    assert type(d) is Shifted and d.by == 3.0 and d.loc.shape == (4, 2) and d.sample().shape == (4, 2)
    with pytest.raises(NotImplementedError, match="Subclass More of Shifted that defines a custom __init__"):
        More(loc).expand((4, 2))


@pytest.mark.parametrize("name", MAKE)
def test_expanded_distributions_are_the_same_many_times(name):
    d = MAKE[name]()
    larger = d.expand((3, *d.batch_shape))
    assert type(larger) is type(d) and larger.batch_shape == (3, *d.batch_shape) and larger.event_shape == d.event_shape
    x = d.sample()
    torch.testing.assert_close(larger.log_prob(x), d.log_prob(x).expand(larger.batch_shape))
    assert larger.sample((2,)).shape == (2, *larger.batch_shape, *d.event_shape)
    for what in ("mean", "variance"):
        try:
            expected = getattr(d, what)
        except NotImplementedError:
            continue
        torch.testing.assert_close(getattr(larger, what), expected.expand(3, *expected.shape), equal_nan=True)
    try:
        torch.testing.assert_close(larger.entropy(), d.entropy().expand(larger.batch_shape))
    except NotImplementedError:
        pass


def test_shapes():
    d = D.Categorical(probs).expand((4, 2))
    assert d.batch_shape == (4, 2) and d.sample((3,)).shape == (3, 4, 2) and d.log_prob(torch.zeros(2)).shape == (4, 2)
    assert D.Categorical(probs).enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert D.OneHotCategorical(probs).enumerate_support().shape == (3, 2, 3)
    joint = D.Independent(D.Normal(torch.zeros(4, 3), 1.0), 1)
    assert joint.batch_shape == (4,) and joint.event_shape == (3,) and joint.log_prob(torch.zeros(4, 3)).shape == (4,)
    assert joint.expand((2, 4)).sample().shape == (2, 4, 3) and joint.support.check(torch.zeros(4, 3)).shape == (4,)
    assert D.LogisticNormal(0.0, 1.0).event_shape == (2,)
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Normal(loc, scale)) == "Normal(loc: torch.Size([2]), scale: torch.Size([2]))"


@pytest.mark.parametrize("bad, message", [
    (lambda: D.Normal(0.0, -1.0), "Expected parameter scale"), (lambda: D.Categorical(torch.tensor([-1.0, 2.0])), "parameter probs"),
    (lambda: D.Bernoulli(probs).log_prob(torch.tensor(0.5)), "within the support"),
    (lambda: D.Uniform(1.0, 0.0), "satisfy the constraint LessThan"),
    (lambda: D.Normal(loc, scale).log_prob(torch.ones(3)), "not broadcastable"), (lambda: D.Bernoulli(), "Either `probs` or `logits`"),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"), (lambda: D.Chi2(-1.0), r"parameter df .* Chi2\(\)"),
    (lambda: D.Gamma(1.0, 1.0).log_prob(torch.tensor(-1.0)), r"GreaterThanEq\(lower_bound=0.0\)"),
    (lambda: D.Normal(0.0, 1.0).log_prob(3.0), "The value argument to log_prob must be a Tensor"),
    (lambda: D.Dirichlet(torch.tensor(1.0)), "`concentration` parameter must be at least one-dimensional."),
    (lambda: D.MultivariateNormal(loc), "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."),
    (lambda: D.MultivariateNormal(loc, -torch.eye(2)), r"satisfy the constraint PositiveDefinite\(\)"),
    (lambda: D.MultivariateNormal(loc, scale_tril=loc), "scale_tril matrix must be at least two-dimensional"),
    (lambda: D.LowRankMultivariateNormal(loc, torch.ones(3, 1), scale), "must be a batch of matrices with shape 2 x m"),
    (lambda: D.Wishart(torch.tensor(1.0), torch.eye(2)), "Value of df=1.0 expected to be greater than ndim - 1 = 1."),
    (lambda: D.LKJCholesky(1), "Expected dim to be an integer greater than or equal to 2. Found dim=1."),
    (lambda: D.Binomial(3, torch.tensor(0.5)).log_prob(torch.tensor(4.0)), r"IntegerInterval\(lower_bound=0, upper_bound=3.0\)"),
    (lambda: D.NegativeBinomial(3, torch.tensor(1.0)), "HalfOpenInterval"), (lambda: D.Geometric(torch.tensor(0.0)), "to be positive"),
    (lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(loc, scale)), "needs to be an  instance of torch.distributions.Categorical"),
    (lambda: D.MixtureSameFamily(D.Categorical(probs), D.Normal(loc, scale)), r"\(3\) does not equal `component_distribution"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()), "shape with size at least 1, but got torch.Size"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), "transforms must be a Transform or list, but was 3"),
    (lambda: D.utils.broadcast_all("a"), "Input arguments must all be instances of Number"),
    (lambda: D.utils.vec_to_tril_matrix(torch.ones(2)), "cannot be expressed as the lower triangular part")])
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


def test_enumerated_values():
    assert D.Binomial(2, probs[0]).enumerate_support().tolist() == [[0] * 3, [1] * 3, [2] * 3]
    assert D.Binomial(2, probs[0]).enumerate_support(expand=False).shape == (3, 1)
    with pytest.raises(NotImplementedError, match="Inhomogeneous total count"):
        D.Binomial(torch.tensor([2, 3]), torch.tensor(0.5)).enumerate_support()
    with pytest.raises(NotImplementedError, match="cartesian product"):
        D.Independent(D.Bernoulli(probs), 1).enumerate_support()


def test_mixtures_of_vectors():
    means = torch.arange(12, dtype=torch.float64).reshape(2, 3, 2)
    d = D.MixtureSameFamily(D.Categorical(probs.double()), D.Independent(D.Normal(means, f64(0.5)), 1))
    assert (d.batch_shape, d.event_shape) == ((2,), (2,))
    torch.testing.assert_close(d.mean, (probs.double().unsqueeze(-1) * means).sum(-2))
    torch.manual_seed(0)
    x = d.sample((20000,))
    torch.testing.assert_close(x.mean(0), d.mean, rtol=0.02, atol=0.02)
    torch.testing.assert_close(x.var(0), d.variance, rtol=0.03, atol=0.03)
    components = [D.Independent(D.Normal(means[:, k], f64(0.5)), 1).log_prob(x[:5]) + probs[:, k].double().log() for k in range(3)]
    torch.testing.assert_close(d.log_prob(x[:5]), torch.stack(components).logsumexp(0))


@pytest.mark.parametrize("diag", [-2, -1, 0, 1])
def test_triangles_as_vectors(diag):
    from argand.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
    matrix = torch.arange(1, 33, dtype=torch.float64).reshape(2, 4, 4)
    torch.testing.assert_close(vec_to_tril_matrix(tril_matrix_to_vec(matrix, diag), diag), matrix.tril(diag))


def test_lazy_properties_have_gradients_whoever_asks():
    p = probs[0].clone().requires_grad_()
    d = D.Bernoulli(p)
    with torch.no_grad():
        d.logits
    d.logits.sum().backward()
    torch.testing.assert_close(p.grad, 1 / (probs[0] * (1 - probs[0])))
    assert D.Normal(p, p).loc is p  # its .grad is there to be asked for


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


def test_the_slope_of_an_affine_map_counts_for_each_element_of_an_event():
    scale = torch.tensor(2.0)  # one for all three elements
    slopes = D.transforms.AffineTransform(0, scale, event_dim=1).log_abs_det_jacobian(torch.zeros(4, 3), None)
    assert slopes.shape == (4,) and slopes.tolist() == pytest.approx([3 * math.log(2)] * 4)


def test_divergences_that_are_not_known_say_why():
    base = D.Normal(0.0, 1.0)
    folded, moved = D.TransformedDistribution(base, D.AbsTransform()), D.TransformedDistribution(base, D.ExpTransform())
    for p, q, why in ((folded, folded, "no bijections"), (folded, moved, "different transforms"),
                      (D.Independent(D.Normal(torch.zeros(2), 1.0), 1), D.Independent(D.Normal(torch.zeros(2), 1.0), 0), "different rein")):
        with pytest.raises(NotImplementedError, match=why):
            D.kl_divergence(p, q)
    assert D.kl_divergence(D.HalfCauchy(1.0), D.HalfCauchy(2.0)).item() == pytest.approx(math.log(9 / 8))
