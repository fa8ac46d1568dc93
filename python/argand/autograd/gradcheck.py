"""gradcheck and gradgradcheck: derivatives against central differences.  Gradients are compared by the library's own checker."""
import warnings

from .. import _C
from .._ignored import harmless
from ._backward import grad
from .grad_mode import enable_grad, no_grad

_SPARSE = "it is about the elements that a sparse tensor lacks: no op gives one"
_CAST = "backward gives each gradient the dtype of its input, and the checker looks at it always"


class GradcheckError(RuntimeError):
    """A derivative is wrong; the message names output, input, elements and values."""


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(t):
    return isinstance(t, _C.Tensor) and (t.is_floating_point() or t.is_complex())


class _Function:
    """A function and where it is checked: called with tensors for those among its arguments."""

    def __init__(self, function, inputs):
        self.function, self.arguments, self.first = function, _as_tuple(inputs), None
        self.tensors = [x for x in self.arguments if isinstance(x, _C.Tensor)]
        self.checked = [x for x in self.tensors if x.requires_grad]

    def __call__(self, tensors):
        given = iter(tensors)
        results = self.function(*(next(given) if isinstance(x, _C.Tensor) else x for x in self.arguments))
        found = [y for y in _as_tuple(results) if isinstance(y, _C.Tensor)]
        if self.first is None:
            self.first = [(y.shape, y.dtype) for y in found]
        for (shape, dtype), y in zip(self.first, found):
            for what, before, now in (("shape", shape, y.shape), ("dtype", dtype, y.dtype)):
                if before != now:
                    raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed, "
                                         f"but got {before} and {now}")
        return found

    def outputs(self):
        """The outputs that require grad."""
        return [y for y in self(self.tensors) if _differentiable(y) and y.requires_grad]

    def gradients(self, outputs, cotangents, **options):
        return grad(outputs, self.checked, cotangents, retain_graph=True, allow_unused=True, **options)


def _vectors(tensors, salt):
    """The same numbers on every run, of either sign and none near zero, as cotangents or tangents of the tensors."""
    found = []
    for t in tensors:
        at = _C.arange(t.numel(), dtype=_C.float64, device=t.device) * 2.4 + salt
        values = at.cos() * 1.5 + 0.25
        values = _C.complex(values, at.sin() + 0.5) if t.is_complex() else values
        found.append(values.to(t.dtype).reshape(t.shape))
    return found


def _distance(a, b):
    if a is None or b is None:
        return 0.0 if a is b else float("inf")
    return float((a - b).abs().max()) if a.numel() else 0.0


def _check_repeats(f, tolerance):
    outputs = f.outputs()
    for o in range(len(outputs)):
        cotangents = _vectors([outputs[o]], 0.9)
        first, second = (f.gradients([outputs[o]], cotangents) for _ in range(2))
        if any(_distance(a, b) > tolerance for a, b in zip(first, second)):
            raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                                 "different values, although analytical gradient matches numerical gradient. The tolerance for "
                                 f"nondeterminism was {tolerance}.")


def _check_hooks_without_gradient(outputs):
    """Where an output has no gradient, PyTorch gives its hooks None."""
    for y in outputs:
        for hook in list((y._backward_hooks or {}).values()):
            try:
                hook(None)
            except RuntimeError as error:
                warnings.warn("Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
                              "break existing callers of this function. If this is true for you, you can call this function with "
                              '"check_undefined_grad=False" to disable the feature', stacklevel=5)
                raise GradcheckError("Expected backward function to handle undefined output grads. Please look at \"Notes about undefined "
                                     "output gradients\" in \"tools/autograd/derivatives.yaml\" of PyTorch, and give hooks of outputs a way "
                                     "to take None.") from error


def _check_undefined(f):
    """An output without a gradient must contribute nothing.  One is left out at a time, as a node whose outputs all lack one does not run."""
    outputs = f.outputs()
    _check_hooks_without_gradient(outputs)
    for o in range(len(outputs)) if len(outputs) > 1 else ():
        others = outputs[:o] + outputs[o + 1:]
        found = f.gradients(others, [_C.zeros_like(y) for y in others])
        if any(g is not None and bool((g != 0).any()) for g in found):
            raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or zero, where "
                                 f"output {o} has no gradient")


