"""Names of PyTorch that programs import and that Argand does not support: using one raises an error that says so."""


def _placed(thing, name, doc):
    """A function or class with the name, and the module, of PyTorch's."""
    module, _, thing.__name__ = ("argand" + name.removeprefix("torch")).rpartition(".")
    if __name__.startswith("torch."):  # under `python -m argand`
        from ._torch_modules import torch_module
        module = torch_module(module, thing.__name__)
    thing.__module__ = module
    thing.__qualname__, thing.__doc__ = thing.__name__, doc
    thing._argand_refuses = True
    return thing


def is_refused(thing):
    """Whether refused() or refused_class() made it."""
    return "_argand_refuses" in getattr(thing, "__dict__", ())


def refused(name, why):
    """A function of that name that raises NotImplementedError: "name: why"."""
    def refuse(*_, **__):
        raise NotImplementedError(f"{name}: {why}")
    return _placed(refuse, name, f"Raises NotImplementedError: {why}.")


def refused_class(name, why, base=object):
    """A class of that name, for annotations and isinstance(): making one raises NotImplementedError."""
    class Refused(base):
        __init__ = refused(name, why)
    return _placed(Refused, name, f"Cannot be made: {why}.")
