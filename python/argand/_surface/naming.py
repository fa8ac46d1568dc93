"""The names of our modules, with and without the package's name."""
PACKAGE = __name__.partition(".")[0]
_OTHERS = {"_C": "_torch_c"}  # modules of PyTorch that have another name here: argand._C is the extension module itself


def _renamed(name, names):
    first, dot, rest = name.partition(".")
    return names.get(first, first) + dot + rest


def short(module):
    """PyTorch's name, without "torch.", for a module of ours; "" is the package itself."""
    return _renamed(module.partition(".")[2], {ours: theirs for theirs, ours in _OTHERS.items()})


def full(short_name):
    """The other way around."""
    return f"{PACKAGE}.{_renamed(short_name, _OTHERS)}" if short_name else PACKAGE
