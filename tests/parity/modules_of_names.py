"""Writes python/tests/recorded/modules.json: which module each public class and function of PyTorch says it is of.

python tests/parity/modules_of_names.py python/tests/recorded/modules.json     with a Python that has PyTorch

The test python/tests/test_as_torch.py compares it with what `python -m argand` says.  {module: {__module__ of its names: names}}, for
modules without a leading underscore in their names; names from elsewhere, as of typing, are left out.
"""
import collections
import importlib
import inspect
import json
import os
import sys
import types
import warnings


_LEFT_OUT = ("ao", "bin", "distributed", "export", "fx", "include", "lib", "onnx", "share", "sparse", "test", "testing")  # and what is not here


def public_modules(package):
    """The names of a package's modules that no part marks as private; of its tests none."""
    root = os.path.dirname(package.__file__)
    for folder, _, files in os.walk(root):
        parts = os.path.relpath(folder, os.path.dirname(root)).split(os.sep)
        if any(part.startswith("_") or part in _LEFT_OUT for part in parts):
            continue
        for file in files:
            if file == "__init__.py":
                yield ".".join(parts)
            elif file.endswith(".py") and not file.startswith("_"):
                yield ".".join([*parts, file.removesuffix(".py")])


def homes(module):
    """{__module__: names}"""
    found = collections.defaultdict(list)
    for name in dir(module):
        thing = None if name.startswith("_") else getattr(module, name, None)
        if not callable(thing) or isinstance(thing, types.ModuleType) or not (inspect.isclass(thing) or hasattr(thing, "__name__")):
            continue
        home = getattr(thing, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] == "torch":
            found[home].append(name)
    return {home: " ".join(names) for home, names in sorted(found.items())}


def main():
    warnings.simplefilter("ignore")
    import torch
    found = {}
    for name in sorted(public_modules(torch)):
        try:
            found[name] = homes(importlib.import_module(name))
        except (ImportError, RuntimeError):  # needs a package or a system that is not here
            continue
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({name: of for name, of in found.items() if of}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
