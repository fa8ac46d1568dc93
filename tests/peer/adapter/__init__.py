"""Lets PyTorch's test files run against Argand: what their helpers import, and nothing that is tested.

The helpers (torch.testing._internal) come from the source tree, as do the modules by which they judge (FROM_SOURCES).
What they import of PyTorch's compilers and of its own C++ module stands in `names.py`.
"""
import functools
import importlib.abc
import importlib.util
import sys
import unittest
from pathlib import Path

from . import names

# The judges of the tests, so that they judge as PyTorch does: comparison of tensors, and how inputs are drawn.
FROM_SOURCES = ("torch.testing._internal", "torch.testing._comparison", "torch.testing._creation", "torch.testing._utils",
                "torch.utils._import_utils", "torch.utils._mode_utils", "torchgen")


class _Helpers(importlib.abc.MetaPathFinder):
    """Finds the helpers in the source tree."""

    def __init__(self, sources):
        self.sources = Path(sources)

    def find_spec(self, name, path=None, target=None):
        if name in names.INERT or not any(name == helper or name.startswith(helper + ".") for helper in FROM_SOURCES):
            return None
        place = self.sources.joinpath(*name.split("."))
        if place.is_dir():
            return importlib.util.spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
        file = place.with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.exists() else None


class _Inert(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that helpers import at their top, and that Argand does not have: without contents."""

    def find_spec(self, name, path=None, target=None):
        from argand._surface.naming import full
        if not any(name == inert or name.startswith(inert + ".") for inert in names.INERT):
            return None
        try:
            if importlib.util.find_spec(full(name.partition(".")[2])) is not None:
                return None
        except ModuleNotFoundError:
            pass
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        return names.inert(spec.name)

    def exec_module(self, module):
        pass


def expected_failure(test):
    """unittest.expectedFailure, which PyTorch's tests have where PyTorch lacks something: a test that passes has passed, and one that fails
    says nothing for or against us, so it counts as skipped."""
    if isinstance(test, type):
        test.__unittest_expecting_failure__ = True
        return test

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        outcome, failure = self._outcome, None
        outcome.expecting_failure = True  # of subtests, too
        try:
            result = test(self, *args, **kwargs)
        except unittest.SkipTest:
            raise
        except Exception as error:
            failure = error
        finally:
            outcome.expecting_failure = False
        if failure is None and outcome.expectedFailure:
            failure = outcome.expectedFailure[1]
        if failure is not None:
            raise unittest.SkipTest(f"PyTorch expects that this fails: {type(failure).__name__}: {failure}"[:300])
        return result
    return run


def install(sources):
    """From now on `import torch` is Argand, with PyTorch's test helpers of the tree `sources`."""
    from argand._torch.install import install as as_torch
    as_torch()
    if any(isinstance(finder, _Helpers) for finder in sys.meta_path):
        return
    sys.meta_path[:0] = [_Helpers(sources), _Inert()]
    unittest.expectedFailure = expected_failure
    names.add()