def _check_batched(f, tolerance):
    outputs = f.outputs()
    for o, output in enumerate(outputs):
        pair = [_vectors([output], salt)[0] for salt in (0.3, 1.7)]
        batched = f.gradients([output], [_C.stack(pair)], is_grads_batched=True)
        for i, (several, *single) in enumerate(zip(batched, *(f.gradients([output], [v]) for v in pair))):
            if any(_distance(None if several is None else several[k], single[k]) > tolerance for k in range(2)):
                raise GradcheckError(f"While computing batched gradients, got a different result for output {o} with respect to input {i} "
                                     "than one after the other")


def _directions(x, fast):
    """Tangents of an input: for each element, and for its imaginary part; or one for all."""
    if fast:
        return _vectors([x], 0.5)
    found = []
    for i in range(x.numel()):
        for unit in (1, 1j) if x.is_complex() else (1,):
            v = _C.zeros(x.numel(), dtype=x.dtype, device=x.device)
            v[i] = unit
            found.append(v.reshape(x.shape))
    return found


def _numbers(t):
    """The elements of a tensor, which may be of a class that says itself what they are."""
    return [y.item() for y in t.detach().reshape(-1).unbind()]


def _along(vector, direction):
    return sum((complex(a).conjugate() * b).real for a, b in zip(direction, vector))


def _outputs_at(f, x, step):
    """The outputs with an input that is written in place: the function may read the tensor where it knows it from."""
    same, before = x.detach(), x.detach().clone()
    same.add_(step)
    try:
        return [y.detach().clone() for y in f(f.tensors) if _differentiable(y)]
    finally:
        same.copy_(before)


def _check_backward(f, eps, atol, rtol, fast):
    """What the library's own checker does with the memory of tensors, by ops: of tensors that have no memory of their own."""
    with enable_grad():
        outputs = f.outputs()
        cotangents = [[(u, f.gradients([y], [u])) for u in _directions(y, fast)] for y in outputs]
    for i, x in enumerate(f.tensors):
        if not x.requires_grad:
            continue
        at = next(k for k, c in enumerate(f.checked) if c is x)
        for v in _directions(x, fast):
            with no_grad():
                high, low = (_outputs_at(f, x, step * v) for step in (eps, -eps))
            for o, (p, m) in enumerate(zip(high, low)):
                slope = _numbers((p - m) / (2 * eps))
                for u, gradients in cotangents[o] if o < len(cotangents) else ():
                    g = gradients[at]
                    n, a = _along(slope, _numbers(u)), 0.0 if g is None else _along(_numbers(v), _numbers(g))
                    if not abs(a - n) <= atol + rtol * abs(n):
                        raise GradcheckError(f"Jacobian mismatch for output {o} with respect to input {i}, numerical: {n}, analytical: {a}")


def _forward_product(f, tangents):
    """The tangents of the outputs, zeros where there are none, for tangents of the inputs; None: no tangent, and not a dual tensor."""
    from . import forward_ad
    with forward_ad.dual_level():
        duals = [x.detach() if v is None and x.requires_grad else x if v is None else forward_ad.make_dual(x.detach(), v.clone())
                 for x, v in zip(f.tensors, tangents)]
        found = [forward_ad.unpack_dual(y) for y in f(duals) if _differentiable(y)]
    return tuple(_C.zeros_like(y.primal) if y.tangent is None else y.tangent.detach() for y in found)


def _check_forward(f, eps, atol, rtol, fast, batched, undefined):
    """Forward products against differences of the function."""
    from ..func import vmap  # upward: what vmap() gives is part of what gradcheck(check_forward_ad=True) compares
    for i, x in enumerate(f.tensors):
        if not x.requires_grad:
            continue

        def of_one(value, i=i):
            return tuple(y for y in f([*f.tensors[:i], value, *f.tensors[i + 1:]]) if _differentiable(y))

        def along(v, i=i):
            return _forward_product(f, [v if k == i else _C.zeros_like(t) if t.requires_grad else None for k, t in enumerate(f.tensors)])
        directions = _directions(x, fast)
        for v in directions:
            with no_grad():
                high, low = of_one(x.detach() + eps * v), of_one(x.detach() - eps * v)
            for o, (a, p, m) in enumerate(zip(along(v), high, low)):
                n = (p - m) / (2 * eps)
                if not bool(((a - n).abs() <= atol + rtol * n.abs()).all()):
                    raise GradcheckError(f"Jacobian computed with forward mode mismatch for output {o} with respect to input {i}, numerical: "
                                         f"{n.tolist()}, analytical: {a.tolist()}")
        if undefined:
            _check_without_tangent(f, i)
        if batched and directions:
            try:
                batch = vmap(along)(_C.stack([*directions, directions[0]][:2]))
            except RuntimeError as error:
                if "random operation" in str(error):
                    raise RuntimeError("vmap: We do not yet support calling random operations inside of vmap. Leave "
                                       "check_batched_forward_grad out for a function that draws random numbers.") from error
                raise
            for several, single in zip(batch, along(directions[0])):
                if _distance(several[0], single) > 1e-9:
                    raise GradcheckError("While computing batched forward gradients, got a different result than one after the other")


