"""Gradients, products with Jacobians, and Jacobians of functions of nests of tensors: Note [Inputs of transforms]."""
import contextlib
import functools

from .. import _C
from .._ignored import harmless
from ..autograd import forward_ad
from ..autograd import functional as _functional
from ..autograd.grad_mode import enable_grad, inference_mode
from ..utils._pytree import tree_flatten, tree_map, tree_structure, tree_unflatten
from ..autograd._vmap_levels import levels
from ._batched import as_input, has_outer_history, renewed, with_values
from ._vmap import check_randomness, vmap


class _Inputs:
    """Arguments of a function in which some are inputs of a transform, whose scope this is.

    Results keep a history (of what was recorded outside of the transform) only if gradients are on around it.
    """

    def __init__(self):
        self.keeps_history = _C.is_grad_enabled() and not _C.is_inference_mode_enabled()
        self.flat = []
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        self._stack.enter_context(inference_mode(False))
        self._stack.enter_context(enable_grad())
        self._stack.enter_context(levels.deeper())
        return self

    def __exit__(self, *_):
        _C._end_transform_inputs(self.flat)
        self._stack.close()

    def take(self, nest):
        """The nest with its tensors made inputs; their number and the structure."""
        flat, spec = tree_flatten(nest)
        given = []
        for x in flat:
            if not isinstance(x, _C.Tensor):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
            if not x.is_floating_point() and not x.is_complex():
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            if x.is_inference():
                x = x.clone()
            taken = x.view_as(x) if x.requires_grad and self.keeps_history else _C._as_transform_input(as_input(x))
            self.flat.append(taken)
            # The function may write it; a leaf that the program wants gradients of refuses that.
            given.append(taken if x.is_leaf and x.requires_grad and self.keeps_history else _C._same_history(taken))
        return tree_unflatten(given, spec), spec

    def depends_on_others(self, outputs):
        """Whether the outputs have a history beside these inputs that is to be kept."""
        return self.keeps_history and (_C._depends_on_others(outputs, self.flat) or has_outer_history(outputs)
                                       or any(level.tangent(x).requires_grad for x in self.flat for level in _C._forward_levels([x])))


def _finished(nest, keeps_history):
    """Results of a transform whose scope has ended: their history is kept if it leads out of the transform."""
    def finish(y):
        if not isinstance(y, _C.Tensor) or not y.requires_grad or (keeps_history and _C._depends_on_others([y], [])):
            return y
        new = renewed(y)
        for level in _C._forward_levels([y]):
            level.set(new, finish(level.tangent(y)))
        return new
    return tree_map(finish, nest)


def _positions(argnums, args):
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    given = (argnums,) if isinstance(argnums, int) else argnums
    if not given:
        raise RuntimeError("argnums must be non-empty")
    for n in given:
        if not isinstance(n, int):
            raise RuntimeError(f"argnums: each argnum must be int, got {n!r} in {argnums}")
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    found = tuple(n % len(args) for n in given)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got argnums={argnums}")
    return found


def _replaced(inputs, args, argnums):
    """The arguments with those at argnums made inputs, and the structures of these."""
    args, specs = list(args), []
    for n in _positions(argnums, args):
        args[n], spec = inputs.take(args[n])
        specs.append(spec)
    return args, specs


def _with_aux(result, what):
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{what}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for leaf in tree_flatten(result[1])[0]:
        if not isinstance(leaf, _C.Tensor):
            raise RuntimeError(f"{what}: aux: Expected tensors, got unsupported type {type(leaf)}")
    return result


def _tensors_of(value, what):
    """The tensors of what a function returned, and their structure; `what` is the transform."""
    flat, spec = tree_flatten(value)
    if value is None or not flat:
        raise RuntimeError(f"{what}: Expected f to be a function that has non-empty output (got output = {value})")
    for y in flat:
        if not isinstance(y, _C.Tensor):
            raise RuntimeError(f"{what}: expected f(*primals) to return only tensors, got unsupported type {type(y)}")
    return flat, spec


