"""functionalize: runs a function without in-place ops, and with remove="mutations_and_views" without views.

Note [Functional tensors]
Within the function each tensor is a wrapper around a value that no op ever writes.  An in-place op computes a new value, which the wrapper
then has.  A view also has the storage of its base and the chain of views that leads to it.  A write to one tensor of a storage is kept as an
update: the written value and its chain.  Before a tensor of the storage is read again, the updates are carried to the base, by the inverse of
each view of the chain, and the tensor's chain is applied to the new base.
"""
import functools

from .. import _C
from .._dispatch import StateOff, above_autograd
from .._ignored import harmless
from .._overloads import _tensors
from ..autograd.grad_mode import no_grad
from ..utils import _pytree as pytree
from ..utils._python_dispatch import TorchDispatchMode
from . import _view_inverses

_ALIASES = frozenset(("detach", "alias", "lift_fresh"))


def _layout(t):
    return t.shape, t.stride(), t.storage_offset()


def _result(results, index):
    return results if index is None else results[index]


class _View:
    """A view: the op, its arguments besides the base, and which of several results it is."""

    def __init__(self, func, args, kwargs, index):
        self.func, self.args, self.kwargs, self.index = func, args, kwargs, index

    def of(self, base):
        """The view of a base."""
        return _result(self.func(base, *self.args, **self.kwargs), self.index)

    def inverse(self, base, value):
        """The base with the view's elements replaced."""
        return _view_inverses.inverse(self, base, value)


class _Storage:
    """What the wrappers of one base share."""

    def __init__(self, base):
        self.base, self.generation, self._updates = base, 0, []

    def add(self, value, chain):
        """Keeps a write for apply()."""
        self._updates.append((value, chain))
        self.generation += 1

    def apply(self):
        """Carries all writes to the base."""
        for value, chain in self._updates:
            bases = [self.base] if chain else []
            for view in chain[:-1]:
                bases.append(view.of(bases[-1]))
            for view, base in zip(reversed(chain), reversed(bases)):
                value = view.inverse(base, value)
            self.base = value
        self._updates = []


class FunctionalTensor(_C.Tensor):
    """A tensor within a function that functionalize() runs."""

    @staticmethod
    def __new__(cls, value, mode, storage=None, chain=()):
        made = _C.Tensor._make_wrapper_subclass(cls, value.shape, strides=value.stride(), storage_offset=value.storage_offset(),
                                                dtype=value.dtype, device=value.device)
        made._mode, made._value, made._chain = mode, value, chain
        made._storage = storage or _Storage(value)
        # A view of storage that was written has the new elements when it is first read, as any other view.
        made._generation = 0
        return made

    def __init__(self, *_, **__):
        super().__init__()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        mode = next(t._mode for t in _tensors(args, kwargs or {}) if isinstance(t, FunctionalTensor))
        with mode:
            return func(*args, **(kwargs or {}))

    @harmless(tensor_contents="the value is shown")
    def __repr__(self, *, tensor_contents=None):
        return f"FunctionalTensor(lvl={self._mode.level}, value={self._value!r})"

    def _sync(self):
        """The value after all writes to the storage."""
        if self._generation != self._storage.generation:
            self._storage.apply()
            self._value = self._storage.base
            for view in self._chain:
                self._value = view.of(self._value)
            self._generation = self._storage.generation
        return self._value

    def _write(self, value):
        """Takes a value in the place of what it has."""
        self._value = value
        self._storage.add(value, self._chain)
        self._sync()
        self._fit()

    def _view_in_place(self, view):
        self._value = view.of(self._sync())
        self._chain = (*self._chain, view)
        self._fit()

    def _fit(self):
        """Gives the wrapper the sizes of the value."""
        if _layout(self) != _layout(self._value):
            with StateOff(), no_grad():
                if self.numel() < self._value.numel():  # out= of another size
                    _C._share_storage(self, FunctionalTensor(self._value, self._mode))
                self.as_strided_(*_layout(self._value))


def _is_ours(mode):
    return lambda t: isinstance(t, FunctionalTensor) and t._mode is mode


