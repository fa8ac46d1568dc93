"""torch.compile.  There is no compiler: the library fuses and replays calls without it.  A module is wrapped, so that its parameters have
PyTorch's names; a backend that the program defines gets the graph that torch.fx traces."""
import contextlib
import contextvars
import functools
import inspect

from .options import MODES, check  # noqa: F401
from .._ignored import harmless
from ..nn.modules.module import Module

# Backends that change nothing: what they would be given runs as it is.
AS_IT_IS = ("inductor", "eager", "aot_eager", "aot_eager_decomp_partition", "cudagraphs", "eager_noexcept", "pre_dispatch_eager")
registered = {}  # name -> (function, tags)
state = {"backend": "inductor", "stance": "default"}

_tracing = contextvars.ContextVar("torch.compile", default=False)


def is_compiling():
    """Whether a graph is made for a backend of the program's own: at no other time is anything compiled."""
    return _tracing.get()


@contextlib.contextmanager
def as_traced():
    token = _tracing.set(True)
    try:
        yield
    finally:
        _tracing.reset(token)


class TorchDynamoException(RuntimeError):
    """The base of errors about graphs."""


class Unsupported(TorchDynamoException):
    """No graph can be made of this."""


class InvalidBackend(TorchDynamoException):
    """There is no backend of this name."""

    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}. See `torch._dynamo.list_backends()` for available backends.")


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised an exception."""

    def __init__(self, backend_fn, inner_exception):
        self.backend_name, self.inner_exception = getattr(backend_fn, "__name__", "?"), inner_exception
        super().__init__(f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}")


def register_backend(compiler_fn=None, name=None, tags=()):
    """Makes compiler_fn(graph_module, example_inputs) known by a name (by default its own); a decorator without a function."""
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    registered[name or compiler_fn.__name__] = compiler_fn, tuple(tags)
    return compiler_fn


def list_backends(exclude_tags=("debug", "experimental")):
    """The names that torch.compile's `backend` may be."""
    return sorted({*AS_IT_IS, *(n for n, (_, tags) in registered.items() if not set(tags) & set(exclude_tags or ()))})


def _as_given(graph_module, example_inputs, **_):
    return graph_module.forward


def lookup_backend(name):
    """The function of a backend."""
    if callable(name):
        return name
    if name in registered:
        return registered[name][0]
    if name in AS_IT_IS:
        return _as_given
    raise InvalidBackend(name)


# ---- modules

class OptimizedModule(Module):
    """The result of torch.compile for a module, which is its only child; other attributes are that module's."""

    def __init__(self, mod, run=None):
        super().__init__()
        del self.__dict__["training"]
        self._modules["_orig_mod"] = mod
        self.__dict__["_run"] = run

    def forward(self, *args, **kwargs):
        return (self._run or self._orig_mod)(*args, **kwargs)

    def __getattr__(self, name):
        modules = self.__dict__.get("_modules", {})
        if name == "_orig_mod" or "_orig_mod" not in modules:
            return super().__getattr__(name)
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        if name == "_orig_mod" or name in self.__dict__ or isinstance(getattr(type(self), name, None), property):
            super().__setattr__(name, value)
        elif "_modules" in self.__dict__ and "_orig_mod" in self._modules:
            setattr(self._orig_mod, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self.__dict__ or name in self._modules:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __reduce__(self):
        return OptimizedModule, (self._orig_mod,)  # what a backend made does not travel


@harmless(name="the name appears in no log", isolate_recompiles="each compile() counts its own graphs")
def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None, disable=False,
            recompile_limit=None, isolate_recompiles=False, dynamic_shapes=None):
    """A module that runs `model` and has its parameters as _orig_mod.NAME, or, of a function, the function; without model, a decorator.

    Pointwise chains are fused and repeated launches replayed without a compile step, whatever mode and options say: those of
    options.py are taken, others are errors.  A backend that is a
    callable, or registered by torch._dynamo.register_backend(), is called with the fx.GraphModule of a call and its tensors, and what it
    returns runs from then on.  Where torch.fx cannot make one graph (of control flow on values of tensors, for example) a warning says
    so and the program runs as it is; with fullgraph=True that is an error.  dynamic=True makes one graph for all shapes.
    """
    backend = state["backend"] if backend is None else backend
    compiler = lookup_backend(backend)
    check(mode, options, dynamic_shapes, fullgraph, recompile_limit, backend, compiler is _as_given)
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"Expected dynamic to be a bool, got {type(dynamic)}")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, name=name,
                                 disable=disable, recompile_limit=recompile_limit, isolate_recompiles=isolate_recompiles)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable:
        return model
    model = model._orig_mod if isinstance(model, OptimizedModule) else model
    run = None
    if compiler is not _as_given:
        from .calls import Compiled  # upward: it traces with torch.fx, which programs without a backend of their own never load
        run = Compiled(model, compiler, fullgraph, dynamic, mode, options, recompile_limit)
    if isinstance(model, Module):
        return OptimizedModule(model, run)
    if run is None or inspect.isclass(model):
        return model

    @functools.wraps(model)
    def compiled(*args, **kwargs):
        return run(*args, **kwargs)
    compiled._torchdynamo_orig_callable = model
    return compiled


def compile_module(module, *args, **kwargs):
    """Module.compile(): calls of the module run compiled; its names stay."""
    forward = getattr(module.forward, "_torchdynamo_orig_callable", module.forward)
    made = compile(forward, *args, **kwargs)
    if made is not forward:
        module.__dict__["forward"] = made


# ---- marks

@harmless(recursive="functions that it calls are not compiled either, and give the same results")
def disable(fn=None, recursive=True, *, reason=None):
    """Marks a function as none of a graph: a call within one ends it."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if not inspect.isfunction(fn) and not inspect.ismethod(fn):
        return fn

    @functools.wraps(fn)
    def disabled(*args, **kwargs):
        if is_compiling():
            raise Unsupported(f"{getattr(fn, '__qualname__', fn)} is marked by torch.compiler.disable" + (f": {reason}" if reason else ""))
        return fn(*args, **kwargs)
    disabled._torchdynamo_disable, disabled._torchdynamo_orig_callable = True, fn
    return disabled


def allow_in_graph(fn):
    """Marks a function, or each of several, as one node of a graph."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(f) for f in fn]
    if inspect.isclass(fn):
        return fn

    @functools.wraps(fn)
    def allowed(*args, **kwargs):
        if is_compiling():
            from ..fx._recording import find_proxy  # upward: only calls within a trace of torch.fx come here
            if (proxy := find_proxy(args, kwargs)) is not None:
                return proxy.tracer.create_proxy("call_function", fn, args, kwargs)
        return fn(*args, **kwargs)
    return allowed
