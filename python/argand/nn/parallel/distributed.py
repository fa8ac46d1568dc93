"""DistributedDataParallel in a group of one process: the module itself, under the names that programs use for it."""
import contextlib

from ..._ignored import harmless
from ... import _C
from ..modules.module import Module

_WHY_HARMLESS = "one process sends nothing"


class DistributedDataParallel(Module):
    """One model in all processes of a group, with the mean of their gradients: of one process, its own.

    device_ids: the GPU that inputs are moved to.  How gradients would be sent (bucket_cap_mb, gradient_as_bucket_view,
    static_graph, find_unused_parameters, ...) means nothing in one process; what would change results is refused.
    """

    @harmless(init_sync=_WHY_HARMLESS, bucket_cap_mb=_WHY_HARMLESS, find_unused_parameters=_WHY_HARMLESS,
              check_reduction=_WHY_HARMLESS, gradient_as_bucket_view=_WHY_HARMLESS, static_graph=_WHY_HARMLESS,
              skip_all_reduce_unused_params=_WHY_HARMLESS, bucket_cap_mb_list=_WHY_HARMLESS, batched_grad_copy=_WHY_HARMLESS,
              forward_sync_buffers=_WHY_HARMLESS, lazy_bucket_allocation=_WHY_HARMLESS)
    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False,
                 static_graph=False, delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None,
                 device_mesh=None, skip_all_reduce_unused_params=False, bucket_cap_mb_list=None, batched_grad_copy=False,
                 forward_sync_buffers=None, lazy_bucket_allocation=False):
        from ...distributed.distributed_c10d import _checked_group
        super().__init__()
        for name, value in (("delay_all_reduce_named_params", delay_all_reduce_named_params), ("device_mesh", device_mesh),
                            ("param_to_hook_all_reduce", param_to_hook_all_reduce), ("mixed_precision", mixed_precision)):
            if value is not None:
                raise NotImplementedError(f"DistributedDataParallel: {name} is not done")
        self.process_group = _checked_group(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        self.module, self.dim, self.static_graph = module, dim, static_graph
        self.device = next(p for p in module.parameters() if p.requires_grad).device
        self.device_type = self.device.type
        self.device_ids = None if not device_ids or self.device_type == "cpu" else [_index(device_ids[0])]
        self.output_device = None if self.device_ids is None else _index(device_ids[0] if output_device is None else output_device)
        self.broadcast_buffers = broadcast_buffers is None or broadcast_buffers
        self.find_unused_parameters, self.gradient_as_bucket_view = find_unused_parameters, gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True

    def forward(self, *inputs, **kwargs):
        if self.device_ids is not None:
            from ...utils._pytree import tree_map_only
            device = _C.device(self.device_type, self.device_ids[0])
            inputs, kwargs = tree_map_only(_C.Tensor, lambda t: t.to(device), (inputs, kwargs))
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        """A scope whose gradients stay each process's own."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @harmless(divide_by_initial_world_size=_WHY_HARMLESS, enable=_WHY_HARMLESS, throw_on_early_termination=_WHY_HARMLESS)
    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """A scope for processes with different numbers of batches: one process has nobody to wait for."""
        return contextlib.nullcontext()

    def register_comm_hook(self, state, hook):
        """Raises NotImplementedError: no gradients are sent."""
        raise NotImplementedError("DistributedDataParallel.register_comm_hook: one process sends no gradients, so no hook would be called")

    def scatter(self, inputs, kwargs, device_ids):
        """Inputs for each of the devices, of which there is one."""
        from .scatter_gather import scatter_kwargs
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)


def _index(device):
    """The number of a GPU."""
    if isinstance(device, int):
        return device
    index = _C.device(device).index
    return _C.cuda.current_device() if index is None else index
