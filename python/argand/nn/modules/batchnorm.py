"""Batch normalization."""
from ... import _C
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module, weight_and_bias


class _NormBase(Module):
    """Parameters and running statistics of batch and instance normalization."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None,
                 *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, Parameter(_C.empty(num_features, device=device, dtype=dtype)) if wanted else None)
        if track_running_stats:
            self.register_buffer("running_mean", _C.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", _C.ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", _C.tensor(0, dtype=_C.int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Mean 0, variance 1, no batch."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        # Before version 2 there was no such buffer.
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            known = self.num_batches_tracked
            state_dict[key] = known if known is not None and not known.is_meta else _C.tensor(0, dtype=_C.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches so far
                momentum = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        by_batch = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(input, mean, var, *weight_and_bias(self), by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalization of [N, C] or [N, C, L]."""

    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalization of [N, C, H, W]."""

    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalization of [N, C, D, H, W]."""

    def _check_input_dim(self, input):
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all processes of a group: that of all processes if process_group is None.

    On the CPU it needs a group of several processes to train, as in a world of one PyTorch's does not run there either.
    """

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None, dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _group_of_several(self):
        from ...distributed.distributed_c10d import _checked_group, is_initialized  # upward: this layer alone sends what it computes to other processes
        if not is_initialized():
            return None
        group = _checked_group(self.process_group)
        return group if group.size() > 1 else None

    def forward(self, input):
        self._check_input_dim(input)
        group = self._group_of_several() if self.training else None
        if group is not None:
            return self._over_processes(input, group)
        return super().forward(input)

    def _over_processes(self, input, group):
        """The moments of all processes' batches; gradients flow to all of them."""
        from ...distributed.nn.functional import all_reduce  # upward: this layer alone sends what it computes to other processes
        dims, shape = [d for d in range(input.dim()) if d != 1], [1, -1] + [1] * (input.dim() - 2)
        x = input.float() if input.dtype in (_C.float16, _C.bfloat16) else input
        count = x.new_tensor([x.numel() // x.shape[1]])
        sums = all_reduce(_C.cat([x.sum(dims), count]), group=group)
        n = sums[-1].detach()
        mean = sums[:-1] / n
        centred = x - mean.view(shape)
        var = all_reduce(centred.square().sum(dims), group=group) / n
        if self.track_running_stats:
            self._note(mean.detach(), var.detach() * (n / (n - 1).clamp(min=1)))
        out = centred * (var + self.eps).rsqrt().view(shape)
        if self.weight is not None:
            out = out * self.weight.view(shape)
        if self.bias is not None:
            out = out + self.bias.view(shape)
        return out.to(input.dtype)

    def _note(self, mean, var):
        """Adds the moments of a batch to the running ones."""
        self.num_batches_tracked.add_(1)
        momentum = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        for running, new in ((self.running_mean, mean), (self.running_var, var)):
            running.copy_(running * (1 - momentum) + new.to(running.dtype) * momentum)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with a SyncBatchNorm in place of each batch normalization, of the same parameters and statistics."""
        result = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            device = None if module.weight is None else module.weight.device
            result = SyncBatchNorm(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                                   process_group, device)
            result.training = module.training
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(result, name, getattr(module, name))
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
