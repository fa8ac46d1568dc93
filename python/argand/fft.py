"""Discrete Fourier transforms, as torch.fft: the library's functions whose names begin with fft_."""
from . import _C
from ._C import Tensor  # noqa: F401

globals().update({name.removeprefix("fft_"): function for name, function in vars(_C).items() if name.startswith("fft_")})
