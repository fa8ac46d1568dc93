"""gradcheck and gradgradcheck: gradients against central differences, by the library's own checker."""
from .. import _C


class GradcheckError(RuntimeError):
    """A gradient is wrong; the message names output, input, elements and values."""


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _check(function, run, inputs, eps, atol, rtol, raise_exception, fast_mode):
    inputs = _as_tuple(inputs)
    tensors = [x for x in inputs if isinstance(x, _C.Tensor)]

    def call(given):
        given = iter(given)
        arguments = [next(given) if isinstance(x, _C.Tensor) else x for x in inputs]
        return [y for y in _as_tuple(function(*arguments)) if isinstance(y, _C.Tensor)]
    try:
        return run(call, tensors, eps, atol, rtol, fast_mode)
    except _C.GradError as error:
        if raise_exception:
            raise GradcheckError(str(error)) from None
        return False


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, fast_mode=False, **_):
    """Whether the gradients of func(*inputs) are right for all float64 and complex128 inputs that require grad."""
    return _check(func, _C._gradcheck, inputs, eps, atol, rtol, raise_exception, fast_mode)


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True,
                  nondet_tol=0.0, fast_mode=False, **_):
    """The same for the gradient of the gradient."""
    return _check(func, _C._gradgradcheck, inputs, eps, atol, rtol, raise_exception, fast_mode)
