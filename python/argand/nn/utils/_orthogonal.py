"""Orthogonal matrices as a parametrization."""
from ... import _C
from ..._dtype_limits import finfo
from ...autograd.grad_mode import no_grad
from ..modules.module import Module
from .parametrize import register_parametrization


def _q_of(matrix):
    """The orthogonal factor of a QR decomposition whose R has a positive diagonal."""
    packed, tau = _C.geqrf(matrix)
    return _C.linalg_householder_product(packed, tau) * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q):
    n, k = q.shape[-2:]
    identity = _C.eye(k, dtype=q.dtype, device=q.device)
    return _C.allclose(q.mH @ q, identity, atol=10.0 * n * finfo(q.dtype).eps)


class _Orthogonal(Module):
    """Maps any matrix to one with orthonormal columns (or rows, if it has fewer); `base`, if it has one, is a rotation that comes
    after, which makes what the matrix was at the start the image of -1."""

    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        wide = x.shape[-2] < x.shape[-1]
        q = self._reflections(x.mT if wide else x) if self.orthogonal_map == "householder" else self._rotation(x.mT if wide else x)
        q = self.base @ q if hasattr(self, "base") else q
        return q.mT if wide else q

    def _rotation(self, x):
        n, k = x.shape[-2:]
        x = x.tril()
        if n != k:
            x = _C.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], -1)
        skew = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            return _C.matrix_exp(skew)[..., :k]
        identity = _C.eye(n, dtype=x.dtype, device=x.device)
        return _C.linalg_solve(identity - 0.5 * skew, identity + 0.5 * skew)[..., :k]

    @staticmethod
    def _reflections(x):
        v = x.tril(-1)
        q = _C.linalg_householder_product(v, 2.0 / (1.0 + (v * v).sum(-2)))
        return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)  # signs, which do not change in training

    @no_grad()
    def right_inverse(self, value):
        if value.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {value.shape}.")
        wide = value.shape[-2] < value.shape[-1]
        q = value.mT if wide else value
        if hasattr(self, "base"):
            n, k = q.shape[-2:]
            if n == k and _is_orthogonal(q):
                self.base = q.clone()
            else:
                self.base = _q_of(_C.cat([q, _C.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)], -1) if n > k else q)
            start = _C.zeros_like(value)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map != "householder":
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                                      "use_trivialization=False.")
        packed, tau = _C.geqrf(q)
        signs = packed.diagonal(dim1=-2, dim2=-1)
        signs.copy_(_C.where(tau == 0, -signs.sign(), signs.sign()))
        return packed.mT if wide else packed


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Makes a matrix, or a batch of them, orthogonal, and keeps it so in training.

    orthogonal_map: "matrix_exp", "cayley" (of skew-symmetric matrices) or "householder" (products of reflections); the first
    one for square and complex matrices if not given, else the last one.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")
    return register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
