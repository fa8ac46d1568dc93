"""Modules of TorchScript archives as nn.Modules.

The archive's object holds parameters, buffers and attributes; the Python module looks at them there, so that what a
method of the program changes is seen, and what Python sets is seen by the program.
"""
import collections
import collections.abc
import copy
import io
import os
import reprlib

from .. import _C
from .._ignored import harmless
from ..nn.modules.module import Module

_FROZEN = "a frozen module is not changed further"


class _Slots(collections.abc.MutableMapping):
    """The parameters or the buffers of a script module, by their names."""

    def __init__(self, script, kind):
        self._script, self._kind = script, kind
        # A tensor has one Python object as long as somebody holds it; programs compare parameters by identity.
        self._held = {}

    def _names(self):
        return self._script._names(self._kind)

    def __getitem__(self, name):
        if name not in self._names():
            raise KeyError(name)
        self._held[name] = tensor = self._script._get(name)
        return tensor

    def __setitem__(self, name, value):
        if name not in self._names():
            raise RuntimeError(f"a script module has no {self._kind} '{name}', and gets none: its class is compiled")
        self._script._set(name, value)

    def __delitem__(self, name):
        raise RuntimeError(f"the {self._kind} '{name}' of a script module cannot be removed: its class is compiled")

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    def __contains__(self, name):
        return name in self._names()

    def copy(self):
        """A dict of what is there now."""
        return dict(self)

    def __repr__(self):
        return repr(dict(self))


class ScriptModule(Module):
    """A module whose methods are TorchScript programs.  torch.jit.load() makes them; none is made in another way."""

    def __init__(self):
        raise NotImplementedError("torch.jit.ScriptModule: programs of TorchScript come from archives (torch.jit.load), and are not "
                                  "compiled from Python")


class RecursiveScriptModule(ScriptModule):
    """A module of an archive."""

    def __init__(self, script):
        if not isinstance(script, _C.ScriptObject):
            raise TypeError(f"torch.jit.RecursiveScriptModule: expected an object of torch.jit.load, got {type(script).__name__}")
        Module.__init__(self)
        fields = self.__dict__
        fields.pop("training", None)  # the program has it
        fields["_c"] = script
        fields["_parameters"], fields["_buffers"] = _Slots(script, "parameter"), _Slots(script, "buffer")
        fields["_modules"] = {name: script._get(name) for name in script._names("module")}
        fields["_script_methods"] = frozenset(script._methods())

    def forward(self, *args, **kwargs):
        """Calls the program's forward()."""
        return self._c._call("forward", *args, **kwargs)

    def __getattr__(self, name):
        fields = self.__dict__
        script = fields.get("_c")
        if script is None:
            raise AttributeError(name)
        if name in fields["_modules"]:
            return fields["_modules"][name]
        if script._has(name):
            return script._get(name)
        if name in fields["_script_methods"]:
            return _Method(script, name)
        if name == "training":
            return True
        raise AttributeError(f"'{self.original_name}' of a TorchScript archive has no attribute or method '{name}'")

    def __setattr__(self, name, value):
        script = self.__dict__.get("_c")
        if script is not None and script._has(name):
            if name in self._modules:
                raise RuntimeError(f"the submodule '{name}' of a script module cannot be replaced: its class is compiled")
            script._set(name, value)
        elif isinstance(value, Module):
            raise RuntimeError(f"a script module gets no submodule '{name}': its class is compiled")
        else:
            object.__setattr__(self, name, value)

    def __dir__(self):
        return sorted({*super().__dir__(), *self._c._names("attribute"), *self._script_methods})

    @property
    def original_name(self):
        """The name of the class that was exported."""
        return self._c._type().rpartition(".")[2]

    @property
    def code(self):
        """The text of the file that has forward()."""
        module = self._c._type().rpartition(".")[0]
        return self._c._code_text(f"code/{module.replace('.', '/')}.py")

    def save(self, f, _extra_files=None):
        """Writes an archive, as torch.jit.save() does."""
        save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        """The bytes of an archive."""
        buffer = io.BytesIO()
        save(self, buffer, _extra_files)
        return buffer.getvalue()

    def copy(self):
        """A module with copies of all tensors."""
        return RecursiveScriptModule(self._c._copy())

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        memo[id(self)] = made = self.copy()
        return made

    def __reduce_ex__(self, protocol):
        raise copy.Error("a script module cannot be pickled; torch.jit.save writes it")

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The name of the class that was exported."""
        return f"original_name={self.original_name}"

    def _replicate_for_data_parallel(self):
        return self.copy()


class _Method:
    """A method of a program, bound to its object."""

    def __init__(self, script, name):
        self._script, self.name = script, name

    def __call__(self, *args, **kwargs):
        return self._script._call(self.name, *args, **kwargs)

    def __repr__(self):
        return f"<ScriptMethod {self._script._type()}.{self.name}>"


_tuples = {}


def named_tuple(name, fields, elements):
    """A tuple of the program's class of this name; the class is made at the first."""
    made = _tuples.get((name, fields))
    if made is None:
        made = _tuples[name, fields] = collections.namedtuple(name.rpartition(".")[2], fields)
    return made(*elements)


