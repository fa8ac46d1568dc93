"""Functions and classes for names of PyTorch that Argand does not support: using one raises an error that says so."""
import functools
import sys

from . import alias
from .naming import full


def _placed(thing, name, doc):
    """A function or class with the name, and the module, of PyTorch's."""
    theirs, _, thing.__name__ = name.rpartition(".")
    thing.__module__ = full(theirs.partition(".")[2])
    if alias.torch is not None:
        from .homes import torch_module
        thing.__module__ = torch_module(thing.__module__, thing.__name__)
    thing.__qualname__, thing.__doc__ = thing.__name__, doc
    return thing


def _marked(thing, kind):
    thing._argand_kind = kind
    return thing


def is_refused(thing):
    """Whether refused() or refused_class() made it."""
    return getattr(thing, "__dict__", {}).get("_argand_kind") == "refused"


def is_made(thing):
    """Whether a function of this file made it."""
    return "_argand_kind" in getattr(thing, "__dict__", ())


def refused(name, why):
    """A function of that name that raises NotImplementedError: "name: why"."""
    def refuse(*_, **__):
        raise NotImplementedError(f"{name}: {why}")
    return _marked(_placed(refuse, name, f"Raises NotImplementedError: {why}."), "refused")


def refused_class(name, why, base=object):
    """A class of that name, for annotations and isinstance(): making one raises NotImplementedError."""
    class Refused(base):
        __init__ = refused(name, why)
    return _marked(_placed(Refused, name, f"Cannot be made: {why}."), "refused")


def ignored(name, why):
    """A function of that name that takes any arguments and does nothing."""
    def ignore(*_, **__):
        return None
    return _marked(_placed(ignore, name, f"Does nothing: {why}."), "ignored")


def is_class(name):
    """Whether a refused name is a class: it begins with a capital."""
    return name.lstrip("_")[:1].isupper()


def is_value(name):
    """Whether a member of a refused class is a value: it has no small letters."""
    return name.isupper()


def _base(owner, path):
    """A base class: a name in the same module, or a path below the package."""
    start = sys.modules[full(owner)] if "." not in path else sys.modules[full("")]
    return functools.reduce(getattr, path.split("."), start)


def made(owner, name, entry):
    """What has this name in a module of ours (its name within the package) and is refused, or ignored, as its table says."""
    whole = ".".join(filter(None, ("torch", owner, name)))
    if entry.kind == "ignored":
        return ignored(whole, entry.text)
    if not is_class(name):
        return refused(whole, entry.text)
    found = refused_class(whole, entry.text, *([_base(owner, entry.detail)] if entry.detail else []))
    from .table import section
    for member, of_member in section(owner).names.items():
        holder, dot, inner = member.rpartition(".")
        if dot and holder == name:
            setattr(found, inner, f"{name}.{inner}" if is_value(inner) else staticmethod(refused(f"{whole}.{inner}", of_member.text)))
    return found
