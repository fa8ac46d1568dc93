"""The names of modules: PyTorch's, and those that they have here.

torch.nn is argand.nn.  PyTorch's private modules stand in a folder of their own: torch._dynamo is argand._torch._dynamo, and torch._C is
argand._torch._C.  All other private modules are Argand's alone, as argand._dispatch; argand._C is the extension module.
"""
PACKAGE = __name__.partition(".")[0]
_PRIVATE = "_torch."


def is_private(name):
    """Whether a name, or the first part of one, begins with one underscore."""
    return name.startswith("_") and not name.startswith("__")


def below(module):
    """The name of a module of ours without the package's: "" is the package itself."""
    return module.partition(".")[2]


def own(name):
    """The other way around."""
    return f"{PACKAGE}.{name}" if name else PACKAGE


def full(name):
    """The module here of one of PyTorch's, whose name is given without "torch."; "" is torch itself."""
    return own(_PRIVATE + name if is_private(name) else name)


def short(module):
    """The other way around: PyTorch's name of a module of ours; None if it is Argand's alone."""
    name = below(module)
    theirs = name.removeprefix(_PRIVATE)
    if is_private(theirs) == (theirs != name):
        return theirs
    return name if name.partition(".")[0] == "_C" else None  # torch._C has what the extension module has
