"""Whether kernels of Triton could be compiled, as packages ask: nothing here compiles them."""
import importlib.util


def has_triton_package():
    """Whether the package triton is installed."""
    return importlib.util.find_spec("triton") is not None


def has_triton():
    """False: torch.compile gives back what it gets."""
    return False


has_triton_tma = has_triton_experimental_host_tma = has_triton_tma_device = has_triton
