"""Compares the public names of PyTorch's Python modules with those of the package.

A public name of PyTorch is here if a program can ask our module for it.  Otherwise a table of python/argand/_surface says what it is:
refused, ignored or absent, with a reason.  The tables have no other names: each is one of PyTorch's, those that are refused raise an
error with their reason, those that are loaded late load, and what is absent or marked as Argand's own is really that.  dir() of a
module of ours has what it can be asked for.

    surface.py                 with a Python that has PyTorch and the package
    surface.py --missing       prints the names that are in no table, by module
    surface.py --write         writes the counts of surface_counts.json, which docs/python-names.md shows
"""
import argparse
import ast
import importlib
import importlib.util
import inspect
import io
import json
import logging
import pkgutil
import sys
import types
import typing
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from known import Known  # noqa: E402

NO_CONSTANTS = (types.ModuleType, typing.TypeVar, typing.ParamSpec, logging.Logger)


def public_modules(package):
    """The names of a package's modules that no part marks as private."""
    for found in pkgutil.iter_modules(getattr(package, "__path__", ()), package.__name__ + "."):
        if not found.name.rpartition(".")[2].startswith("_"):
            yield found.name
            if found.ispkg and (inner := imported(found.name)) is not None:
                yield from public_modules(inner)


def imported(name):
    """The module, or None where it needs a package, a device or a system that is not here; what it prints is thrown away."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return importlib.import_module(name)
    except (ImportError, AttributeError, AssertionError, RuntimeError, OSError, KeyError, ValueError, TypeError):
        return None


def assigned(module):
    """The names that the text of a module assigns at its top level."""
    try:
        body = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError):
        return set()
    found = set()
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        found.update(n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
    return found


def public_names(module):
    """What __all__ has and is there; without it the names of what is defined in the module, or for a package in PyTorch."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return {name for name in listed if not name.startswith("_") and hasattr(module, name)}
    found, constants = set(), assigned(module)
    for name, value in list(vars(module).items()):
        home = getattr(value, "__module__", None)
        if name.startswith("_") or isinstance(value, NO_CONSTANTS):
            continue
        if isinstance(home, str) and (inspect.isclass(value) or inspect.isroutine(value)):
            package, _, rest = home.partition(".")
            is_here = home == module.__name__ or (hasattr(module, "__path__") and (
                package == "torch" or package == "argand" and not rest.startswith("_")))  # not what our files share
        else:
            is_here = name in constants
        if is_here:
            found.add(name)
    return found


def has(module, name):
    """Whether a module has a name, perhaps as a module that is imported by it."""
    if hasattr(module, name):
        return True
    return imported(f"{module.__name__}.{name}") is not None if hasattr(module, "__path__") else False


def ours(theirs):
    """Our module for one of PyTorch's, as `import torch` gives it under `python -m argand`; None if there is none."""
    if theirs == "torch":
        from argand._torch.view import torch as shown
        return shown()
    from argand._surface.naming import full
    return imported(full(theirs.partition(".")[2]))


