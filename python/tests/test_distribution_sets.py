"""Constraints of distributions, transforms onto the sets they describe, and the registries of both."""
import math
import pickle

import argand as torch
import pytest
from argand import distributions as D
from argand.distributions import constraints as C


def f64(values):
    return torch.tensor(values, dtype=torch.float64)


SETS = [C.real, C.positive, C.nonnegative, C.greater_than(f64([-1.0, 2.0, 0.0])), C.greater_than_eq(2.0), C.less_than(-3.0),
        C.unit_interval, C.interval(-2.0, f64(5.0)), C.half_open_interval(1.0, 3.0), C.simplex, C.real_vector, C.independent(C.positive, 1),
        C.lower_cholesky, C.corr_cholesky, C.positive_definite, C.positive_semidefinite,
        C.cat([C.positive, C.unit_interval], -1, [1, 2]), C.stack([C.positive, C.unit_interval, C.real], -1)]


@pytest.mark.parametrize("constraint", SETS, ids=str)
@pytest.mark.parametrize("registry", [D.transform_to, D.biject_to], ids=["transform_to", "biject_to"])
def test_transforms_onto_sets(registry, constraint):
    try:
        transform = registry(constraint)
    except NotImplementedError:
        assert registry is D.biject_to and constraint in (C.lower_cholesky, C.positive_definite, C.positive_semidefinite)
        return
    torch.manual_seed(2)
    x = torch.randn(4, 3, 3, dtype=torch.float64)
    y = transform(x)
    assert constraint.check(y).all() and transform.domain.check(x).all() and constraint.event_dim == transform.codomain.event_dim
    assert transform.forward_shape(x.shape) == y.shape and transform.inverse_shape(y.shape) == x.shape
    back = transform.inv(y)
    torch.testing.assert_close(transform(back), y)
    if registry is D.biject_to:
        assert transform.bijective
        torch.testing.assert_close(back, x)
        ladj = transform.log_abs_det_jacobian(x, y)
        torch.testing.assert_close(transform.inv.log_abs_det_jacobian(y, x), -ladj)
        torch.testing.assert_close(ladj.sum(), _log_abs_det(transform, x))


def _log_abs_det(transform, x):
    """The sum of log |det| of the derivatives of all rows, of the entries of y that are free."""
    total = 0
    for row in x.reshape(-1, 3):
        full = row.expand(x.shape[-2:]) if transform.domain.event_dim == 2 else row
        jacobian = torch.autograd.functional.jacobian(lambda v: transform(v), full)
        if isinstance(transform, D.CorrCholeskyTransform):
            jacobian = torch.stack([jacobian[1, 0], jacobian[2, 0], jacobian[2, 1]])
        elif isinstance(transform, D.StickBreakingTransform):
            jacobian = jacobian[:-1]
        total = total + torch.linalg.slogdet(jacobian)[1]
    return total


@pytest.mark.parametrize("transform", [
    D.AffineTransform(0.5, -2.0, event_dim=1), D.SoftplusTransform(), D.TanhTransform(), D.SigmoidTransform(),
    D.AffineTransform(f64([1.0, 2.0, 3.0]), f64(0.1)),
    D.ComposeTransform([D.StickBreakingTransform(), D.ReshapeTransform((4,), (2, 2)), D.ExpTransform()]),
    D.ComposeTransform([D.ExpTransform(), D.PowerTransform(f64(-0.5))]), D.IndependentTransform(D.TanhTransform(), 1),
    D.CumulativeDistributionTransform(D.Normal(f64(0.0), f64(1.0))), D.identity_transform,
    D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.identity_transform], -1)], ids=lambda t: type(t).__name__)
