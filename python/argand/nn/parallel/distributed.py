"""DistributedDataParallel: one model in all processes of a group, with the mean of their gradients."""
import contextlib
import warnings

from ..._ignored import harmless
from ... import _C
from ..modules.module import Module
from . import _mixed_precision
from ._mixed_precision import _MixedPrecision  # noqa: F401

_MEGABYTE = 1 << 20
_FIRST_BUCKET = 1
_NO_SEARCH = "parameters that a backward does not use are found without it"
_VIEWS = "gradients always are parts of their buckets, which are new in each backward"
_ONE_COPY = "each gradient is copied into its bucket once, when it is ready"


class DistributedDataParallel(Module):
    """One model in all processes of a group: the same parameters at first, and after each backward the mean of the gradients of all.

    Gradients are sent in buckets of bucket_cap_mb MB (25), the first of 1 MB, while backward still computes others; the bits of the mean
    do not depend on the buckets.  A parameter that no process used keeps its .grad; one that some did not use counts as zeros there.

    module: its parameters and buffers become those of rank 0 (init_sync).
    device_ids: the GPU that inputs are moved to.
    broadcast_buffers: before each forward, and at first, the buffers become those of rank 0.  forward_sync_buffers: the same, and False
        is about the forwards only.
    process_group, device_mesh: a group, or what has one, of dimension 1; that of all processes if neither is given.
    bucket_cap_mb_list: a size for each bucket; the last one holds for all that follow.
    static_graph: each step uses the same parameters as often.  Needed if both checkpoint(use_reentrant=True) and the rest of the model
        use one of them.
    delay_all_reduce_named_params: pairs of names and parameters, whose gradients are sent after all others'.  PyTorch sends them when
        that of the parameter param_to_hook_all_reduce is there.
    mixed_precision: forwards in another dtype than that of the parameters (_MixedPrecision).
    """

    @harmless(find_unused_parameters=_NO_SEARCH, check_reduction="deprecated in PyTorch, too",
              gradient_as_bucket_view=_VIEWS, lazy_bucket_allocation=_VIEWS, batched_grad_copy=_ONE_COPY,
              skip_all_reduce_unused_params="a bucket is sent whole")
    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False,
                 static_graph=False, delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None,
                 device_mesh=None, skip_all_reduce_unused_params=False, bucket_cap_mb_list=None, batched_grad_copy=False,
                 forward_sync_buffers=None, lazy_bucket_allocation=False):
        from ...distributed._work import call_site
        from ...distributed.distributed_c10d import _checked_group
        from ..parameter import is_lazy
        super().__init__()
        if (delay_all_reduce_named_params is None) != (param_to_hook_all_reduce is None):
            raise ValueError("delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time.")
        if mixed_precision is not None and not hasattr(mixed_precision, "param_dtype"):
            raise TypeError(f"DistributedDataParallel: expected mixed_precision to be a _MixedPrecision, got {type(mixed_precision).__name__}")
        if device_mesh is not None:
            if process_group is not None:
                raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
            if device_mesh.ndim != 1:
                raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
            process_group = device_mesh.get_group(mesh_dim=0)
        self.process_group = _checked_group(process_group)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad and name not in self.parameters_to_ignore]
        if not named:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        if any(is_lazy(p) for _, p in named):
            raise RuntimeError("Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy forward "
                               "pass to correctly initialize the modules")
        # The reducer begins with the last parameter.
        delayed = {id(p) for _, p in delay_all_reduce_named_params or ()}
        named.sort(key=lambda each: id(each[1]) not in delayed)
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        sizes = list(bucket_cap_mb_list or ()) or [25 if bucket_cap_mb is None else bucket_cap_mb]
        if min(sizes) < 0:
            raise ValueError("DistributedDataParallel: expected sizes of buckets that are not below 0, got "
                             f"{f'bucket_cap_mb_list={bucket_cap_mb_list}' if bucket_cap_mb_list else f'bucket_cap_mb={bucket_cap_mb}'}")
        self.module, self.dim, self.static_graph = module, dim, static_graph
        self.device = named[0][1].device
        self.device_type = self.device.type
        self.is_multi_device_module = len({p.device for _, p in named}) > 1
        if self.device_type == "cpu" and (device_ids or output_device is not None):
            raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with modules on a GPU, but got "
                             f"device_ids {device_ids}, output_device {output_device}, and module parameters on the CPU.")
        self.device_ids = None if not device_ids else [_index(device_ids[0])]
        self.output_device = None if self.device_ids is None else _index(device_ids[0] if output_device is None else output_device)
        self.forward_sync_buffers = (forward_sync_buffers if forward_sync_buffers is not None else
                                     True if broadcast_buffers is None else broadcast_buffers)
        self.find_unused_parameters, self.gradient_as_bucket_view = find_unused_parameters, gradient_as_bucket_view
        self.bucket_bytes_cap = int(max(sizes) * _MEGABYTE)
        if not bucket_cap_mb_list:
            sizes.insert(0, min(_FIRST_BUCKET, sizes[0]))
        self._bucket_bytes = [int(megabytes * _MEGABYTE) for megabytes in sizes]
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._parameters_of_reducer = [p for _, p in named]
        self._reducer, self._hook, self._join_config, self.mixed_precision = None, None, None, mixed_precision
        if self.process_group.size() > 1:
            _C._check_same_parameters(self.process_group._group, call_site(), [name for name, _ in named], self._parameters_of_reducer)
            if init_sync:
                self._copy_from(0, [*self._states(with_buffers=self.broadcast_buffers or forward_sync_buffers is not None)])
            self._make_reducer()
        if mixed_precision is not None:
            _mixed_precision.cast_buffers(mixed_precision, self._buffers_to_send())
            if (hook := _mixed_precision.comm_hook(mixed_precision)) is not None:
                self.register_comm_hook(self.process_group, hook)

    @property
    def broadcast_buffers(self):
        """Whether the buffers become those of rank 0 before each forward."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value):
        self.forward_sync_buffers = value

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module, params_and_buffers_to_ignore):
        """Names of parameters and buffers of a model that each process keeps for itself.  To be called before it is wrapped."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    # ---- the beginning

    def _make_reducer(self):
        # Made through __dict__: a module's attributes are copied and pickled, and this is neither.
        self.__dict__["_reducer"] = _C._Reducer(self._parameters_of_reducer, self.process_group._group, self._bucket_bytes,
                                                self.static_graph)
        if self._hook is not None:
            self._reducer.set_hook(self._hook)

    def _states(self, with_buffers=True):
        """Parameters and buffers that are the same everywhere."""
        for name, p in self.module.named_parameters():
            if name not in self.parameters_to_ignore:
                yield p.detach()
        if with_buffers:
            yield from self._buffers_to_send()

    def _buffers_to_send(self):
        return [b for name, b in self.module.named_buffers() if name not in self.parameters_to_ignore]

    def _copy_from(self, rank, tensors):
        from ...distributed._collectives import _broadcast_coalesced
        _broadcast_coalesced(self.process_group, tensors, None, rank)

    def _sync_buffers(self, rank=0):
        """Buffers become those of a rank.  They get new memory, so that what an earlier forward saved of them stays as it was."""
        from ...distributed._work import call_site
        _C._broadcast_buffers(self.process_group._group, call_site(), self._buffers_to_send(), rank)

    # ---- each step

    def forward(self, *inputs, **kwargs):
        if self._reducer is not None:
            self._before_forward()
        if self.device_ids is not None:
            from ...utils._pytree import tree_map_only
            device = _C.device(self.device_type, self.device_ids[0])
            inputs, kwargs = tree_map_only(_C.Tensor, lambda t: t.to(device), (inputs, kwargs))
        if self.mixed_precision is not None:
            return _mixed_precision.forward(self.mixed_precision, self.module, self.parameters_to_ignore, inputs, kwargs)
        return self.module(*inputs, **kwargs)

    def _before_forward(self):
        source, sends = 0, self.require_backward_grad_sync
        if self._join_config is not None:
            self._join_config.notify_join_context(self)
            source = self._join_config.active[-1]
            self._set_divisor(self._join_config)
        if _C.is_grad_enabled():
            self._reducer.set_enabled(sends)
        self._sync_buffers_before(source, sends if _C.is_grad_enabled() else self.require_forward_param_sync)

    def _sync_buffers_before(self, source, then):
        """The buffers of a step, if the step before sent gradients; `then`: whether this one does."""
        if self.require_forward_param_sync and self.broadcast_buffers:
            self._sync_buffers(source)
        self.require_forward_param_sync = then

    def _set_divisor(self, join):
        if not join.hooks[join._joinables.index(self)].by_all:
            self._reducer.set_divisor(len(join.active))

    @contextlib.contextmanager
    def no_sync(self):
        """A scope whose forwards and backwards are not sent: gradients add up in each process, until a backward outside of it."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state, hook):
        """hook(state, bucket) replaces the mean: it returns a Future of what the bucket's buffer is to become.  Once, before training."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")

        def begin(bucket):
            from ...distributed._hooks import GradBucket
            future = hook(state, GradBucket(bucket))
            if not hasattr(future, "wait"):
                raise TypeError(f"Communication hook: expected it to return a torch.futures.Future, got {type(future).__name__}")

            def wait():
                value = future.wait()
                return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
            return wait

        self.__dict__["_hook"] = begin
        if self._reducer is None:
            self._make_reducer()
        else:
            self._reducer.set_hook(begin)

    def _register_builtin_comm_hook(self, comm_hook_type):
        """register_comm_hook() of one of BuiltinCommHookType."""
        from ...distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook, fp16_compress_hook
        self.register_comm_hook(self.process_group, {"ALLREDUCE": allreduce_hook, "FP16_COMPRESS": fp16_compress_hook}[comm_hook_type.name])

    def _set_static_graph(self):
        """The argument static_graph, after the model was wrapped."""
        self.static_graph = True
        if self._reducer is not None:
            self._make_reducer()

    def _get_ddp_logging_data(self):
        """Facts of this model: buckets, backend, sizes."""
        buckets = self._reducer.buckets() if self._reducer is not None else []
        return {"world_size": self.process_group.size(), "rank": self.process_group.rank(), "backend_name": self.process_group.name(),
                "module_name": type(self.module).__name__, "bucket_cap_bytes": self.bucket_bytes_cap,
                "num_parameter_tensors": len(self._parameters_of_reducer),
                "total_parameter_size_bytes": sum(p.numel() * p.element_size() for p in self._parameters_of_reducer),
                "bucket_sizes": ", ".join(str(sum(self._parameters_of_reducer[i].numel() * self._parameters_of_reducer[i].element_size()
                                                  for i in bucket)) for bucket in buckets),
                "unused_parameters": self._reducer.unused() if self._reducer is not None else []}

    # ---- uneven numbers of batches

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """A scope for training with different numbers of batches: processes that have none left send zeros until all are done.

        divide_by_initial_world_size: whether means are over all processes, or over those that still have batches.
        """
        from ...distributed.algorithms.join import Join
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs):
        """What this model does while others still have batches."""
        from ...distributed.algorithms._ddp_join import DDPJoinHook
        return DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        return self.device

    @property
    def join_process_group(self):
        return self.process_group

    def scatter(self, inputs, kwargs, device_ids):
        """Inputs for each of the devices, of which there is one."""
        from .scatter_gather import scatter_kwargs
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    # ---- copies

    def __getstate__(self):
        state = self.__dict__.copy()
        for name in ("process_group", "_reducer", "_join_config"):
            state[name] = None
        state["_hook"] = state["_hook"] and True
        return state

    def __setstate__(self, state):
        from ...distributed.distributed_c10d import _get_default_group
        super().__setstate__(state)
        self.process_group = _get_default_group()
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        lost, self._hook = self._hook, None
        if self.mixed_precision is not None and (hook := _mixed_precision.comm_hook(self.mixed_precision)) is not None:
            self.register_comm_hook(self.process_group, hook)
        elif self.process_group.size() > 1 or lost:
            self._make_reducer()
            if lost:
                warnings.warn("DistributedDataParallel: the communication hook was not copied; register it again", stacklevel=2)


def _index(device):
    """The number of a GPU."""
    if isinstance(device, int):
        return device
    index = _C.device(device).index
    return _C.cuda.current_device() if index is None else index