class _Evaluated:
    """func at some arguments, as a transform sees it: its tensors, their structure, and what it returns beside them."""

    def __init__(self, inputs, func, args, argnums, kwargs=None, has_aux=False, what=""):
        args, self.specs = _replaced(inputs, args, argnums)
        with _C._TransformScope(gradients=True) as made_of_inputs:
            # Arguments that no gradient is taken by may be written, too: they are not captured.
            for x in tree_flatten((args, kwargs))[0]:
                if isinstance(x, _C.Tensor):
                    made_of_inputs.mark(x)
            result = func(*args, **(kwargs or {}))
        self.value, self.aux = _with_aux(result, what) if has_aux else (result, None)
        self.argnums, self.inputs = argnums, inputs

    def take_tensors(self, what):
        """`what` is the transform: f(*primals) is to be a nest of tensors, of at least one."""
        self.flat, self.spec = _tensors_of(self.value, what)
        self.has_history = self.inputs.depends_on_others(self.flat)
        return self

    def nest(self, found):
        """Values for all inputs, as the arguments are; those of one argument alone if argnums is a number."""
        found = iter(found)
        nests = tuple(tree_unflatten([next(found) for _ in range(spec.num_leaves)], spec) for spec in self.specs)
        return nests[0] if isinstance(self.argnums, int) else nests


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns (the gradient of func by the arguments at argnums, what func returned)."""
    what = "grad_and_value(f)(*args)"

    @functools.wraps(func)
    def call(*args, **kwargs):
        with _Inputs() as inputs:
            at = _Evaluated(inputs, func, args, argnums, kwargs, has_aux, what)
            if not isinstance(at.value, _C.Tensor):
                raise RuntimeError(f"{what}: Expected f(*args) to return a Tensor, got {type(at.value)}")
            if at.value.dim() != 0:
                raise RuntimeError(f"{what}: Expected f(*args) to return a scalar Tensor, got tensor with {at.value.dim()} dims. Maybe you "
                                   "wanted to use the vjp or jacrev APIs instead?")
            if at.value.is_complex():
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {at.value.dtype}")
            at.take_tensors(what)
            found = _functional._grad([at.value], inputs.flat, [_C.ones_like(at.value)], at.has_history)
        return _finished((at.nest(found), (at.value, at.aux) if has_aux else at.value), inputs.keeps_history)
    return call


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradient of func; with has_aux, (gradient, the second thing func returns)."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def call(*args, **kwargs):
        gradient, result = both(*args, **kwargs)
        return (gradient, result[1]) if has_aux else gradient
    return call


def vjp(func, *primals, has_aux=False):
    """(func(*primals), the function that multiplies a vector with its Jacobian), and what else func returned with has_aux."""
    what = "vjp(f, *primals)"
    with _Inputs() as inputs:
        at = _Evaluated(inputs, func, primals, tuple(range(len(primals))), None, has_aux, what)
        at.take_tensors(what)

    def multiply(cotangents, retain_graph=True, create_graph=None):
        given, spec = tree_flatten(cotangents)
        if spec != at.spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                               f"cotangents: {spec}, primal output: {at.spec}")
        if create_graph is None:
            create_graph = _C.is_grad_enabled() and (at.has_history or any(v.requires_grad for v in given) or has_outer_history(given))
        found = _functional._grad(at.flat, inputs.flat, given, create_graph, retain_graph=retain_graph)
        products = _finished(at.nest(found), create_graph)
        return products if len(primals) != 1 else (products[0],)
    value, aux = _finished((at.value, at.aux), inputs.keeps_history)
    return (value, multiply, aux) if has_aux else (value, multiply)


def _check_tangents(what, primals, tangents):
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{what}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(tangents)
    if spec != tree_structure(primals):
        raise RuntimeError(f"{what}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
                           f"tensors, tangents also must be. Got primals with structure {tree_structure(primals)} and tangents with "
                           f"structure {spec}")
    if not flat:
        raise RuntimeError(f"{what}: Expected primals and tangents to be non-empty tuples, with at least one Tensor")
    for name, leaves in (("primals", tree_flatten(primals)[0]), ("tangents", flat)):
        for leaf in leaves:
            if not isinstance(leaf, _C.Tensor):
                raise RuntimeError(f"{what}: Expected {name} to only contain Tensors, got {type(leaf)}")
    return flat


class _Along:
    """func of duals, for a level that ends with the scope: its results, and their tangents.

    `beside` are arguments of func without a tangent: it may write them, too."""

    def __init__(self, func, primals, tangents, has_aux, what, beside=()):
        self._level, self.beside = forward_ad._new_level(), [x for x in beside if isinstance(x, _C.Tensor)]
        self.func, self.primals, self.tangents, self.has_aux, self.what = func, primals, tangents, has_aux, what

    def __enter__(self):
        self._scope = forward_ad._scope_of(self._level)
        self._scope.__enter__()
        try:
            self._run()
        except BaseException:
            self._scope.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self._scope.__exit__(None, None, None)

    def _run(self):
        flat, spec = tree_flatten(self.primals)
        duals = [forward_ad._dual(self._level, x, t) for x, t in zip(flat, self.tangents)]
        with _C._TransformScope(gradients=True) as made_of_inputs:
            for x in (*duals, *self.tangents, *self.beside):
                for t in with_values(x):
                    made_of_inputs.mark(t)
            result = self.func(*tree_unflatten(duals, spec))
        self.value, self.aux = _with_aux(result, self.what) if self.has_aux else (result, None)
        self.flat, self.spec = _tensors_of(self.value, self.what)
        self.along = [self._level.tangent(y) for y in self.flat]

    def nest(self):
        """The tangents as a nest like the results."""
        return tree_unflatten([_C.zeros_like(y) if t is None else t for y, t in zip(self.flat, self.along)], self.spec)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), its Jacobian times the tangents), and what else func returned with has_aux."""
    return _jvp(func, primals, tangents, strict, has_aux)


