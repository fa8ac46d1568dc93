"""Weight normalization by a hook before forward; parametrizations.weight_norm is its successor."""
import warnings

from ... import _C
from ..._ignored import harmless
from ..parameter import Parameter, is_lazy


def norm_except_dim(v, pow=2, dim=0):
    """The norms of the slices along dim, shaped to broadcast; dim -1: one norm of all."""
    if dim == -1:
        return _C.linalg_vector_norm(v, pow)
    dim %= v.dim()
    return _C.linalg_vector_norm(v, pow, [d for d in range(v.dim()) if d != dim] or [],
                                 True) if v.dim() > 1 else v.abs()


def normalized(v, g, dim):
    """v with norms g along dim."""
    return v * (g / norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook: computes the weight `name` from name_g and name_v."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        return normalized(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @harmless(inputs="a hook is given them, and looks at the module alone")
    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))

    @staticmethod
    def hooks_of(module):
        """(key, hook) of the module's weight norms."""
        return [(k, h) for k, h in module._forward_pre_hooks.items() if isinstance(h, WeightNorm)]


def weight_norm(module, name="weight", dim=0):
    """Learns the weight as a direction name_v and norms name_g along dim (None: one norm)."""
    warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
                  "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning, stacklevel=2)
    if any(hook.name == name for _, hook in WeightNorm.hooks_of(module)):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    if is_lazy(weight):
        raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy forward before "
                         "applying weight normalization")
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight.data, 2, hook.dim)))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """Makes the weight a parameter again."""
    for key, hook in WeightNorm.hooks_of(module):
        if hook.name == name:
            weight = hook.compute_weight(module)
            delattr(module, name)
            del module._parameters[name + "_g"], module._parameters[name + "_v"]
            setattr(module, name, Parameter(weight.data))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
