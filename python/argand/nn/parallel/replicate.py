"""Copies of a module on several devices, for one forward."""
import weakref

from ... import _C
from .scatter_gather import device_index


def _copied(module, copies, replicas):
    """The replica: what the module makes of itself, with the tensors of `copies`, by the id of the module's, and replicas
    of its modules."""
    if id(module) in replicas:
        return replicas[id(module)]
    replica = replicas[id(module)] = module._replicate_for_data_parallel()
    # The copies are results, no leaves, so they are plain attributes: replica.parameters() is empty.
    parameters = {name: copies[id(p)] for name, p in module._parameters.items() if p is not None}
    replica.__dict__.update(
        parameters,
        _former_parameters=parameters,
        _parameters={name: None for name, p in module._parameters.items() if p is None},
        _buffers={name: b if b is None else copies[id(b)] for name, b in module._buffers.items()},
        _modules={name: None if m is None else _copied(m, copies, replicas) for name, m in module._modules.items()})
    return replica


class Replicas:
    """Makes replicas of one module on the same devices again and again: tensors that were not written since stay where
    they are."""

    def __init__(self, devices):
        self._tensors = _C._DeviceReplicas(devices)

    def make(self, module, n, detach=False):
        """Replicas on the first n devices."""
        parameters, buffers = list(module.parameters()), list(module.buffers())
        grad = _C.is_grad_enabled()
        _C._set_grad_enabled(grad and not detach)
        try:
            of_parameters = self._tensors.parameters(parameters, n)
        finally:
            _C._set_grad_enabled(grad)
        replicas = []
        for copies, buffers_there in zip(of_parameters, self._tensors.buffers(buffers, n)):
            by_id = {id(p): copy for p, copy in zip(parameters, copies)}
            by_id.update((id(b), copy) for b, copy in zip(buffers, buffers_there))
            replicas.append(_copied(module, by_id, {}))
        return replicas


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