def _jvp(func, primals, tangents, strict, has_aux, beside=()):
    what = "jvp(f, primals, tangents)"
    with _Along(func, primals, _check_tangents(what, primals, tangents), has_aux, what, beside) as at:
        if strict and None in at.along:
            raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
                               "with strict=True.")
        along = at.nest()
    return (at.value, along, at.aux) if has_aux else (at.value, along)


def linearize(func, *primals):
    """(func(*primals), the function that multiplies its Jacobian there with tangents)

    func runs once.  What it does with tangents is recorded, and a linear function of them: Note [Forward products] of autograd.functional.
    """
    what = "linearize(f, *primals)"
    flat, spec = tree_flatten(primals)
    keeps_history = _C.is_grad_enabled() and not _C.is_inference_mode_enabled()
    with inference_mode(False), enable_grad():
        units = [_C._as_transform_input(_C.zeros_like(x)) for x in flat]
        _check_tangents(what, primals, tree_unflatten(units, spec))
        with _Along(func, primals, units, False, what) as at:
            flat_along = tree_flatten(at.nest())[0]
        dual, back = _functional._transposed(flat_along, units)
        has_history = keeps_history and (_C._depends_on_others(back, [*units, *dual]) or has_outer_history(back))
        _C._end_transform_inputs([t for t in (*units, *dual) if t.requires_grad])

    def multiply(*tangents):
        given = _check_tangents("the function of " + what, primals, tangents)
        history = _C.is_grad_enabled() and (has_history or any(t.requires_grad for t in given) or has_outer_history(given))
        return _finished(tree_unflatten(_functional._grad(back, dual, given, history), at.spec), history)
    return _finished(at.value, keeps_history), multiply


# ---- Jacobians

def _check_real(what, place, tensors):
    for t in tensors:
        if t.is_complex():
            raise RuntimeError(f"{what}: Expected all {place} to be real but received complex tensor at flattened {place[:-1]}")


@harmless(_preallocate_and_copy="results are put together once, when all are there")
def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that returns the derivatives of all results of func by the arguments at argnums, by a backward pass for all elements of a
    result.  chunk_size: the most elements in one pass."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def call(*args, **kwargs):
        with _Inputs() as inputs:
            at = _Evaluated(inputs, func, args, argnums, kwargs, has_aux, "jacobian(f)(*args)")
            at.take_tensors("vjp(f, *primals)")
            _check_real("jacrev", "inputs", inputs.flat)
            _check_real("jacrev", "outputs", at.flat)
            table = _functional._jacobian_at_once(at.flat, inputs.flat, at.has_history, chunk_size)
        result = tree_unflatten([at.nest(row) for row in table], at.spec)
        result, aux = _finished((result, at.aux), inputs.keeps_history)
        return (result, aux) if has_aux else result
    return call


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that returns the same derivatives, by a product for each element of the arguments: a vmap of jvp over units.

    randomness: as of vmap(), for what func draws."""
    check_randomness(randomness)

    @functools.wraps(func)
    def call(*args, **kwargs):
        positions = _positions(argnums, args)
        primals, spec = tree_flatten(tuple(args[n] for n in positions))
        _check_real("jacfwd", "inputs", primals)

        def of_primals(*flat):
            given = list(args)
            for n, x in zip(positions, tree_unflatten(flat, spec)):
                given[n] = x
            return func(*given, **kwargs)

        def along(*tangents):
            _, *products = _jvp(of_primals, tuple(primals), tangents, False, has_aux, tree_flatten((args, kwargs))[0])
            _check_real("jacfwd", "outputs", tree_flatten(products[0])[0])
            return tuple(products)
        products, *aux = vmap(along, randomness=randomness)(*_functional._unit_batches(primals))

        def by_input(product):
            nest = tree_unflatten(_functional._columns_of(product, primals), spec)
            return nest[0] if isinstance(argnums, int) else nest
        result = tree_map(by_input, products)
        return (result, tree_map(lambda x: x[0], aux[0])) if has_aux else result
    return call


def hessian(func, argnums=0):
    """A function that returns the second derivatives of func by the arguments at argnums."""
    return jacfwd(jacrev(func, argnums), argnums)
