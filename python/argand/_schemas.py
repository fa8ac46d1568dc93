"""Schemas of ops as objects: "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".

_aten_schemas.txt has those of PyTorch's aten for the ops that there are here, one a line; a line that begins with ~ is an op that
PyTorch always composes from others.  tools/aten_schemas.py writes it.
"""
import functools
import os
import re

from . import _C

_ARGUMENT = re.compile(r"^(?P<type>[\w.]+(?:\((?P<alias>[^)]*)\))?\??(?:\[\d*\])?\??(?:\((?P<alias_of_list>[^)]*)\))?)"
                       r"(?: (?P<name>\w+)(?:=(?P<default>.*))?)?$")
_WORDS = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2, "contiguous_format": _C.contiguous_format,
          "preserve_format": _C.preserve_format, "strided": _C.strided}


class AliasInfo:
    """The alias annotation of a tensor in a schema: "(a!)" says that its memory is written, "(a)" that a view of it is returned."""

    def __init__(self, before_set, is_write):
        self.before_set = self.after_set = before_set
        self.is_write = is_write

    def __repr__(self):
        return f"AliasInfo({sorted(self.before_set)}{', written' if self.is_write else ''})"


class Argument:
    """An argument, or a result, of an op."""

    def __init__(self, name, type, default_value=None, has_default=False, kwarg_only=False, alias_info=None):
        self.name, self.type, self.default_value, self.has_default = name, type, default_value, has_default
        self.kwarg_only, self.alias_info = kwarg_only, alias_info

    def has_default_value(self):
        """Whether it may be left out."""
        return self.has_default

    @property
    def is_out(self):
        """Whether it is a tensor that the call fills."""
        return self.kwarg_only and self.alias_info is not None and self.alias_info.is_write

    def __repr__(self):
        return f"Argument({self.type} {self.name})"


class FunctionSchema:
    """A schema: the name with its namespace, the overload's, the arguments and the results.  is_composite: PyTorch makes the op of
    others wherever it is called."""

    def __init__(self, text, name, overload_name, is_composite=False):
        self.text, self.name, self.overload_name, self.is_composite = text, name, overload_name, is_composite
        self.arguments, self.returns = [], []

    @property
    def is_mutable(self):
        """Whether it writes an argument."""
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and self.text == other.text


def _split(text):
    """At commas that are in no brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return parts + [current.strip()] if current.strip() else parts


def _default(text):
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("["):
        return [_default(part) for part in _split(text[1:-1])]
    if text[0] in "'\"":
        return text[1:-1]
    try:
        return int(text)
    except ValueError:
        return float(text)


def _argument(text, kwarg_only):
    m = _ARGUMENT.match(text)
    if m is None:
        raise ValueError(f"schema: cannot read the argument {text!r}")
    alias = m["alias"] or m["alias_of_list"]
    info = AliasInfo(frozenset(re.findall(r"[a-z]\w*|\*", alias.partition("->")[0])), "!" in alias) if alias else None
    default = m["default"]
    return Argument(m["name"] or "", re.sub(r"\([^)]*\)", "", m["type"]), None if default is None else _default(default),
                    default is not None, kwarg_only, info)


def parse(text, namespace="aten"):
    """The schema of a text."""
    composite = text.startswith("~")
    text = text.removeprefix("~")
    head, _, rest = text.partition("(")
    if "::" not in head:
        head, text = f"{namespace}::{head}", f"{namespace}::{text}"
    arguments, _, returned = rest.rpartition(" -> ")
    name, _, overload = head.partition(".")
    schema = FunctionSchema(text, name, overload, is_composite=composite)
    named = False
    for part in _split(arguments.rpartition(")")[0]):
        named |= part == "*"
        if part != "*":
            schema.arguments.append(_argument(part, named))
    returned = returned.strip()
    inner = returned[1:-1] if returned.startswith("(") and returned.endswith(")") else returned
    schema.returns = [_argument(part, False) for part in _split(inner)]
    return schema


@functools.cache
def _texts():
    """{name: lines} of aten."""
    found = {}
    with open(os.path.join(os.path.dirname(__file__), "_aten_schemas.txt"), encoding="ascii") as file:
        lines = file.read().splitlines()
    for line in lines:
        found.setdefault(re.match(r"~?(\w+)", line)[1], []).append(line)
    return found


@functools.cache
def schemas_of(name):
    """{overload: schema} of aten's op of the name; the overload without a name is "default"."""
    return {schema.overload_name or "default": schema for schema in map(parse, _texts().get(name, ()))}
