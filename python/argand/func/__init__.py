"""Functions of functions, as torch.func: gradients, Jacobians, and vmap.

vmap(f) calls f for each slice and stacks what comes back: the results are those of PyTorch, the time is that of a loop.
A gradient has a history of its own if an argument requires grad, as those of gradients of gradients do.
"""
import functools

from .. import _C
from .._refused import refused
from ..autograd import functional as _functional
from ..autograd.grad_mode import enable_grad
from ..nn.utils.stateless import functional_call  # noqa: F401
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten


def _detached(nest):
    return tree_map(lambda y: y.detach() if isinstance(y, _C.Tensor) else y, nest)


def _differentiable(args, argnums):
    """The arguments with those at argnums made to require grad; these tensors, and whether they have a history already."""
    args, leaves, history = list(args), [], False
    for n in (argnums,) if isinstance(argnums, int) else argnums:
        flat, spec = tree_flatten(args[n])
        history |= any(x.requires_grad for x in flat)
        flat = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in flat]
        leaves.append((flat, spec))
        args[n] = tree_unflatten(flat, spec)
    return args, leaves, history


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns (the gradient of func by the arguments at argnums, what func returned)."""
    @functools.wraps(func)
    def call(*args, **kwargs):
        from ..autograd import grad as gradients
        with enable_grad():
            args, leaves, history = _differentiable(args, argnums)
            result = func(*args, **kwargs)
            value = result[0] if has_aux else result
            if not isinstance(value, _C.Tensor) or value.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got "
                                   + (f"tensor with {value.dim()} dims" if isinstance(value, _C.Tensor) else str(type(value))))
            every = [x for flat, _ in leaves for x in flat]
            found = iter(gradients(value, every, create_graph=history, materialize_grads=True) if value.requires_grad
                         else [_C.zeros_like(x) for x in every])
        results = tuple(tree_unflatten([next(found) for _ in flat], spec) for flat, spec in leaves)
        return results[0] if isinstance(argnums, int) else results, result if history else _detached(result)
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
    """(func(*primals), the function that multiplies a vector with its Jacobian)"""
    if has_aux:
        raise NotImplementedError("torch.func.vjp: has_aux is not supported")
    args, leaves, history = _differentiable(primals, tuple(range(len(primals))))
    with enable_grad():
        result = func(*args)
    outputs, _ = tree_flatten(result)

    def multiply(cotangents):
        from ..autograd import grad as gradients
        pairs = [(y, v) for y, v in zip(outputs, tree_flatten(cotangents)[0]) if y.requires_grad]
        every = [x for flat, _ in leaves for x in flat]
        found = iter(gradients([y for y, _ in pairs], every, [v for _, v in pairs], retain_graph=True, create_graph=history,
                               materialize_grads=True))
        return tuple(tree_unflatten([next(found) for _ in flat], spec) for flat, spec in leaves)
    return result if history else _detached(result), multiply


def jvp(func, primals, tangents):
    """(func(*primals), its Jacobian times the tangents)"""
    return _functional.jvp(func, tuple(primals), tuple(tangents))


def linearize(func, *primals):
    """(func(*primals), the function that multiplies its Jacobian there with tangents); each call goes through func anew."""
    result, _ = jvp(func, primals, tuple(tree_map(_C.zeros_like, p) for p in primals))
    fixed = tuple(_detached(p) for p in primals)

    def multiply(*tangents):
        return jvp(func, fixed, tangents)[1]
    return result, multiply


functionalize = refused("torch.func.functionalize", "nothing is traced, so that there is no program to take in-place ops out of")


def debug_unwrap(tensor, *, recurse=True):
    """The tensor: none is wrapped."""
    return tensor


def replace_all_batch_norm_modules_(root):
    """Makes the batch normalizations of a model, in place, use the statistics of the batch alone, as vmap needs it."""
    from ..nn.modules.batchnorm import _BatchNorm
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def jacrev(func, argnums=0):
    """A function that returns the derivatives of all results of func by the argument at argnums."""
    if not isinstance(argnums, int):
        raise NotImplementedError("torch.func.jacrev: only one argnum is supported")

    @functools.wraps(func)
    def call(*args):
        def of_one(x):
            return func(*args[:argnums], x, *args[argnums + 1:])
        return _functional.jacobian(of_one, args[argnums], create_graph=args[argnums].requires_grad)
    return call


jacfwd = jacrev


def hessian(func, argnums=0):
    """A function that returns the second derivatives of func by the argument at argnums."""
    def first(*args):
        args = list(args)
        args[argnums] = args[argnums].view_as(args[argnums]) if args[argnums].requires_grad else args[argnums]
        return jacrev(func, argnums)(*args)
    return jacrev(first, argnums)


def _has_slices(value):
    """Whether it is a tensor, or tensors of a package that are one (they have the method by which PyTorch's vmap knows them)."""
    return isinstance(value, _C.Tensor) or hasattr(type(value), "_add_batch_dim")


def _leaves(nest):
    return tree_flatten(nest, is_leaf=_has_slices)


def _dims(in_dims, flat):
    """in_dims for each leaf of an argument: one for all of them, or a nest with one each."""
    if in_dims is None or isinstance(in_dims, int):
        return [in_dims if _has_slices(x) else None for x in flat]
    return tree_flatten(in_dims)[0]


def _columns(flat, dims, n):
    """The slices of the leaves of an argument: a list for each of n calls."""
    cut = [[x] * n if d is None else x.unbind(d) for x, d in zip(flat, dims)]
    return [[slices[i] for slices in cut] for i in range(n)]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func for each slice of its arguments along in_dims, and stacks the results along out_dims."""
    @functools.wraps(func)
    def call(*args, **kwargs):
        dims = tuple(in_dims) if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(f"vmap: in_dims is not compatible with the structure of inputs: {len(dims)} for {len(args)} arguments")
        parts = [_leaves(a) for a in (*args, *kwargs.values())]
        dims = [_dims(d, flat) for (flat, _), d in zip(parts, (*dims, *(0,) * len(kwargs)))]
        sizes = {x.shape[d] for (flat, _), ds in zip(parts, dims) for x, d in zip(flat, ds) if d is not None}
        if len(sizes) != 1:
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)} "
                             "for the mapped dimension")
        n, results, spec = sizes.pop(), [], None
        columns = [_columns(flat, ds, n) for (flat, _), ds in zip(parts, dims)]
        for i in range(n):
            cut = [tree_unflatten(column[i], s) for column, (_, s) in zip(columns, parts)]
            flat, spec = _leaves(func(*cut[:len(args)], **dict(zip(kwargs, cut[len(args):]))))
            results.append(flat)
        places = out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(results[0])
        return tree_unflatten([column[0] if place is None else _C.stack(column, place)
                               for column, place in zip(zip(*results), places)], spec)
    return call


def stack_module_state(models):
    """(parameters, buffers) of several modules of one kind, each name stacked: what vmap of functional_call takes."""
    first = models[0]
    parameters = {n: _C.stack([dict(m.named_parameters())[n].detach() for m in models]).requires_grad_(p.requires_grad)
                  for n, p in first.named_parameters()}
    buffers = {n: _C.stack([dict(m.named_buffers())[n].detach() for m in models]) for n, _ in first.named_buffers()}
    return parameters, buffers
