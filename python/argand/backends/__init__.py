"""Settings of the libraries that Argand is built on, as torch.backends."""
from .. import _surface, _switches
from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum  # noqa: F401


def __allow_nonbracketed_mutation():
    """A scope in which flags may be set one by one, as they may everywhere."""
    import contextlib
    return contextlib.nullcontext()


__getattr__, __dir__ = _surface.of(__name__)
_switches.make(__name__, {"fp32_precision": _switches.precision("all")})
