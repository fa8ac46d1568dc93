"""Iterates over all submodules, parameters and buffers of a module, by their full names."""
from typing import TYPE_CHECKING, Iterator  # noqa: F401 -- for annotations

from ..parameter import Parameter

if TYPE_CHECKING:
    from ... import _C
    from .module import Module


class _Walks:
    """The methods of Module that iterate over its tree of submodules."""

    def _named_members(self, members_of, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, value in members_of(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield module_prefix + ("." if module_prefix else "") + name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True) -> "Iterator[tuple[str, Parameter]]":
        """(name, parameter), each once unless remove_duplicate is False."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True) -> "Iterator[Parameter]":
        """The parameters of the module and its submodules."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True) -> "Iterator[tuple[str, _C.Tensor]]":
        """(name, buffer), each once unless remove_duplicate is False."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True) -> "Iterator[_C.Tensor]":
        """The buffers of the module and its submodules."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_children(self) -> "Iterator[tuple[str, Module]]":
        """(name, module) of the modules right below this one."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> "Iterator[Module]":
        """The modules right below this one."""
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True) -> "Iterator[tuple[str, Module]]":
        """(name, module) of this module, named `prefix`, and of all below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self, remove_duplicate=True) -> "Iterator[Module]":
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def get_submodule(self, target) -> "Module":
        """The module of a full name ("net.0"); "" is this one."""
        module = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, _Walks):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Puts a module in the place of the one of a full name."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if not isinstance(getattr(parent, name, module), _Walks):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_tensor(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target) -> "Parameter":
        """The parameter of a full name."""
        _, name, found = self._get_tensor(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target) -> "_C.Tensor":
        """The buffer of a full name."""
        module, name, found = self._get_tensor(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found
