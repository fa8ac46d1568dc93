"""Extensions in C++ for PyTorch's headers, as torch.utils.cpp_extension: they cannot be built for Argand."""
import os
import sys

from .. import _surface

CUDA_HOME = ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False


def _get_build_directory(name, verbose=False):
    """The folder of an extension's files, which is made: packages look for what they built there."""
    root = os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "torch_extensions")
    folder = os.path.join(root, name)
    if verbose:
        print(f"Using {root} as PyTorch extensions root...", file=sys.stderr)
    os.makedirs(folder, exist_ok=True)
    return folder


__getattr__, __dir__ = _surface.of(__name__)