def load(f, map_location=None, _extra_files=None):
    """The module of a TorchScript archive: a path, or an object with read() in binary mode.

    With map_location, a device or its name, all tensors come to that device; without, each to the one where it was saved.
    _extra_files: a dict whose values are replaced by the contents (str) of the archive's files of these names.
    """
    if map_location is not None and not isinstance(map_location, (str, _C.device)):
        raise ValueError(f"torch.jit.load: map_location must be a device or its name, got {reprlib.repr(map_location)}")
    device = None if map_location is None else _C.device(map_location) if isinstance(map_location, str) else map_location
    extra = dict.fromkeys(_extra_files or (), b"")
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if not os.path.exists(path):
            raise ValueError(f"The provided filename {path} does not exist")
        if os.path.isdir(path):
            raise ValueError(f"The provided filename {path} is a directory")
        script = _C._jit_load(os.fsencode(path), True, device, extra)
    else:
        script = _C._jit_load(f.read(), False, device, extra)
    for name, content in extra.items():
        if content or _extra_files[name] in ("", b""):
            _extra_files[name] = content.decode("utf-8", "surrogateescape")
    return RecursiveScriptModule(script)


def save(m, f, _extra_files=None):
    """Writes a module of torch.jit.load as an archive of TorchScript: to a path, or to an object with write() in binary mode.

    The code is written as it was read, and the data from the module's state.  _extra_files: the contents (str or bytes) of further files
    in the archive, by their names.
    """
    if not isinstance(m, ScriptModule):
        raise NotImplementedError(f"torch.jit.save: expected a module of torch.jit.load, got {type(m).__name__}; modules of Python are not "
                                  "compiled to TorchScript (torch.jit.script returns them as they are)")
    extra = {name: content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
             for name, content in (_extra_files or {}).items()}
    if isinstance(f, (str, os.PathLike)):
        m._c._save(os.fsencode(f), True, extra)
    else:
        m._c._save(f.write, False, extra)


@harmless(optimize_numerics="it lets PyTorch fold batch norms into convolutions, which changes results in the last place; nothing is folded here")
def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A module of which forward() and the attributes and methods in preserved_attrs are left.

    Attributes that never change are constants of its program.  It has no parameters.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your "
                           "'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before "
                           "freezing.")
    if isinstance(preserved_attrs, str):
        raise TypeError("torch.jit.freeze: preserved_attrs must be a list of names, got a str")
    out = mod._c._freeze(list(preserved_attrs or ()))
    out.training = False
    return out


@harmless(mod=_FROZEN, optimize_numerics=_FROZEN, preserved_methods=_FROZEN)
def run_frozen_optimizations(mod, optimize_numerics=True, preserved_methods=None):
    """Does nothing: the interpreter fuses and replays what a program issues, frozen or not."""


def optimize_for_inference(mod, other_methods=None):
    """freeze(), for mod.eval(); a module that is frozen already is returned as it is."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script "
                           "your 'nn.Module'.")
    return freeze(mod.eval(), other_methods) if mod._c._has("training") else mod
