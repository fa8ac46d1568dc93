"""Where the `nvidia-*` wheels keep CUDA's libraries, for the CUDA backend, which opens them when it first needs them."""
import os
import sys


def _folders():
    for entry in sys.path:
        root = os.path.join(entry, "nvidia")
        if entry and os.path.isdir(root):
            for name in sorted(os.listdir(root)):
                folder = os.path.join(root, name, "lib")
                if os.path.isdir(folder):
                    yield folder


# A path that the user has set stays.
if "ARGAND_CUDA_LIBRARY_PATH" not in os.environ:
    _found = ":".join(_folders())
    if _found:
        os.environ["ARGAND_CUDA_LIBRARY_PATH"] = _found
