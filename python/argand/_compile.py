"""torch.compile.  There is no compiler: the library fuses and replays calls without it.  A module is wrapped, so that its parameters have
PyTorch's names; a backend that the program defines gets the graph that torch.fx traces."""
import contextlib
import contextvars
import functools
import inspect
import warnings

from . import _C
from ._compile_guards import Surroundings
from ._compile_options import MODES, check  # noqa: F401
from ._ignored import frames_of_package, harmless
from .nn.modules.module import Module

# Backends that change nothing: what they would be given runs as it is.
AS_IT_IS = ("inductor", "eager", "aot_eager", "aot_eager_decomp_partition", "cudagraphs", "eager_noexcept", "pre_dispatch_eager")
registered = {}  # name -> (function, tags)
state = {"backend": "inductor", "stance": "default"}

_tracing = contextvars.ContextVar("torch.compile", default=False)


def is_compiling():
    """Whether a graph is made for a backend of the program's own: at no other time is anything compiled."""
    return _tracing.get()


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


# ---- the graph

def _tracer():
    from .fx import Tracer

    class TracerOfAll(Tracer):
        """Modules and parameters that a function closes over become the root's."""

        def path_of_module(self, mod):
            try:
                return super().path_of_module(mod)
            except NameError:
                name = self.get_fresh_qualname("_module")
                self.root.add_module(name, mod)
                if self.submodule_paths is not None:
                    self.submodule_paths.update((m, f"{name}.{n}" if n else name) for n, m in mod.named_modules())
                return name

        def create_arg(self, a):
            try:
                return super().create_arg(a)
            except NameError:
                return self._constant(a, "_parameter")
    return TracerOfAll()


def _modes():
    """What changes the meaning of calls, beside what they read."""
    import argand
    autocast = tuple((argand.is_autocast_enabled(kind), argand.get_autocast_dtype(kind)) for kind in ("cpu", "cuda"))
    return autocast, argand.get_default_dtype(), str(argand.get_default_device())


@contextlib.contextmanager
def _as_traced():
    token = _tracing.set(True)
    try:
        yield
    finally:
        _tracing.reset(token)


class _Traced:
    """A call as a graph module of its tensors, in order, which gives those among its results, and how to make the call of them."""

    def __init__(self, function, flat, spec):
        from .fx import GraphModule
        from .fx.proxy import Proxy
        from .utils._pytree import tree_flatten, tree_unflatten
        tensors = [isinstance(x, _C.Tensor) for x in flat]
        names = [f"arg{i}" for i in range(sum(tensors))]

        def call(*given):
            given = iter(given)
            args, kwargs = tree_unflatten([next(given) if t else x for t, x in zip(tensors, flat)], spec)
            results, self.out_spec = tree_flatten(function(*args, **kwargs))
            self.constants = [None if isinstance(r, (Proxy, _C.Tensor)) else (r,) for r in results]
            return tuple(r for r, c in zip(results, self.constants) if c is None)
        # The tracer reads the names of arguments from the code of a function.
        scope = {"call": call}
        exec(f"def forward({', '.join(['self', *names])}):\n    return call({', '.join(names)})\n", scope)
        root = type("Compiled", (Module,), {"forward": scope["forward"]})()
        owner = function if isinstance(function, Module) else getattr(function, "__self__", None)
        if isinstance(owner, Module):
            root._orig_mod = owner
        with _as_traced():
            graph = _tracer().trace(root)
        self.graph_module = GraphModule(root, graph)
        self.tensors = tensors
        self._unflatten = tree_unflatten

    def results(self, outputs):
        outputs = iter(outputs)
        return self._unflatten([next(outputs) if c is None else c[0] for c in self.constants], self.out_spec)


