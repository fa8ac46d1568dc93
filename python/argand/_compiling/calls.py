"""Calls of a function as graphs, which torch.fx traces, for a backend of torch.compile that the program defines."""
import warnings

import argand

from .. import _C
from .models import BackendCompilerFailed, Unsupported, as_traced, is_compiling, state
from .guards import Surroundings
from .._ignored import frames_of_package
from ..fx import GraphModule, Tracer
from ..fx.proxy import Proxy
from ..nn.modules.module import Module
from ..utils._pytree import tree_flatten, tree_unflatten


def _tracer():
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
    autocast = tuple((argand.is_autocast_enabled(kind), argand.get_autocast_dtype(kind)) for kind in ("cpu", "cuda"))
    return autocast, argand.get_default_dtype(), str(argand.get_default_device())


class _Traced:
    """A call as a graph module of its tensors, in order, which gives those among its results, and how to make the call of them."""

    def __init__(self, function, flat, spec):
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
        with as_traced():
            graph = _tracer().trace(root)
        self.graph_module = GraphModule(root, graph)
        self.tensors = tensors
        self._unflatten = tree_unflatten

    def results(self, outputs):
        outputs = iter(outputs)
        return self._unflatten([next(outputs) if c is None else c[0] for c in self.constants], self.out_spec)


class Compiled:
    """A function whose graph a backend compiles: once for each kind of arguments (structure, shapes, dtypes, devices, values of what is no
    tensor), modes, and values of what it may read beside its arguments (guards.py)."""

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
