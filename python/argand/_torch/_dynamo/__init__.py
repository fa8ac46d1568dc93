"""Names of torch._dynamo that programs use: the marks of torch.compiler, and options of a compiler that Argand does not have."""
from ... import _surface
from ..._compiling.names import set_stance
from ..._ignored import harmless
from ..._compiling.models import compile as _compile, list_backends, lookup_backend, register_backend  # noqa: F401
from ...compiler import (_NOT_COMPILED, _marks, allow_in_graph, assume_constant_result, disable, is_compiling,  # noqa: F401
                        nonstrict_trace, reset, substitute_in_graph)
from . import config, exc, utils  # noqa: F401
from .eval_frame import OptimizedModule  # noqa: F401


disallow_in_graph = forbid_in_graph = dont_skip_tracing = run = _marks


def optimize(backend="inductor", *, nopython=False, dynamic=None, disable=False):
    """torch.compile as a decorator."""
    return _compile(fullgraph=nopython, dynamic=dynamic, backend=backend, disable=disable)


optimize_assert = optimize


def is_dynamo_supported():
    """False: there is no compiler."""
    return False


is_inductor_supported = is_dynamo_supported


@harmless(error_on_graph_break=_NOT_COMPILED)
def error_on_graph_break(error_on_graph_break):
    """A scope in which a graph break would be an error: there are no graphs to break."""
    return set_stance()


def patch_dynamo_config(arg1=None, arg2=None, **values):
    """A scope, or decorator, with other options."""
    return config.patch(*(() if arg1 is None else (arg1,) if arg2 is None else (arg1, arg2)), **values)


__getattr__, __dir__ = _surface.of(__name__)
