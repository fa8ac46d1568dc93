"""Has the import system find Argand as torch, in this process and in those that it starts."""
import functools
import importlib
import importlib.abc
import importlib.machinery
import multiprocessing
import multiprocessing.spawn
import os
import subprocess
import sys

from .._surface import alias
from .._surface.modules import TableModules
from .._surface.naming import full, short
from ..torch_version import FOLLOWED, TorchVersion
from .renames import say_torch
from .view import shows, torch


_PACKAGES = {"torch": "argand", "functorch": "argand._torch.functorch"}  # all that torch's wheel has for programs


def _real(name):
    """The name here of a module of PyTorch's; None if it is none."""
    package, dot, rest = name.partition(".")
    if package == "torch":
        return full(rest)
    return _PACKAGES[package] + dot + rest if package in _PACKAGES else None


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch and torch.x.y as argand and argand.x.y: the same module objects under both names."""

    def find_spec(self, name, path=None, target=None):
        real = _real(name)
        if real is None:
            return None
        if name.startswith("torch.") and not shows(name.split(".")[1]):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            found = None
        if found is None:
            from .._surface.table import why_absent
            why = why_absent(name.partition(".")[2]) or f"Argand has no '{real}'"
            raise ModuleNotFoundError(f"No module named '{name}': {why}", name=name)
        is_package = found.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(name, self, origin=found.origin, is_package=is_package)

    def create_module(self, spec):
        module = torch() if spec.name == "torch" else importlib.import_module(_real(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        # import_module() ran it.  The import system has set the alias's spec on it; relative imports go by the real one.
        if module is not torch():
            module.__spec__ = module.__spec__.loader_state

    def get_code(self, name):
        """For runpy: `python -m argand -m torch.x.y`."""
        real = _real(name)
        return importlib.util.find_spec(real).loader.get_code(real)

    def find_distributions(self, context=None):
        """What importlib.metadata.version("torch") finds: packages ask it whether there is a torch, and which."""
        from importlib.metadata import Distribution

        class Torch(Distribution):
            def read_text(self, filename):
                import argand
                return f"Metadata-Version: 2.1\nName: torch\nVersion: {argand.__version__}\n" if filename == "METADATA" else None

            def locate_file(self, path):
                import argand
                return os.path.join(os.path.dirname(argand.__path__[0]), path)
        return [Torch()] if context is None or context.name in (None, "torch") else []


def _alias(name, module):
    """Gives a module of ours its other name.  Imported by that, it would take the place of what its package has under the same
    name, as the function torch.nn.parallel.data_parallel."""
    if name == "argand":
        sys.modules.setdefault("torch", torch())
    elif name != "argand._C" and (theirs := short(name)) is not None and shows(theirs.partition(".")[0]):  # torch._C is argand._torch._C
        sys.modules.setdefault("torch." + theirs, module)
    say_torch(module, name)


class _Own(importlib.abc.MetaPathFinder):
    """Finds our modules, which have their other names, too, once they have run."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("argand."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) or TableModules().find_spec(name)
        if spec is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _alias(name, module)
        spec.loader.exec_module = exec_module
        return spec


class _WithoutItsLibrary(importlib.abc.MetaPathFinder):
    """Finds a module of a package whose library of ops, made for PyTorch's own C++ types, does not load, and has it say what is true
    here: that there is no such library, the rest of the package being Python; or that its ops are there, as Argand has them itself.

    torchvision gives its ops gradients and autocast from Python, while it is imported: to those of its own library.  Argand's have
    both, so it says that there are ops when it has done that, and before its functions are defined, which ask.
    """
    SAYS = {"torchaudio._extension.utils": ("torchaudio._extension.utils", "_load_lib", lambda name: False),
            "torchvision._meta_registrations": ("torchvision.extension", "_has_ops", lambda: True)}

    def find_spec(self, name, path=None, target=None):
        if name not in self.SAYS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            about, attribute, value = self.SAYS[name]
            setattr(sys.modules[about], attribute, value)
        spec.loader.exec_module = exec_module
        return spec


def _install_in_children():
    """Interpreters that multiprocessing starts anew ("spawn", "forkserver") begin with the alias, too: they import the program."""
    command_of = multiprocessing.spawn.get_command_line

    def get_command_line(**kwds):
        command = command_of(**kwds)
        if "-c" in command:
            at = command.index("-c") + 1
            command[at] = f"import argand._torch.installed; {command[at]}"
        return command
    multiprocessing.spawn.get_command_line = get_command_line
    multiprocessing.set_forkserver_preload(["argand._torch.installed"])
    _install_in_subprocesses()


def _as_torch(arguments):
    """A command that starts a script or a module by this interpreter: by `python -m argand`.  Any other stays as it is."""
    if not isinstance(arguments, (list, tuple)) or not arguments or arguments[0] != sys.executable:
        return arguments
    at = 1
    while at < len(arguments) and isinstance(arguments[at], str) and arguments[at] in ("-u", "-B", "-O", "-OO", "-q", "-v", "-s", "-b", "-bb"):
        at += 1
    rest = arguments[at:]
    if not rest or not isinstance(rest[0], (str, os.PathLike)):
        return arguments
    begins = os.fspath(rest[0])
    if not isinstance(begins, str) or (begins.startswith("-") and begins != "-m"):
        return arguments
    if begins == "-m" and (len(rest) < 2 or rest[1].partition(".")[0] == "argand"):
        return arguments
    return [*arguments[:at], "-m", "argand", *rest]


def _install_in_subprocesses():
    """Launchers of packages start a program again by sys.executable, for another rank: the same program, with the same torch."""
    init = subprocess.Popen.__init__

    @functools.wraps(init)
    def __init__(self, args, *more, **options):
        env = options.get("env")
        if env is None or env.get("PYTHONPATH") == os.environ.get("PYTHONPATH"):  # it finds this package as this process did
            args = _as_torch(args)
        init(self, args, *more, **options)
    subprocess.Popen.__init__ = __init__


def install():
    """From now on `import torch` is `import argand`.  RuntimeError if the real torch was imported before."""
    import argand
    if "torch" in sys.modules and sys.modules["torch"] is not torch():
        raise RuntimeError("python -m argand: torch is imported already")
    alias.torch = torch()
    if not any(isinstance(f, _Alias) for f in sys.meta_path):
        sys.meta_path[:0] = [_Alias(), _Own(), _WithoutItsLibrary()]
        _install_in_children()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "argand":
            _alias(name, module)
    if not argand.__version__.startswith(FOLLOWED):
        # Programs that branch on the version must see the one whose behaviour Argand follows.
        argand.__version__ = argand.version.__version__ = TorchVersion(f"{FOLLOWED}+argand.{argand.__version__}")
        torch().__version__ = argand.__version__
