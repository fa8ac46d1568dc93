"""Copies of a module on several devices, for one forward."""
from .scatter_gather import device_index


def _copied(module, device, memo, detach, replicas):
    """The replica on `device`: the module's attributes with parameters, buffers and modules of the replica's own."""
    if id(module) in replicas:
        return replicas[id(module)]
    replica = module.__new__(type(module))
    replicas[id(module)] = replica
    attributes = replica.__dict__
    attributes.update(module.__dict__)

    def moved(tensor):
        # Shared parameters stay shared.  A copy from the source's device is an op: its gradient goes back there.
        if id(tensor) not in memo:
            copy = tensor.to(device, non_blocking=True)
            memo[id(tensor)] = copy.detach() if detach else copy
        return memo[id(tensor)]
    # The copies are results, no leaves, so they are plain attributes: replica.parameters() is empty.
    attributes["_parameters"] = {name: None for name, p in module._parameters.items() if p is None}
    attributes.update((name, moved(p)) for name, p in module._parameters.items() if p is not None)
    attributes["_buffers"] = {name: b if b is None else (b if b.device == device else b.detach().to(device))
                              for name, b in module._buffers.items()}
    attributes["_modules"] = {name: None if m is None else _copied(m, device, memo, detach, replicas)
                              for name, m in module._modules.items()}
    attributes["_is_replica"] = True
    return replica


def replicate(network, devices, detach=False):
    """A copy of the module for each device; the gradients of the copies' parameters sum up in the module's.

    Buffers that are on a device already are shared with its copy, so that what forward writes there stays."""
    return [_copied(network, device_index(d), {}, detach, {}) for d in devices]
