"""Internal names of torch's transforms that packages import."""
from ...func import functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp  # noqa: F401
from ...func._gradients import _positions


def _slice_argnums(args, argnums, as_tuple=True):
    """The arguments at argnums; one alone as a tuple if as_tuple."""
    found = tuple(args[n] for n in _positions(argnums, args))
    return found if as_tuple or isinstance(argnums, tuple) else found[0]
