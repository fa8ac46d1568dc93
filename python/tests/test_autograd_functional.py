"""What autograd.functional refuses, and what strict mode says."""
import pytest

import argand as torch
from argand.autograd import functional


def squares(x):
    return (x * x).sum(1)


def square(x):
    return (x * x).sum()


X, V = torch.rand(3, 3), torch.ones(3)


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian", "hessian", "vhp", "hvp"])
def test_inputs_and_outputs_are_tensors(name):
    function = getattr(functional, name)
    with pytest.raises(TypeError, match=f"The inputs given to {name} must be either a Tensor or a tuple of Tensors but the value at index 1"):
        function(lambda x, y: square(x), (X, 2))
    with pytest.raises(TypeError, match=f"The outputs of the user-provided function given to {name} must be either"):
        function(lambda x: (square(x), 3), X, *(() if name in ("vjp", "jacobian", "hessian") else (X,)))


def test_vectors_have_the_sizes_of_what_they_multiply():
    with pytest.raises(RuntimeError, match="The vector v can only be None if the user-provided function returns"):
        functional.vjp(squares, X)
    with pytest.raises(RuntimeError, match="The vector v can only be None if the input to the user-provided function"):
        functional.jvp(squares, X)
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor."):
        functional.vjp(squares, X, (V, V))
    with pytest.raises(RuntimeError, match=r"v has invalid size: should be \S*Size\(\[3\]\) but got \S*Size\(\[2\]\)"):
        functional.vjp(squares, X, V[:2])
    with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size"):
        functional.jvp(lambda x, y: squares(x) + y, (X, V), (X, V[:2]))


def test_hessians_are_of_one_number():
    for function in (functional.hessian, lambda f, x: functional.vhp(f, x, X)):
        with pytest.raises(RuntimeError, match="should contain a single element"):
            function(squares, X)
        with pytest.raises(RuntimeError, match="should return a single Tensor"):
            function(lambda x: (square(x), square(x)), X)


def test_strict_mode_says_what_does_not_depend():
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients."):
        functional.vjp(lambda x: squares(x).detach(), X, V, strict=True)
    with pytest.raises(RuntimeError, match="The output of the user-provided function is independent of input 0"):
        functional.vjp(lambda x: torch.ones(3, requires_grad=True) * 2, X, V, strict=True)
    with pytest.raises(RuntimeError, match="The jacobian of the user-provided function is independent of input 0."):
        functional.vjp(lambda x: x.sum(1), X, V, create_graph=True, strict=True)
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function with respect to input 0 is independent"):
        functional.hessian(lambda x: (3 * x).sum(), X, strict=True)


def test_numbers_without_dimensions():
    x = torch.tensor(2.0)
    assert functional.jacobian(lambda t: t * t, x).shape == () and functional.jacobian(lambda t: t * t, x).item() == 4
    assert functional.hessian(lambda t: t ** 3, x).item() == 12
