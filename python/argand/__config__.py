"""How the library was built, as torch.__config__."""
from . import _C


def show():
    """A text for bug reports."""
    from .backends import cpu, cuda, mkldnn
    return "\n".join(["Argand built with:", "  - C++ Version: 202002", f"  - CPU capability usage: {cpu.get_cpu_capability()}",
                      f"  - USE_CUDA={'ON' if cuda.is_built() else 'OFF'}, USE_MKL=OFF, "
                      f"USE_MKLDNN={'ON' if mkldnn.is_available() else 'OFF'}, USE_OPENMP=OFF", ""])


def parallel_info():
    """How many threads there are."""
    return f"Argand's thread pool:\n\tget_num_threads() : {_C.get_num_threads()}\n"
