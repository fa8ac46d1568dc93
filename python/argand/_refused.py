"""Names of PyTorch that programs import and that mean nothing here: whoever uses one is told so."""


def refused(name, why):
    """A function of that name that raises NotImplementedError: "name: why"."""
    def refuse(*_, **__):
        raise NotImplementedError(f"{name}: {why}")
    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Raises NotImplementedError: {why}."
    return refuse


def refused_class(name, why, base=object):
    """A class of that name, for annotations and isinstance(): making one raises NotImplementedError."""
    return type(name.rpartition(".")[2], (base,), {"__init__": refused(name, why), "__doc__": f"Cannot be made: {why}.",
                                                   "__module__": ("argand" + name.removeprefix("torch")).rpartition(".")[0]})