class Comparison:
    def __init__(self, table, known):
        self.table, self.tables, self.known, self.wrong = table, table.everything(), known, []
        self.counts = dict.fromkeys(("here", "ignored", "refused", "absent"), 0)
        self.areas = {}  # the same by the first name below torch
        self.missing = {}

    def count(self, name, kind, names=1):
        """Adds public names of a module of PyTorch's."""
        self.counts[kind] += names
        area = self.areas.setdefault(".".join(name.split(".")[:2]), dict.fromkeys(self.counts, 0))
        area[kind] += names

    def say(self, text):
        self.wrong.append(text)

    def module(self, name, theirs):
        """One of PyTorch's modules."""
        short = name.partition(".")[2]
        names = public_names(theirs)
        if self.table.why_absent(short) is not None:
            self.count(name, "absent", len(names))
            return
        mine = ours(name)
        if mine is None:
            self.missing[name] = None
            self.say(f"{name}: there is no such module, and no table says why")
            return
        section = self.tables.get(short)
        if section is None or section.shown is None:
            self.extra(name, theirs, mine, section)
        for public in sorted(names):
            entry = section.names.get(public) if section else None
            if entry is not None and entry.kind in self.counts:
                self.count(name, entry.kind)
            elif hasattr(mine, public):
                self.count(name, "here")
            else:
                self.missing.setdefault(name, []).append(public)
                self.say(f"{name}.{public}: it is not here, and no table says why")

    def extra(self, name, theirs, mine, section):
        """The public names of our module that PyTorch's does not have: a program must not come to need them without knowing."""
        names = public_names(mine) if name != "torch" else {n for n in dir(mine) if not n.startswith("_")}
        told = {n for n, entry in section.names.items() if entry.kind == "extra"} if section else set()
        found = {n for n in names if not has(theirs, n) and not (section and n in section.names and section.names[n].kind == "own")
                 and not self.known.explains(lambda line: line.names(f"{name}.{n}"))}  # noqa: B023 -- it is called now
        self.wrong += [f"{name}.{n}: PyTorch does not have this name, and no table says why it is here" for n in sorted(found - told)]
        self.wrong += [f"{name}.{n}: the table says that it is extra, and it is PyTorch's, or not here" for n in sorted(told - found)]

    def section(self, short, section):
        """What the tables say of one module."""
        name = f"torch.{short}" if short else "torch"
        theirs = imported(name)
        if theirs is None and not exists(name):
            self.say(f"[{short}]: PyTorch has no such module")
        if section.absent is not None:
            if ours(name) is not None:
                self.say(f"[{short}]: the table says that it is absent, and it is here")
            if section.names:
                self.say(f"[{short}]: a module that is absent has no names")
            return
        mine = ours(name)
        if mine is None:
            self.say(f"[{short}]: it cannot be imported")
            return
        listed = set(dir(mine))
        for public, entry in section.names.items():
            where = f"{name}.{public}"
            if entry.kind == "extra":
                continue
            if name == "torch" and entry.kind == "own":
                self.hidden(where, theirs, mine, public)
                continue
            if theirs is not None and "." not in public and has(theirs, public) == (entry.kind == "own") and not self.known.explains(
                    lambda line: line.names(where)):  # noqa: B023 -- it is called now
                self.say(f"{where}: PyTorch {'has' if entry.kind == 'own' else 'does not have'} this name")
            if entry.kind == "absent":
                if public in listed or hasattr(mine, public):
                    self.say(f"{where}: the table says that it is absent, and it is here")
                continue
            if public in vars(mine) and not self.is_made(vars(mine)[public], entry):
                self.say(f"{where}: our module defines it, so its line in the table has no effect")
                continue
            self.entry(where, mine, public, entry)
            if "." not in public and public not in listed:
                self.say(f"{where}: dir() of the module does not have it")
        for public in section.hidden:
            self.hidden(f"{name}.{public}", theirs, mine, public)
        for public in listed:
            if not hasattr(mine, public):
                self.say(f"{name}.{public}: dir() of the module has it, and it is an AttributeError")

    def hidden(self, where, theirs, mine, name):
        """A name, or all with one beginning, that argand has and torch does not show."""
        import argand
        if name.endswith("*"):
            here, there = ([n for n in dir(module) if n.startswith(name[:-1])] for module in (argand, theirs))
            if there or not here or [n for n in here if hasattr(mine, n)]:
                self.say(f"{where}: PyTorch has such names, or argand has none, or torch shows them")
        elif has(theirs, name) or hasattr(mine, name) or not hasattr(argand, name):
            self.say(f"{where}: it is hidden, and PyTorch has it, or argand does not, or torch shows it")

    @staticmethod
    def is_made(value, entry):
        """Whether a value is what the table makes, rather than what a module defines."""
        from argand._surface.refusals import is_made
        return entry.kind in ("late", "own") and isinstance(value, types.ModuleType) or is_made(value)

    def entry(self, where, mine, public, entry):
        """One name that is loaded, computed, ignored or refused."""
        holder, _, member = public.rpartition(".")
        try:
            value = getattr(getattr(mine, holder), member) if holder else getattr(mine, public)
        except Exception as error:  # noqa: BLE001 -- whatever a name raises is what is reported
            self.say(f"{where}: {type(error).__name__}: {error}")
            return
        if entry.kind == "ignored" and value(1, two=2) is not None:
            self.say(f"{where}: a name that is ignored returns None")
        if entry.kind == "refused" and not (holder and isinstance(value, str)):
            try:
                value()
            except NotImplementedError as error:
                if entry.text not in str(error) or public not in str(error):
                    self.say(f"{where}: its error is {error}")
            else:
                self.say(f"{where}: a name that is refused raises NotImplementedError")


def exists(name):
    """Whether there is a module of this name, which need not be one that can be imported here."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="print the names that are in no table, by module")
    parser.add_argument("--write", action="store_true", help="write surface_counts.json")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    try:
        import torch
    except ModuleNotFoundError:
        print("surface: this Python has no PyTorch")
        return 77
    from argand._surface import table
    comparison = Comparison(table, Known(HERE / "surface_known.txt", fields=2))
    modules = ["torch", *public_modules(torch)]
    for name in modules:
        if (theirs := imported(name)) is not None:
            comparison.module(name, theirs)
    for short, section in comparison.tables.items():
        comparison.section(short, section)
    comparison.wrong += comparison.known.stale()
    counted = json.dumps({"version": torch.__version__.partition("+")[0], "areas": comparison.areas}, indent=1) + "\n"
    recorded = HERE / "surface_counts.json"
    if given.write:
        recorded.write_text(counted)
    elif not recorded.exists() or recorded.read_text() != counted:
        comparison.say("surface_counts.json has other counts: run surface.py --write and ./dev docs")
    if given.missing:
        for name, names in comparison.missing.items():
            print(f"{name}: {'*' if names is None else ' '.join(names)}")
    elif comparison.wrong:
        print("\n".join(comparison.wrong))
    counts = comparison.counts
    print(f"{sum(counts.values())} public names in {len(modules)} modules of PyTorch {torch.__version__}: "
          + ", ".join(f"{count} {kind}" for kind, count in counts.items()) + f"; {len(comparison.wrong)} differences")
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