def _check_without_tangent(f, i):
    """An input without a tangent must give what a tangent of zeros gives."""
    tangents = [v if x.requires_grad else None for x, v in zip(f.tensors, _vectors(f.tensors, 0.7))]
    zeros, none = (_forward_product(f, [*tangents[:i], v, *tangents[i + 1:]]) for v in (_C.zeros_like(f.tensors[i]), None))
    for o, (a, b) in enumerate(zip(zeros, none)):
        if _distance(a, b) > 1e-9:
            raise GradcheckError(f"Forward mode: output {o} has another tangent where input {i} has none than where its tangent is zero")


def _assert(condition, message):
    if not condition:
        raise AssertionError(message)


@harmless(check_grad_dtypes=_CAST, masked=_SPARSE)
def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
              check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False, masked=None):
    """Whether the derivatives of func(*inputs) are right for all float64 and complex128 inputs that require grad: by backward, and with
    check_forward_ad by jvp.

    nondet_tol: the most that two backward passes may differ.  check_undefined_grad: results may be without a gradient.
    check_batched_grad, check_batched_forward_grad: is_grads_batched and vmap give what single passes give.
    """
    _assert(check_forward_ad or check_backward_ad, "Expected at least one of check_forward_ad or check_backward_ad to be True")
    _assert(check_backward_ad or not check_batched_grad, "Setting check_batched_grad=True requires check_backward_ad to be True")
    _assert(check_forward_ad or not check_batched_forward_grad,
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    f = _Function(func, inputs)
    if not f.checked:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
    for i, x in enumerate(f.arguments):
        if isinstance(x, _C.Tensor) and x.requires_grad and x.dtype not in (_C.float64, _C.complex128):
            warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely "
                          "fail if all the inputs are not of double precision floating point or complex.", stacklevel=2)
    try:
        if check_backward_ad and any(map(_C._intercepts, f.tensors)):
            _check_backward(f, eps, atol, rtol, fast_mode)
        elif check_backward_ad:
            try:
                _C._gradcheck(f, f.tensors, eps, atol, rtol, fast_mode)
            except _C.GradError as error:
                raise GradcheckError(str(error)) from None
        with enable_grad():
            if check_backward_ad:
                _check_repeats(f, nondet_tol)
            if check_forward_ad:
                _check_forward(f, eps, atol, rtol, fast_mode, check_batched_forward_grad, check_undefined_grad)
            if check_backward_ad and check_undefined_grad:
                _check_undefined(f)
            if check_batched_grad:
                _check_batched(f, nondet_tol + 1e-9)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _cotangents(outputs, grad_outputs, strided):
    if grad_outputs is not None:
        return list(_as_tuple(grad_outputs))
    made = _vectors(outputs, 0.5)
    if strided:
        made = [_C.stack([v, v], -1)[..., 0] for v in made]
    return [v.requires_grad_() for v in made]


@harmless(check_grad_dtypes=_CAST, masked=_SPARSE)
def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
                  check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """The same for the gradient of func for grad_outputs (made up where they are not given), by its inputs and by grad_outputs."""

    def wanted(x):
        return isinstance(x, _C.Tensor) and x.requires_grad
    _assert(check_fwd_over_rev or check_rev_over_rev, "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    arguments = _as_tuple(inputs)
    with enable_grad():
        outputs = _Function(func, inputs).outputs()
        cotangents = _cotangents(outputs, grad_outputs, gen_non_contig_grad_outputs)
    if not outputs:
        return True

    def gradient(*given):
        own, vectors = given[:len(arguments)], given[len(arguments):]
        with enable_grad():
            f = _Function(func, [x if not wanted(before) or x.requires_grad else _C._alias_with_tangents(x).requires_grad_()
                                 for x, before in zip(own, arguments)])
            found = grad(f.outputs(), f.checked, list(vectors), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)
    return gradcheck(gradient, (*arguments, *cotangents), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode)
