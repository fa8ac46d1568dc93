"""What is logged, as NumPy arrays."""
import numpy as np

from ... import _C


def make_np(x):
    """A tensor, array or number as an array; that of a number has one dimension."""
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, _C.Tensor):
        x = x.detach().cpu()
        return (x.float() if x.dtype is _C.bfloat16 else x).numpy()
    if np.isscalar(x):
        return np.array([x])
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
