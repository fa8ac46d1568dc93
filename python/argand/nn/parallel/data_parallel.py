"""DataParallel: each batch cut into parts, one for each GPU of the process."""
from ... import _C
from ..modules.module import Module
from .parallel_apply import parallel_apply
from .replicate import kept_replicas
from .scatter_gather import device_index, gather, scatter_kwargs


def _device_ids(device_ids):
    return [device_index(d).index or 0 for d in (range(_C.cuda.device_count()) if device_ids is None else device_ids)]


class DataParallel(Module):
    """Runs `module` on the parts of each batch (cut along dim), one GPU each, and joins what comes out on
    output_device.

    With no GPU, or one, the module itself is called.  The module's parameters are on device_ids[0].
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids = _device_ids(device_ids) if _C.cuda.is_available() else []
        if self.device_ids:
            self.output_device = self.device_ids[0] if output_device is None else device_index(output_device).index
            self.src_device_obj = _C.device("cuda", self.device_ids[0])
            if len(self.device_ids) == 1:
                self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        inputs, kwargs = self.scatter(inputs, kwargs, self.device_ids)
        if not inputs:
            inputs, kwargs = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*inputs[0], **kwargs[0])
        replicas = self.replicate(self.module, self.device_ids[:len(inputs)])
        return self.gather(self.parallel_apply(replicas, inputs, kwargs), self.output_device)

    def replicate(self, module, device_ids):
        """As argand.nn.parallel.replicate, with copies that are kept for the next forward."""
        wanted = [device_index(d) for d in device_ids]
        devices = [device_index(d) for d in self.device_ids]
        if devices[:len(wanted)] != wanted:  # a small batch does without the last devices, and shares their copies
            devices = wanted
        return kept_replicas(module, devices).make(module, len(wanted), source=devices[0])

    def scatter(self, inputs, kwargs, device_ids):
        """See argand.nn.parallel.scatter_kwargs."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """See argand.nn.parallel.parallel_apply."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[:len(replicas)])

    def gather(self, outputs, output_device):
        """See argand.nn.parallel.gather."""
        return gather(outputs, output_device, dim=self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """DataParallel for one call."""
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*inputs, **(module_kwargs or {}))
