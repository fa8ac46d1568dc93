"""What programs ask of torch.jit without scripting anything.  There is no TorchScript: script() and trace() say so."""
import typing

Final = typing.Final


def is_scripting():
    """False: nothing is ever scripted."""
    return False


def is_tracing():
    """False: nothing is ever traced."""
    return False


def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type):
    """Whether obj is of the type, or one of the types."""
    import builtins
    return builtins.isinstance(obj, typing.get_origin(target_type) or target_type)


def _same(function=None, **_):
    """Marks a function for the compiler; here it stays what it is."""
    return function if function is not None else lambda f: f


ignore = unused = export = interface = script_if_tracing = _overload = _overload_method = _same


def _none(name):
    def refuse(*_, **__):
        raise NotImplementedError(f"torch.jit.{name}: there is no TorchScript; eager calls are fused and replayed as they are")
    refuse.__name__ = name
    return refuse


script, trace, trace_module, load, save, freeze = (_none(n) for n in ("script", "trace", "trace_module", "load", "save", "freeze"))
