"""Instance normalization."""
import warnings

from .. import functional as F
from .batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    _unbatched_dim = 0

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None,
                 dtype=None,
                 *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self):
        return self._unbatched_dim

    def _check_input_dim(self, input):
        if input.dim() not in (self._unbatched_dim, self._unbatched_dim + 1):
            raise ValueError(f"expected {self._unbatched_dim}D or {self._unbatched_dim + 1}D input (got "
                             f"{input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        channel_dim = input.dim() - self._unbatched_dim
        if input.size(channel_dim) != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={channel_dim} to match num_features "
                                 f"({self.num_features}), but got: {input.size(channel_dim)}.")
            warnings.warn(f"input's size at dim={channel_dim} does not match num_features. You can silence this "
                          "warning by not passing in num_features, which is not used because "
                          "affine=False", stacklevel=2)
        batched = input if channel_dim else input.unsqueeze(0)
        result = F.instance_norm(batched, self.running_mean, self.running_var, self.weight, self.bias,
                                 self.training or not self.track_running_stats,
                                 self.momentum if self.momentum is not None else 0.0, self.eps)
        return result if channel_dim else result.squeeze(0)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        # Before version 2 an instance norm tracked statistics it did not use; such files still hold them.
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            found = [k for k in (prefix + "running_mean", prefix + "running_var") if k in state_dict]
            if found:
                names = " and ".join(f'"{k}"' for k in found)
                error_msgs.append(f"Unexpected running stats buffer(s) {names} for {type(self).__name__} with "
                                  "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, this "
                                  f"may be expected because {type(self).__name__} does not track running stats by "
                                  "default since 0.4.0. Please remove these keys from state_dict.")
                for k in found:
                    del state_dict[k]
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of [N, C, L] or [C, L]."""
    _unbatched_dim = 2


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of [N, C, H, W] or [C, H, W]."""
    _unbatched_dim = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of [N, C, D, H, W] or [C, D, H, W]."""
    _unbatched_dim = 4
