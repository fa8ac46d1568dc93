"""The state outside its arguments that a traced call read: attributes of its module, closure variables, globals, random generators.

A trace is valid for calls that find all of that unchanged.  A write by the traced call would happen once instead of in each call, so
a call that writes gives no trace: its writes are undone, and the program runs without one."""
import inspect
import itertools
import operator
import random
import types

import argand

from .. import _C
from .._surface.naming import PACKAGE
from ..nn.modules.module import Module

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, dict, set)
_MISSING = object()


def _same(a, b):
    """Whether two values are one object, or plain ones that cannot be told apart."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, _PLAIN) and a == b and (not isinstance(a, (float, complex)) or repr(a) == repr(b))


def _content(value):
    """What is in a container, in order; None of anything else."""
    if type(value) is dict:
        return (*value.keys(), *value.values())
    return tuple(value) if type(value) in (list, set) else None


def _same_content(value, content):
    found = _content(value)
    return found is content or (found is not None and content is not None and len(found) == len(content) and all(map(_same, found, content)))


def _refill(value, content):
    value.clear()
    if type(value) is dict:
        value.update(zip(content[:len(content) // 2], content[len(content) // 2:]))
    else:
        (value.extend if type(value) is list else value.update)(content)


class _Place:
    """A variable: an entry of a dict, or a cell of a closure.  `version` is that of a tensor, `copy` what it held; a parameter of the
    traced module is read by each call of the graph, so it has neither."""

    def __init__(self, name, holder, key=None, is_parameter=False):
        self.name, self.holder, self.key = name, holder, key
        self.value = self.now()
        self.content = _content(self.value)
        is_tensor = isinstance(self.value, _C.Tensor) and not is_parameter
        self.version = self.value._version if is_tensor and not self.value.is_inference() else None
        self.copy = self.value.detach().clone() if is_tensor and not self.value.is_meta else None

    def now(self):
        if self.key is not None:
            return self.holder.get(self.key, _MISSING)
        try:
            return self.holder.cell_contents
        except ValueError:  # it is empty
            return _MISSING

    def holds(self, versions):
        now = self.now()
        if not _same(now, self.value) or not _same_content(now, self.content):
            return False
        return not versions or self.version is None or now._version == self.version

    def restore(self):
        if self.key is None:
            if self.value is _MISSING:
                del self.holder.cell_contents
            else:
                self.holder.cell_contents = self.value
        elif self.value is _MISSING:
            self.holder.pop(self.key, None)
        else:
            self.holder[self.key] = self.value
        if self.content is not None and not _same_content(self.value, self.content):
            _refill(self.value, self.content)
        if self.copy is not None and self.value._version != self.version:
            with _no_grad():
                self.value.copy_(self.copy)


def _no_grad():
    from ..autograd.grad_mode import no_grad
    return no_grad()


def _names(code):
    """The names of globals that a function, and those within it, may read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


_OF_MODULES = ("_parameters", "_buffers", "_modules")


class _Objects:
    """The dicts of modules and the containers in them as they are, object by object: what every call looks at, in C's loops alone.
    A container that has the same objects in the same order is as it was; of another one _Place has to say."""

    def __init__(self, dicts, lists):
        self._all = [*dicts, *lists]  # lists: lists and sets
        self._counts = [*map(len, self._all)]
        self._dicts, self._lists = [d for d in dicts if d], [x for x in lists if x]  # of an empty one the count says all
        self._objects = [*self._now()]

    def _now(self):
        of = itertools.chain.from_iterable
        return itertools.chain(of(self._dicts), of(map(dict.values, self._dicts)), of(self._lists))

    def are_there(self):
        return [*map(len, self._all)] == self._counts and all(map(operator.is_, self._now(), self._objects))


class Surroundings:
    """The variables that a function may read, as they are when this is made."""

    def __init__(self, function, module):
        self._places, self._seen, self._keys, self._structure = [], set(), [], []
        self._own = set(module.modules()) if module is not None else ()
        self._of_function(inspect.unwrap(function) if not isinstance(function, Module) else function)
        if module is not None:
            for name, m in module.named_modules():
                self._of_module(name, m, is_own=True)
        # Most places are of modules.  Those of functions are looked at one by one: their globals have many more variables.
        of_modules = {id(holder) for _, holder, _ in self._keys}
        self._others = [p for p in self._places if id(p.holder) not in of_modules]
        self._tensors = [p for p in self._places if p.version is not None]
        self._look()
        self._random, self._drawn = random.getstate(), self._generators()

    def _of_function(self, function):
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType) or function in self._seen or (function.__module__ or "").partition(".")[0] == PACKAGE:
            return
        self._seen.add(function)
        variables = [(name, cell, None) for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())]
        variables += [(name, function.__globals__, name) for name in dict.fromkeys(_names(function.__code__)) if name in function.__globals__]
        for name, holder, key in variables:
            place = _Place(name, holder, key)
            if isinstance(place.value, types.ModuleType):
                continue
            self._places.append(place)
            self._of_function(place.value)
            if isinstance(place.value, Module):
                for inner, m in place.value.named_modules():
                    self._of_module(f"{name}.{inner}", m, is_own=m in self._own)

    def _of_module(self, name, module, is_own):
        if id(module) in self._seen:
            return
        self._seen.add(id(module))
        self._of_function(type(module).forward)
        self._structure += [(module.__dict__, key, module.__dict__[key]) for key in _OF_MODULES]
        for title, holder in (("", module.__dict__), *((key, module.__dict__[key]) for key in _OF_MODULES)):
            self._keys.append((f"{name}.{title}".strip("."), holder, set(holder)))
            for key, value in holder.items():
                if key not in _OF_MODULES:
                    self._places.append(_Place(f"{name}.{key}".strip("."), holder, key, is_own and title == "_parameters"))

    @staticmethod
    def _generators():
        found = [argand.get_rng_state()]
        return found + (argand.cuda.get_rng_state_all() if argand.cuda.is_available() else [])

    def _look(self):
        others = set(map(id, self._others))
        containers = [p.value for p in self._places if p.content is not None and id(p) not in others]
        self._objects = _Objects([holder for _, holder, _ in self._keys] + [c for c in containers if type(c) is dict],
                                 [c for c in containers if type(c) is not dict])

    def hold(self, versions):
        """Whether all is as it was; `versions`: the elements of tensors, too."""
        if self._objects.are_there():
            return all(p.holds(versions) for p in self._others) and (
                not versions or all(p.value._version == p.version for p in self._tensors))
        if not all(p.holds(versions) for p in self._places) or not all(holder.keys() == keys for _, holder, keys in self._keys):
            return False
        if any(holder.get(key) is not value for holder, key, value in self._structure):
            return False
        self._look()  # the same values in other objects, or in another order
        return True

    def undo(self):
        """Makes everything what it was; what was written since then, as text, or None."""
        written = [p.name for p in self._places if not p.holds(True)]
        for name, holder, keys in self._keys:
            for key in set(holder) - keys:
                written.append(f"{name}.{key}".strip("."))
                del holder[key]
        for place in self._places:
            place.restore()
        if random.getstate() != self._random:
            random.setstate(self._random)
            return "it draws numbers from Python's random"
        now = self._generators()
        if any(not a.equal(b) for a, b in zip(now, self._drawn)):
            argand.set_rng_state(self._drawn[0])
            if len(now) > 1:
                argand.cuda.set_rng_state_all(self._drawn[1:])
            return "it draws random numbers that depend on none of its tensors"
        return f"it writes {', '.join(dict.fromkeys(written))}" if written else None
