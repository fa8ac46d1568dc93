"""Settings of the libraries that Argand is built on, as torch.backends."""
from .. import _switches
from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum  # noqa: F401


def __getattr__(name):
    if name not in ("cusparselt", "kleidiai", "mha", "miopen", "nnpack", "quantized", "xnnpack"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    return import_module("." + name, __name__)


def __allow_nonbracketed_mutation():
    """A scope in which flags may be set one by one, as they may everywhere."""
    import contextlib
    return contextlib.nullcontext()


_switches.make(__name__, {"fp32_precision": _switches.precision("all")})
