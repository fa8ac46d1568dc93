"""torch.compiler.  Nothing is compiled: the library fuses and replays calls without a compiler."""
from ._compiling.models import allow_in_graph, compile, disable, is_compiling, list_backends  # noqa: F401
from ._ignored import harmless
from . import _surface

is_dynamo_compiling = is_compiling

_NOT_COMPILED = "nothing is compiled, so a function stays what it is"


def is_exporting():
    """False: nothing is exported."""
    return False


def _marks(function=None, *_, **__):
    """Marks a function for the compiler; here it stays what it is."""
    return function if function is not None else lambda f: f


assume_constant_result = nested_compile_region = nonstrict_trace = _marks


@harmless(original_fn=_NOT_COMPILED, can_constant_fold_through=_NOT_COMPILED, skip_signature_check=_NOT_COMPILED)
def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """Marks what would stand for original_fn in a trace; here it stays what it is."""
    return lambda f: f


def reset():
    """There is no compiled code to forget."""


def cudagraph_mark_step_begin():
    """Replays need no marks."""


cudagraph_mark_warmup_incomplete = cudagraph_mark_step_begin


__getattr__, __dir__ = _surface.of(__name__)
