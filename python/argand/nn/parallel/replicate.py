"""Copies of a module on several devices, for one forward."""
import weakref

from ... import _C
from .scatter_gather import device_index


def _all_modules(module, found):
    """Every module once, by its id, into `found`."""
    if id(module) not in found:
        found[id(module)] = module
        for child in module._modules.values():
            if child is not None:
                _all_modules(child, found)
    return found


def _replicas_of(modules, copies):
    """For each module what it makes of itself, with the tensors of `copies`, by the id of the module's, and the replicas
    of its modules; by the id of the module."""
    replicas = {key: module._replicate_for_data_parallel() for key, module in modules.items()}
    for key, module in modules.items():
        attributes = replicas[key].__dict__
        # The copies are results, no leaves, so they are plain attributes: replica.parameters() is empty.
        of_module, tensors = module._parameters, {}
        attributes["_parameters"] = none = {}
        for name, p in of_module.items():
            if p is None:
                none[name] = None
            else:
                tensors[name] = attributes[name] = copies[id(p)]
        attributes["_former_parameters"] = tensors
        of_module = module._buffers
        attributes["_buffers"] = {n: b if b is None else copies[id(b)] for n, b in of_module.items()} if of_module else {}
        of_module = module._modules
        attributes["_modules"] = {n: None if m is None else replicas[id(m)] for n, m in of_module.items()} if of_module else {}
    return replicas


class Replicas:
    """Makes replicas of one module on the same devices again and again: tensors that were not written since stay where
    they are."""

    def __init__(self, devices):
        self._tensors = _C._DeviceReplicas(devices)

    def make(self, module, n, detach=False, source=None):
        """Replicas on the first n devices.  RuntimeError if a parameter or buffer is not on `source`."""
        modules = _all_modules(module, {})
        parameters, buffers = {}, {}
        for m in modules.values():
            for p in m._parameters.values():
                if p is not None:
                    parameters[id(p)] = p
            for b in m._buffers.values():
                if b is not None:
                    buffers[id(b)] = b
        if source is not None:
            place = _C._other_device([*parameters.values(), *buffers.values()], source)
            if place is not None:
                raise RuntimeError(f"module must have its parameters and buffers on device {source} (device_ids[0]) but found "
                                   f"one of them on device: {place}")
        grad = _C.is_grad_enabled()
        _C._set_grad_enabled(grad and not detach)
        try:
            lists = self._tensors.parameters(list(parameters.values()), n)
        finally:
            _C._set_grad_enabled(grad)
        ids = list(parameters) + list(buffers)
        lists = [a + b for a, b in zip(lists, self._tensors.buffers(list(buffers.values()), n))]
        return [_replicas_of(modules, dict(zip(ids, copies)))[id(module)] for copies in lists]


_kept = weakref.WeakKeyDictionary()  # by module and devices: with the module they go


def kept_replicas(module, devices):
    """The Replicas of the module on these devices."""
    of_module = _kept.setdefault(module, {})
    key = tuple(map(str, devices))
    if key not in of_module:
        of_module[key] = Replicas(devices)
    return of_module[key]


def replicate(network, devices, detach=False):
    """A copy of the module for each device; the gradients of the copies' parameters sum up in the module's.

    On the first device it has the module's own tensors, so that what forward writes into buffers there stays."""
    devices = [device_index(d) for d in devices]
    return Replicas(devices).make(network, len(devices), detach)
