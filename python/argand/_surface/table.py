"""Reads the tables of names in this folder.  It uses nothing of the package, so that tools can read them, too.

A file has the modules of PyTorch below one name: nn.txt those of torch.nn, torch.txt torch itself.  Indented words are names.

    [nn.functional]              a module, without "torch."; [torch] is torch itself
    [jit._trace] = jit           a module that shows the names of one of ours
    late nn                      names that are loaded at first use, from this module of ours, without "argand." (without one: modules
                                 below this one)
      grad  new=old  me=.        new is the module's `old`; me is the module itself
      *                          all names in the module's __all__
    own nn                       the same, for names that PyTorch does not have: `import torch` does not show them
    extra WHY                    names that our module defines and PyTorch's does not, and that `import torch` shows all the same
    hidden                       names that our module defines and PyTorch's does not: `import torch` does not show them, either
      name  beginning_*
    computed version             names whose value is what a function of that module returns, each time that they are asked for
    ignored WHY                  functions that take all arguments and do nothing
    refused WHY                  names that raise an error when they are used
      function  Class  Class.method  Class.VALUE  Class(nn.Module)
    absent WHY                   names that are not there
      *  part.*                  the module, or one below it, is not there, with all that PyTorch has below it

A WHY of the form @NAME is a sentence of reasons.txt.  Each name of a module stands once.  All other names of PyTorch are those that
our modules define: tests/parity/surface.py compares them.
"""
import os
import re
from typing import NamedTuple, Optional

FOLDER = os.path.dirname(os.path.abspath(__file__))
WITH_MODULE, WITH_REASON = ("late", "own", "computed"), ("ignored", "refused", "absent", "extra")


class Entry(NamedTuple):
    """What a name is."""
    kind: str
    text: str            # a module of ours, or the reason
    detail: str = ""     # the other module's name for it, or the base class


class Section:
    """What a table says of a module."""

    def __init__(self, module, shown=None):
        self.module, self.shown = module, shown  # shown: the module of ours whose names it has; "" is the package
        self.names = {}      # name -> Entry
        self.all_of = None   # the module of ours of a *
        self.absent = None   # why the module is not there
        self.hidden = []     # names, and beginnings of names with a *

    def hides(self, name):
        """Whether a name is Argand's own, which `import torch` does not show."""
        entry = self.names.get(name)
        return entry is not None and entry.kind == "own" or any(
            name.startswith(hidden[:-1]) if hidden.endswith("*") else name == hidden for hidden in self.hidden)


class BadTable(ValueError):
    """A table that is not as this file describes it."""


def names_in(line):
    """(name, detail) of each word of a line of names."""
    for word in line.split():
        name, mark, detail = word.partition("(" if word.endswith(")") else "=")
        yield name, detail[:-1] if mark == "(" else detail


def parse(text, reasons, path="table"):
    """{module: Section}"""
    found, section, group = {}, None, None
    for number, line in enumerate(text.splitlines(), 1):
        def wrong(what):
            return BadTable(f"{path}:{number}: {what}: {line.strip()}")
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            head = re.fullmatch(r"\[([\w.]+)\](?: = ([\w.]+))?", line)
            module, shown = ("" if name == "torch" else name for name in head.groups()) if head else (None, None)
            if not head or module in found:
                raise wrong("expected [MODULE] or [MODULE] = MODULE, and each once")
            section, group = found.setdefault(module, Section(module, shown)), None
        elif not line.startswith(" "):
            kind, _, rest = line.strip().partition(" ")
            if section is None or not (kind in WITH_REASON and rest or kind in WITH_MODULE or kind == "hidden" and not rest):
                raise wrong(f"expected {', '.join(WITH_MODULE + WITH_REASON)}, with a reason or a module, or hidden")
            if rest.startswith("@") and rest[1:] not in reasons:
                raise wrong("no such reason in reasons.txt")
            group = kind, reasons[rest[1:]] if rest.startswith("@") else rest
        elif group is None:
            raise wrong("names without what they are")
        elif group[0] == "hidden":
            section.hidden += line.split()
        else:
            add(found, section, *group, line, wrong)
    return found


def add(found, section, kind, text, line, wrong):
    """Adds a line of names to a section; found: all sections."""
    for name, detail in names_in(line):
        module = f"{section.module}.{name[:-1]}".strip(".")  # of a *
        if name in section.names or (name.endswith(".*") and module in found):
            raise wrong(f"{name} stands twice")
        if name == "*" and kind == "late":
            section.all_of = text
        elif name.endswith("*") and kind == "absent":
            found.setdefault(module, Section(module)).absent = text
        elif kind in WITH_MODULE and not text:
            section.names[name] = Entry(kind, f"{section.module}.{name}".removeprefix("."), ".")
        else:
            section.names[name] = Entry(kind, "" if text == "torch" and kind in WITH_MODULE else text, detail)


def parse_reasons(text):
    """{NAME: sentence} of the lines "NAME: sentence"."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: why.strip() for name, _, why in (line.partition(":") for line in lines)}


_files, _reasons = {}, {}


def _read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def sections(top):
    """{module: Section} of the modules below one name ("torch" for torch itself); {} if there is no file for them."""
    if top not in _files:
        if not _reasons:
            _reasons.update(parse_reasons(_read("reasons.txt")))
        path = f"{top}.txt"
        exists = os.path.exists(os.path.join(FOLDER, path)) and top != "reasons"
        _files[top] = parse(_read(path), _reasons, path) if exists else {}
    return _files[top]


def section(module) -> Optional[Section]:
    """What the tables say of a module (its name without "torch."), or None."""
    return sections(module.partition(".")[0] or "torch").get(module)


def why_absent(module):
    """Why a module of PyTorch, or one above it, is not there; None if no table says that."""
    while module:
        found = section(module)
        if found is not None and found.absent is not None:
            return found.absent
        module = module.rpartition(".")[0]
    return None


def tops():
    """The names of the files."""
    return sorted(name.removesuffix(".txt") for name in os.listdir(FOLDER) if name.endswith(".txt") and name != "reasons.txt")


def everything():
    """{module: Section} of all files."""
    return {module: found for top in tops() for module, found in sections(top).items()}