class FunctionalTensorMode(TorchDispatchMode):
    """The scope of the function."""

    def __init__(self, removes_views, level):
        super().__init__()
        self._removes_views, self.level = removes_views, level

    def wrap(self, nest):
        """The nest with wrappers in the place of tensors."""
        return pytree.tree_map_only(_C.Tensor, lambda t: FunctionalTensor(t, self), nest)

    def unwrap(self, nest):
        """The nest with the values of wrappers."""
        ours = _is_ours(self)
        return pytree.tree_map_only(_C.Tensor, lambda t: t._sync() if ours(t) else t, nest)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(t is not FunctionalTensor for t in types):
            return NotImplemented  # that class makes ops of its tensors' parts first
        with above_autograd():
            return self._run(func, tuple(args), dict(kwargs or {}))

    def _run(self, func, args, kwargs):
        schema = func._schema
        if schema is not None and schema.is_mutable:
            return self._mutate(func, args, kwargs)
        if schema is not None and func.is_view and args and _is_ours(self)(args[0]):
            return self._view(func, args, kwargs)
        return self._rewrap(func(*self.unwrap(args), **self.unwrap(kwargs)), (args, kwargs))

    def _rewrap(self, result, given):
        """Results as wrappers; those that are arguments are these."""
        known = {id(t._value): t for t in pytree.tree_flatten(given)[0] if _is_ours(self)(t)}
        return pytree.tree_map_only(_C.Tensor, lambda t: known[id(t)] if id(t) in known else FunctionalTensor(t, self), result)

    def _view(self, func, args, kwargs):
        base, *rest = args
        value = base._sync()
        func = self._copy_of(func)
        results = func(value, *rest, **kwargs)
        if results is value:
            return base

        def made(t, index):
            chain = (*base._chain, _View(func, rest, kwargs, index))
            wrapper = FunctionalTensor(t, self, base._storage, chain)
            _C._share_storage(wrapper, base)
            return wrapper
        return made(results, None) if isinstance(results, _C.Tensor) else type(results)(made(t, i) for i, t in enumerate(results))

    def _copy_of(self, func):
        """view_copy for view, where views are removed."""
        name = func.overloadpacket.__name__
        if not self._removes_views or name in _ALIASES:
            return func
        from ..library import ops
        packet = getattr(ops.aten, name + "_copy", None)
        return func if packet is None else getattr(packet, func._overloadname, func)

    def _mutate(self, func, args, kwargs):
        written = {a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
        named = {**{a.name: value for a, value in zip(func._schema.arguments, args)}, **kwargs}
        targets = [t for name in written for t in pytree.tree_flatten(named.get(name))[0] if isinstance(t, _C.Tensor)]
        ours = _is_ours(self)
        if not any(map(ours, targets)):
            return func(*self.unwrap(args), **self.unwrap(kwargs))  # the function writes what is not its own
        view = _view_inverses.in_place_view(func)
        if view is not None:
            args[0]._view_in_place(_View(self._copy_of(view), args[1:], kwargs, None))
            return args[0]
        functional = _functional(func)
        outs = [name for name in kwargs if name in written]
        if functional is None:
            return self._mutate_copies(func, args, kwargs, written)
        rest = {name: value for name, value in kwargs.items() if name not in written}
        results = functional(*self.unwrap(args), **self.unwrap(rest))
        order = [kwargs[a.name] for a in func._schema.arguments if a.name in outs] if outs else [args[0] if args else kwargs["self"]]
        for target, value in zip(order, results if isinstance(results, (list, tuple)) else [results]):
            target._write(value if value.dtype == target.dtype else value.to(target.dtype))
        return order[0] if len(order) == 1 else tuple(order)

    def _mutate_copies(self, func, args, kwargs, written):
        """An op that has no form which writes nothing: it writes copies."""
        copies = {}

        def copied(name, nest):
            if name not in written:
                return self.unwrap(nest)
            return pytree.tree_map_only(_C.Tensor, lambda t: copies.setdefault(id(t), (t, self.unwrap(t).clone()))[1], nest)
        names = [a.name for a in func._schema.arguments]
        result = func(*(copied(n, x) for n, x in zip(names, args)), **{n: copied(n, x) for n, x in kwargs.items()})
        back = {}
        for t, copy in copies.values():
            t._write(copy)
            back[id(copy)] = t
        return pytree.tree_map_only(_C.Tensor, lambda t: back[id(t)] if id(t) in back else FunctionalTensor(t, self), result)


@functools.cache
def _functional(func):
    """The op that computes what `func` writes; None if there is none."""
    from ..library import ops
    name = func.overloadpacket.__name__
    if func._outs:
        return func.overloadpacket
    if func.namespace != "aten" or not name.endswith("_") or name in ("copy_", "set_"):
        return None
    packet = getattr(ops.aten, name[:-1], None)
    if packet is None or func._overloadname not in packet.overloads():
        return None
    return getattr(packet, func._overloadname)


_levels = []


def functionalize(func, *, remove="mutations"):
    """A function that computes what func does with ops that write nothing; its arguments that func writes are written once, at the end.

    remove: "mutations", or "mutations_and_views" for ops that copy in the place of views, too.  make_fx() of the result is a graph of such ops.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError("functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
                           "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced with their "
                           "out-of-place equivalents.\n     remove='mutations_and_views': In addition to the above, all aliasing operators {view} "
                           "will be replaced with their non-aliasing counterparts, {view}_copy.\n".replace("{remove}", str(remove)))

    @functools.wraps(func)
    def call(*args, **kwargs):
        mode = FunctionalTensorMode(remove == "mutations_and_views", len(_levels) + 1)
        given, spec = pytree.tree_flatten((args, kwargs))
        wrapped = [FunctionalTensor(x, mode) if isinstance(x, _C.Tensor) else x for x in given]
        inner_args, inner_kwargs = pytree.tree_unflatten(wrapped, spec)
        _levels.append(mode)
        try:
            with mode:
                result = func(*inner_args, **inner_kwargs)
        finally:
            _levels.pop()
        result = mode.unwrap(result)
        for x, wrapper in zip(given, wrapped):
            if not isinstance(x, _C.Tensor):
                continue
            wrapper._storage.apply()
            if wrapper._storage.base is not x:
                if x.shape != wrapper._storage.base.shape:
                    x.resize_(wrapper._storage.base.shape)
                x.copy_(wrapper._storage.base)
        return result
    return call