class Compiled:
    """A function whose graph a backend compiles: once for each kind of arguments (structure, shapes, dtypes, devices, values of what is no
    tensor), modes, and values of what it may read beside its arguments (_compile_guards)."""

    def __init__(self, function, backend, fullgraph, dynamic, mode, options, recompile_limit):
        self.function, self.backend, self.fullgraph, self.dynamic = function, backend, fullgraph, dynamic
        self.keywords = {**({"mode": mode} if mode is not None else {}), **({"options": options} if options is not None else {})}
        self.limit = 8 if recompile_limit is None else recompile_limit
        self.known, self.times = {}, 0  # key -> traces, or None where there is no graph; how often one was looked for
        self.warned = False
        owner = function if isinstance(function, Module) else getattr(function, "__self__", None)
        self.module = owner if isinstance(owner, Module) else None

    def _key(self, flat, spec):
        def of(x):
            if not isinstance(x, _C.Tensor):
                return type(x), repr(x) if isinstance(x, (float, complex)) else x  # 0.0 and -0.0 are two
            return (x.dim() if self.dynamic else x.shape), x.dtype, x.device, x.requires_grad
        key = (spec, tuple(map(of, flat)), _C.is_grad_enabled(), _modes())
        try:
            hash(key)
        except TypeError:  # of a value that cannot be remembered
            return None
        return key

    def _as_it_is(self, why, error=None):
        """A call that the backend does not get, and says so."""
        if self.fullgraph:
            raise Unsupported(f"torch.compile(fullgraph=True): {why}") from error
        if not self.warned:
            self.warned = True
            name = getattr(self.backend, "__name__", self.backend)
            warnings.warn(f"torch.compile: backend {name!r} is not called, the program runs as it is: {why}", stacklevel=frames_of_package() + 1)
        return None

    def _no_graph(self, key, why, error=None):
        if key is not None:
            self.known[key] = None
        return self._as_it_is(why, error)

    def _compile(self, key, flat, spec):
        if self.times and state["stance"] == "fail_on_recompile":
            raise RuntimeError("Detected recompile when torch.compile stance is 'fail_on_recompile'.")
        if self.times and state["stance"] == "eager_on_recompile":
            return None
        if self.times >= self.limit:
            return self._as_it_is(f"it was compiled {self.times} times, as often as recompile_limit allows")
        self.times += 1
        around, failed = Surroundings(self.function, self.module), None
        try:
            traced = _Traced(self.function, flat, spec)
        except Exception as error:
            failed = error
        writes = around.undo()
        if failed is not None:
            return self._no_graph(key, f"torch.fx cannot make one graph of it ({type(failed).__name__}: {failed})", failed)
        if writes is not None:
            return self._no_graph(key, f"{writes}, which a graph would do once for all calls")
        has_constants = any(name.startswith("_tensor_constant") for name in traced.graph_module.__dict__.keys()
                            | traced.graph_module._buffers.keys())
        examples = [x for x, t in zip(flat, traced.tensors) if t]
        try:
            run = self.backend(traced.graph_module, examples, **self.keywords)
        except Exception as error:
            raise BackendCompilerFailed(self.backend, error) from error
        if not callable(run):
            raise TypeError(f"torch.compile: expected backend {getattr(self.backend, '__name__', self.backend)!r} to return a callable, got "
                            f"{type(run).__name__}")
        return around, has_constants, traced, run

    def __reduce__(self):
        return Compiled, (self.function, self.backend, self.fullgraph, self.dynamic, self.keywords.get("mode"), self.keywords.get("options"),
                          self.limit)

    def __call__(self, *args, **kwargs):
        if state["stance"] == "force_eager" or is_compiling():
            return self.function(*args, **kwargs)
        from .utils._pytree import tree_flatten
        flat, spec = tree_flatten((args, kwargs))
        key = self._key(flat, spec)
        traces = self.known.get(key, ())
        found = None if traces is None else next((t for t in traces if t[0].hold(versions=t[1])), None)
        if found is None and traces is not None:
            found = self._compile(key, flat, spec)
            if found is not None and key is not None:
                self.known[key] = [*traces, found]
        if found is None:
            return self.function(*args, **kwargs)
        _, _, traced, run = found
        outputs = run(*(x for x, t in zip(flat, traced.tensors) if t))
        return traced.results((outputs,) if isinstance(outputs, _C.Tensor) else outputs)


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


OptimizedModule.__module__ = __package__ + "._dynamo.eval_frame"  # where programs look for it


@harmless(name="the name appears in no log", isolate_recompiles="each compile() counts its own graphs")
def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None, disable=False,
            recompile_limit=None, isolate_recompiles=False, dynamic_shapes=None):
    """A module that runs `model` and has its parameters as _orig_mod.NAME, or, of a function, the function; without model, a decorator.

    Pointwise chains are fused and repeated launches replayed without a compile step, whatever mode and options say: those of
    _compile_options.py are taken, others are errors.  A backend that is a
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
            from .fx._recording import find_proxy
            if (proxy := find_proxy(args, kwargs)) is not None:
                return proxy.tracer.create_proxy("call_function", fn, args, kwargs)
        return fn(*args, **kwargs)
    return allowed