def test_transforms_with_their_slope(transform):
    torch.manual_seed(3)
    x = torch.randn(2, 3, dtype=torch.float64)
    y = transform(x)
    torch.testing.assert_close(transform.inv(y), x)
    assert transform.inv.inv is transform and transform.forward_shape(x.shape) == y.shape and transform.inverse_shape(y.shape) == x.shape
    assert transform.domain.check(x).all() and transform.codomain.check(y).all()
    if not (isinstance(transform, D.ComposeTransform) and y.dim() == 3):
        torch.testing.assert_close(transform.log_abs_det_jacobian(x, y).sum(), _log_abs_det(transform, x))
    else:
        # The logarithm of all four entries besides the slope of three.
        stick = transform.parts[0]
        expected = stick.log_abs_det_jacobian(x, stick(x)) + stick(x).sum(-1)
        torch.testing.assert_close(transform.log_abs_det_jacobian(x, y), expected)


def test_transforms_remember_compare_and_pickle():
    import copy
    import pickle
    for transform in (D.ExpTransform(), D.ComposeTransform([D.TanhTransform(), D.AffineTransform(0.0, 2.0)]), D.PowerTransform(f64(2.0)),
                      D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1), D.IndependentTransform(D.TanhTransform(), 1)):
        cached = transform.with_cache()
        x = f64([0.3, 0.5])
        y = cached(x)
        assert cached(x) is y and cached.inv(y) is x and transform.inv(transform(x)) is not x and cached.with_cache() is cached
        assert pickle.loads(pickle.dumps(transform)) == transform == copy.deepcopy(transform) and transform != D.SigmoidTransform()
    assert D.AffineTransform(0.0, f64([1.0, 2.0])) == D.AffineTransform(f64(0.0), f64([1.0, 2.0])) != D.AffineTransform(0.0, 2.0)
    assert D.AffineTransform(0.0, -2.0).sign == -1 and D.PowerTransform(f64(-2.0)).inv.sign == -1
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        D.ExpTransform(cache_size=2)
    with pytest.raises(ValueError, match="different numbers of elements"):
        D.ReshapeTransform((2,), (3,))
    with pytest.raises(ValueError, match="Too few dimensions"):
        D.StickBreakingTransform().forward_shape(())


def test_transforms_that_are_no_bijections():
    x = f64([[0.3, -2.0], [1.0, 0.5]])
    assert D.AbsTransform()(x).tolist() == [[0.3, 2.0], [1.0, 0.5]] and not D.AbsTransform().bijective
    for transform in (D.SoftmaxTransform(), D.LowerCholeskyTransform(), D.PositiveDefiniteTransform()):
        assert transform.codomain.check(transform(x)).all()
        torch.testing.assert_close(transform(transform.inv(transform(x))), transform(x))
        with pytest.raises(NotImplementedError):
            transform.log_abs_det_jacobian(x, x)


