"""Modes that are offered every op before it runs, and tensors around tensors, as torch.utils._python_dispatch."""
import contextlib
import warnings

from .. import _C
from .._dispatch import modes, set_modes


class TorchDispatchMode:
    """A scope in which __torch_dispatch__(func, types, args, kwargs) is called in the place of every op, under autograd.  While it
    runs, the mode around it is the innermost.

    A mode with a _mode_key is one of the library's own kinds (torch._C._TorchDispatchModeKey): there is at most one of each, and it is
    asked after all others.
    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            self.__dict__["_dispatch_key"] = _dispatch_key
        self.old_dispatch_mode_flags = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, *_):
        _pop_mode(getattr(self, "_mode_key", None))

    @classmethod
    def push(cls, *args, **kwargs):
        """A mode to enter; `with Mode():` is the same."""
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        """Whether it is one of the library's own kinds."""
        return False

    @classmethod
    def ignore_compile_internals(cls):
        """False: nothing is compiled."""
        return False


BaseTorchDispatchMode = TorchDispatchMode


def _rank(mode):
    """Where it stands in the stack: the library's own kinds outside, in the order of their keys."""
    key = getattr(mode, "_mode_key", None)
    return 99 if key is None else key.value


def _push_mode(mode):
    stack, rank = list(modes()), _rank(mode)
    if rank != 99 and any(_rank(m) == rank for m in stack):
        raise AssertionError(f"a mode of the kind {mode._mode_key} is on already")
    at = len(stack) if rank == 99 else next((i for i, m in enumerate(stack) if _rank(m) > rank), len(stack))
    stack.insert(at, mode)
    set_modes(stack)


def _pop_mode(k=None):
    """Leaves the innermost mode, or that of a kind."""
    stack = list(modes())
    at = next((i for i in range(len(stack) - 1, -1, -1) if k is None or getattr(stack[i], "_mode_key", None) == k), None)
    if at is None:
        raise AssertionError("Trying to pop a mode that is not on" if k is not None else "Trying to pop from empty mode stack")
    mode = stack.pop(at)
    set_modes(stack)
    return mode


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    """A scope without the innermost mode."""
    mode = _pop_mode(k)
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_dispatch_mode():
    """The innermost mode; None if there is none."""
    return modes()[-1] if modes() else None


def _get_current_dispatch_mode_stack():
    """The modes, the innermost last."""
    return list(modes())


def _len_torch_dispatch_stack():
    return len(modes())


@contextlib.contextmanager
def _disable_current_modes():
    """A scope without modes; gives those that are off."""
    before = list(modes())
    set_modes([])
    try:
        yield before
    finally:
        set_modes(before)


def _detect_infra_mode(key):
    """The mode of one of the library's own kinds; None if it is not on."""
    return next((m for m in modes() if getattr(m, "_mode_key", None) == key), None)


def _unset_infra_mode(key):
    """Leaves it."""
    return _pop_mode(key) if _detect_infra_mode(key) is not None else None


@contextlib.contextmanager
def _disable_infra_mode(key):
    """A scope without it."""
    mode = _unset_infra_mode(key)
    try:
        yield mode
    finally:
        if mode is not None:
            _push_mode(mode)


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Whether a mode is on."""
    return any(include_infra_modes or not (m.is_infra_mode() or _rank(m) != 99) for m in modes())


def is_in_any_mode_without_ignore_compile_internals():
    """Whether a mode is on that does not leave out what compilers do."""
    return any(not m.ignore_compile_internals() for m in modes())


# ---- tensors around tensors


def is_traceable_wrapper_subclass(t):
    """Whether a tensor says what is in it, by __tensor_flatten__() and __tensor_unflatten__()."""
    return isinstance(t, _C.Tensor) and type(t) is not _C.Tensor and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t):
    """The same question about a class."""
    return issubclass(t, _C.Tensor) and t is not _C.Tensor and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """A tensor of the same class around callback(name, inner) for each of those in it; its sizes are those of `t` unless given."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(inner, context, outer_size, outer_stride)
    if made.shape != outer_size:
        raise AssertionError(f"Expected return value from {type(t)}__tensor_unflatten__() to have shape equal to {outer_size}, but got: {made.shape}")
    if tuple(made.stride()) != tuple(outer_stride):
        raise AssertionError(f"Expected return value from {type(t)}__tensor_unflatten__() to have stride equal to {outer_stride}, but got: "
                             f"{made.stride()}")
    return made


def _written(schema, args, kwargs):
    """{letters of a schema's alias: the argument that it names}, for those that are written, and for those that are seen."""
    written, seen = {}, {}
    for i, a in enumerate(schema.arguments):
        value = args[i] if i < len(args) else kwargs.get(a.name)
        if a.alias_info is not None and value is not None:
            for letter in a.alias_info.before_set:
                (written if a.alias_info.is_write else seen)[letter] = value
    return written, seen


def return_and_correct_aliasing(func, args, kwargs, out):
    """What __torch_dispatch__ of a tensor around tensors returns: results that the schema says are arguments are these, and views
    share the storage of their base."""
    schema = func._schema
    written, seen = _written(schema, args, kwargs or {})
    if func.is_view:
        results = out if isinstance(out, (list, tuple)) else [out]
        for base in seen.values():
            for result in results:
                if not isinstance(base, _C.Tensor):
                    continue
                if type(result) is not type(base):
                    raise AssertionError(f"Called {func} with input of type {type(base)}\nand output of type {type(result)}. But expected types to match.")
                _C._share_storage(result, base)
        return out
    letters = [next(iter(r.alias_info.before_set), None) if r.alias_info is not None and r.alias_info.is_write else None for r in schema.returns]
    if not any(letters):
        return out
    if len(letters) == 1:
        return written[letters[0]]
    if not all(letters):
        raise RuntimeError(f"Unsupported schema: {schema}")
    return type(out)(written[letter] for letter in letters)


def autograd_would_have_decomposed(func, flat_args):
    """Whether autograd would make other ops of the op for these arguments."""
    return func._schema.is_composite and any(isinstance(a, _C.Tensor) and a.requires_grad for a in flat_args)

