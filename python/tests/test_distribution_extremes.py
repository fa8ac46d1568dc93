"""Distributions at the ends of what their parameters and values may be."""
import math

import argand as torch
import pytest
from argand import distributions as D


@pytest.mark.parametrize("logits", [-math.inf, -1e38, 1e38, math.inf])
def test_continuous_bernoulli_of_extreme_logits_is_finite(logits):
    for dtype in (torch.float32, torch.float64):
        d = D.ContinuousBernoulli(logits=torch.tensor(logits, dtype=dtype), validate_args=False)
        eps = torch.finfo(dtype).eps
        like = D.ContinuousBernoulli(probs=torch.tensor(eps if logits < 0 else 1 - eps, dtype=dtype))
        for of in (lambda d: d.probs, lambda d: d.mean, lambda d: d.variance, lambda d: d.entropy(), lambda d: d.icdf(torch.tensor(0.5)),
                   lambda d: d._cont_bern_log_norm()):
            assert of(d).isfinite() and of(d) == of(like)
    if abs(logits) < math.inf:
        d = D.ContinuousBernoulli(logits=torch.tensor(logits))
        log_probs = d.log_prob(torch.tensor([0.0, 1.0]))
        assert log_probs.max() == d._cont_bern_log_norm() and log_probs.min() == -torch.tensor(1e38)


def test_uniform_generalized_pareto_has_its_density_at_its_end():
    d = D.GeneralizedPareto(1.0, torch.tensor(2.0), -1.0)
    assert torch.equal(d.log_prob(torch.tensor([1.0, 2.0, 3.0])), -torch.tensor(2.0).log().expand(3))
