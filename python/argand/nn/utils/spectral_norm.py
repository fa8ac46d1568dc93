"""Spectral normalization by a hook before forward; parametrizations.spectral_norm is its successor."""
from ... import _C
from ..._ignored import harmless
from ...autograd.grad_mode import no_grad
from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import Parameter, is_lazy


class SpectralNorm:
    """The hook: computes the weight `name` from name_orig with the power iteration's name_u and name_v."""

    def __init__(self, name, n_power_iterations, dim, eps):
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                             f"{n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight):
        if self.dim != 0:
            weight = weight.movedim(self.dim, 0)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(_C.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(_C.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next iteration must not change what backward reads
        return weight / _C.dot(u, _C.mv(matrix, v))

    @harmless(inputs="a hook is given them, and looks at the module alone")
    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def hooks_of(module):
        """(key, hook) of the module's spectral norms."""
        return [(k, h) for k, h in module._forward_pre_hooks.items() if isinstance(h, SpectralNorm)]


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides the weight, as a matrix whose rows are dim, by its largest singular value (Miyato et al. 2018)."""
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    if any(hook.name == name for _, hook in SpectralNorm.hooks_of(module)):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    if is_lazy(weight):
        raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                         "before applying spectral normalization")
    with no_grad():
        matrix = hook.matrix(weight)
        u = F.normalize(weight.new_empty(matrix.size(0)).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(matrix.size(1)).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    # A plain attribute, so that no parameter of this name is left; forward's is computed from the originals.
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module, name="weight"):
    """Makes the weight, as it is now, a parameter again."""
    for key, hook in SpectralNorm.hooks_of(module):
        if hook.name == name:
            with no_grad():
                weight = hook.compute_weight(module, do_power_iteration=False)
            for attribute in (name, name + "_u", name + "_v", name + "_orig"):
                delattr(module, attribute)
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
