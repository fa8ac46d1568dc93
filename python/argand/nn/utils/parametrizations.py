"""Weight and spectral normalization as parametrizations, and orthogonal matrices (_orthogonal.py)."""
from ... import _C, _surface
from ..._ignored import harmless
from ...autograd.grad_mode import no_grad
from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from .parametrize import register_parametrization
from .weight_norm import norm_except_dim, normalized

_TRANSPOSED = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return normalized(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return norm_except_dim(weight, 2, self.dim), weight


class _OldNames:
    """Lets a module load what utils.weight_norm, the older way, has saved: a hook before it loads."""

    only_renames = True

    def __init__(self, name):
        self.name = name

    @harmless(_="it is given what all such hooks are")
    def __call__(self, state_dict, prefix, *_):
        old = [f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{i}"] = state_dict.pop(key)


def weight_norm(module, name="weight", dim=0):
    """Learns the weight as norms along dim (original0; dim None: one norm) and a direction (original1)."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.dim() or dim < -weight.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.dim()}, "
                             f"{weight.dim() - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                             f"{n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._matrix(weight)
                u = F.normalize(matrix.new_empty(matrix.size(0)).normal_(0, 1), dim=0, eps=eps)
                v = F.normalize(matrix.new_empty(matrix.size(1)).normal_(0, 1), dim=0, eps=eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._iterate(matrix, 15)  # so that the first results are near

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.movedim(self.dim, 0)
        return weight.flatten(1)

    @no_grad()
    def _iterate(self, matrix, count):
        for _ in range(count):
            self._u.copy_(F.normalize(_C.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(_C.mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next iteration must not change what backward reads
        return weight / _C.vdot(u, _C.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides the weight, as a matrix whose rows are dim, by its largest singular value (Miyato et al. 2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, _TRANSPOSED) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


__getattr__, __dir__ = _surface.of(__name__)