@pytest.mark.parametrize("constraint, good, bad", [
    (C.boolean, [0.0, 1.0], [0.5]), (C.nonnegative_integer, [0.0, 3.0], [-1.0]), (C.positive_integer, [1.0], [0.0]),
    (C.integer_interval(1, 3), [1.0, 3.0], [4.0]), (C.less_than(2.0), [1.0], [2.0]), (C.half_open_interval(0.0, 1.0), [0.0], [1.0]),
    (C.one_hot, [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]), (C.simplex, [0.2, 0.8], [0.3, 0.8]), (C.multinomial(3), [1.0, 2.0], [2.0, 2.0]),
    (C.real, [0.0], [math.nan]), (C.lower_triangular, [[1.0, 0.0], [2.0, -1.0]], [[1.0, 1.0], [0.0, 1.0]]),
    (C.lower_cholesky, [[1.0, 0.0], [2.0, 1.0]], [[1.0, 0.0], [2.0, -1.0]]),
    (C.corr_cholesky, [[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.6]]), (C.square, [[1.0, 0.0], [2.0, 1.0]], [[1.0, 0.0]]),
    (C.symmetric, [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [2.0, 1.0]]),
    (C.positive_semidefinite, [[1.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]]),
    (C.positive_definite, [[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]),
    (C.cat([C.positive, C.real], 0), [1.0, -1.0], [-1.0, -1.0]), (C.stack([C.positive, C.real], 0), [1.0, -1.0], [-1.0, -1.0]),
    (C.MixtureSameFamilyConstraint(C.positive), [1.0], [0.0])], ids=str)
def test_sets(constraint, good, bad):
    assert constraint.check(f64(good)).all() and not constraint.check(f64(bad)).all()
    assert constraint.event_dim == (f64(good).dim() - constraint.check(f64(good)).dim())


def test_matrices_that_are_not_square_are_not_symmetric():
    for constraint in (C.symmetric, C.positive_semidefinite, C.positive_definite):
        assert constraint.check(torch.ones(4, 2, 3)).tolist() == [False] * 4


def test_sets_of_parameters_that_depend_on_others():
    assert C.is_dependent(C.dependent) and C.is_dependent(D.Uniform.support) and not C.is_dependent(D.Normal.support)
    assert D.Binomial.support.is_discrete and D.Multinomial.support.event_dim == 1
    assert repr(D.Uniform(0.0, 2.0).support) == "Interval(lower_bound=0.0, upper_bound=2.0)"
    assert repr(C.independent(C.positive, 1)) == "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)"
    with pytest.raises(NotImplementedError, match="cannot be determined statically"):
        C.dependent.event_dim
    with pytest.raises(ValueError, match="Cannot determine validity"):
        C.dependent.check(torch.ones(2))
    with pytest.raises(ValueError, match="Expected value.dim"):
        C.independent(C.real, 2).check(torch.ones(3))


def test_registries_take_more():
    class Even(C.Constraint):
        is_discrete = True

        def check(self, value):
            return value % 2 == 0

    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        D.transform_to(Even())
    D.transform_to.register(Even, lambda constraint: D.AffineTransform(0, 2))
    assert Even().check(D.transform_to(Even())(torch.arange(4))).all()
    with pytest.raises(TypeError, match="Expected constraint"):
        D.transform_to.register(3, lambda constraint: constraint)

    class Mine(D.Normal):
        pass

    p, q = Mine(0.0, 1.0), Mine(1.0, 1.0)
    assert D.kl_divergence(p, q) == 0.5

    @D.register_kl(Mine, Mine)
    def mine(p, q):
        return 7.0

    assert D.kl_divergence(p, q) == 7 and D.kl_divergence(p, D.Normal(1.0, 1.0)) == 0.5
    with pytest.raises(TypeError, match="type_q"):
        D.register_kl(Mine, 3)


def test_the_inverse_of_an_inverse_is_the_transform_itself():
    import copy
    for t in (D.transforms.ExpTransform(), D.transforms.ComposeTransform([D.transforms.ExpTransform(), D.transforms.TanhTransform()])):
        assert t.inv is t.inv and t.inv.inv is t and t.inv.inv.inv is t.inv
        assert copy.deepcopy(t) == t and copy.deepcopy(t.inv).inv == t
        assert t.with_cache().inv is not t.inv and t == t.with_cache(0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_beta_samples_lie_inside_the_open_interval(dtype):
    torch.manual_seed(0)
    few = torch.tensor(1e-2, dtype=dtype)
    samples = torch.distributions.Beta(few, few).sample([2000])
    assert ((0 < samples) & (samples < 1)).all() and (samples > 0.9).any()


def test_the_log_prob_of_wishart_has_a_gradient_by_both_triangles():
    df, scale = torch.tensor(5.0, dtype=torch.float64), torch.eye(3, dtype=torch.float64)
    sample = torch.distributions.Wishart(df, scale).sample()
    sample.requires_grad_()
    gradient, = torch.autograd.grad(torch.distributions.Wishart(df, scale).log_prob(sample), sample)
    inverse = torch.linalg.inv(sample.detach())
    torch.testing.assert_close(gradient, 0.5 * (5 - 3 - 1) * inverse - 0.5 * torch.eye(3, dtype=torch.float64))
