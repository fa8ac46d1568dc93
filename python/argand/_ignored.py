"""Arguments that change nothing are declared, with the reason, where their function is defined.

    @ignored(kernel_options="there is no kernel to tune")      a call that gives another value than the default warns once
    @ignored(trust_repo=("local folders are not asked about", True))      neither the default nor True warns
    @harmless(foreach="the result is the same")      no call warns: for what can change speed alone
    @record      of a class whose attributes programs read

`./dev check options` reads the functions of this package: a parameter that is neither used nor declared is a finding.  Under the
environment variable ARGAND_STRICT=1 a warning is raised as an error.
"""
import functools
import inspect
import itertools
import os
import sys
import warnings


class IgnoredArgument(UserWarning):
    """A call gave a value, or made a setting, that changes nothing here.  Shown once for each argument of a function, each time after
    torch.set_warn_always(True), and raised as an error under ARGAND_STRICT=1."""


IgnoredArgument.__module__ = __package__

_shown = set()


def is_strict():
    """Whether ARGAND_STRICT asks for errors."""
    return os.environ.get("ARGAND_STRICT", "0") not in ("", "0")


def warn_ignored(function, argument, value, reason):
    """Says that `argument=value` of `function`, its public name, changes nothing, and why; for bodies that find out themselves.
    The warning is at the line of the program that called into this package."""
    message = f"{function}: {argument}={value!r} is ignored: {reason}"
    if is_strict():
        raise IgnoredArgument(message)
    if (function, argument) in _shown and not _always():
        return
    _shown.add((function, argument))
    warnings.warn(message, IgnoredArgument, stacklevel=frames_of_package() + 1)


def warn_once(text):
    """Warns the caller's caller, once in a process, or each time after torch.set_warn_always(True)."""
    if text not in _shown or _always():
        _shown.add(text)
        warnings.warn(text, UserWarning, stacklevel=3)


def frames_of_package():
    """How many frames there are from the caller, which counts, to the first that is not the package's."""
    frame, count = sys._getframe(1), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, count = frame.f_back, count + 1
    return count


def _always():
    from . import _C
    return _C._warns_always()


def _is_one_of(value, harmless):
    plain = isinstance(value, (bool, int, float, str, list, tuple, dict))
    return any(value is other or (plain and type(value) is type(other) and value == other) for other in harmless)


def _public_name(function):
    """The name by which programs know a function: torch in place of argand, and no private modules, or modules below one."""
    modules = list(itertools.takewhile(lambda part: not part.startswith("_"), function.__module__.split(".")))
    modules[0] = "torch" if modules[0] == __package__ else modules[0]
    name = ".".join([*modules, function.__qualname__])
    return name.removesuffix(".__init__").removesuffix(".__new__") + "()"


class _Ignored:
    """What is declared of one function: for each argument the reason and the values that mean nothing."""

    def __init__(self, function, reasons):
        self.function = function
        self.reasons = {name: why if isinstance(why, tuple) else (why,) for name, why in reasons.items()}

    @functools.cached_property
    def signature(self):
        return inspect.signature(self.function)

    def look(self, args, kwargs):
        """Warns about the arguments of a call that are ignored."""
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return  # the function says what is wrong
        for name in self.reasons.keys() & given.keys():
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                for key, value in given[name].items():
                    self.warn(name, key, value)
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                self.warn(name, name, given[name])
            else:
                self.warn(name, name, given[name])

    def warn(self, declared, argument, value):
        reason, *harmless = self.reasons[declared]
        if not _is_one_of(value, [self.signature.parameters[declared].default, *harmless]):
            warn_ignored(_public_name(self.function), argument, value, reason)


def ignored(**reasons):
    """Declares arguments that change nothing: name=reason, or name=(reason, values that mean nothing beside the default...)."""
    def decorate(function):
        code = function.__code__
        positional = code.co_varnames[:code.co_argcount]
        first = min((positional.index(name) if name in positional else len(positional) for name in reasons))
        takes_any = any(name not in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount] for name in reasons)
        declared = _Ignored(function, reasons)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            if len(args) > first or kwargs and (takes_any or not kwargs.keys().isdisjoint(reasons)):
                declared.look(args, kwargs)
            return function(*args, **kwargs)
        return wrapped
    return decorate


def harmless(**reasons):
    """Declares arguments with which a call may be faster in PyTorch and gives the same here: name=reason.  Nothing warns."""
    assert all(isinstance(why, str) for why in reasons.values())
    return lambda function: function


def record(cls):
    """Declares that what an object of the class is made of is for programs to read."""
    return cls
