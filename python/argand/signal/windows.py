"""Window functions, as torch.signal.windows: M values between 0 and 1, around the middle.  sym=False gives the first M of M + 1, for
spectra.  They are computed in float64 and rounded once."""
import math
from collections.abc import Iterable

from .. import _C

__path__ = []  # PyTorch has modules below it: argand/_surface/signal.txt has them

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser",
           "nuttall"]


def _window(name, M, sym, dtype, layout, device, requires_grad, shape):
    """The window shape(t, last): t are the places of its values from the middle, last is the place of the last one from the first."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if layout is not _C.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M < 2:
        return _C.ones(M, dtype=dtype, device=device, requires_grad=requires_grad)
    last = M - 1 if sym else M
    places = _C.linspace(-last / 2, M - 1 - last / 2, M, dtype=_C.float64, device=device)
    return shape(places, last).to(dtype).requires_grad_(requires_grad)


def _cosines(a):
    """The sum of a[i] cos(i x), where x goes from -pi to pi."""
    return lambda t, last: sum(factor * (2 * math.pi * i / last * t).cos() for i, factor in enumerate(a))


def bartlett(M, *, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """A triangle from 0 to 1 and back to 0."""
    return _window("bartlett", M, sym, dtype, layout, device, requires_grad, lambda t, last: 1 - (t * 2 / last).abs())


def blackman(M, *, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """general_cosine with 0.42, 0.5 and 0.08."""
    return _window("blackman", M, sym, dtype, layout, device, requires_grad, _cosines([0.42, 0.5, 0.08]))


def cosine(M, *, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """Half a wave of a cosine whose zeros are half a place beyond the ends."""
    return _window("cosine", M, sym, dtype, layout, device, requires_grad, lambda t, last: (math.pi / (last + 1) * t).cos())


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """exp(-|n - center| / tau) for the places n from 0; the center is the middle unless it is given, which sym=False allows."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _window("exponential", M, sym, dtype, layout, device, requires_grad,
                   lambda t, last: ((t if center is None else t + last / 2 - center).abs() / -tau).exp())


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """exp(-t^2 / (2 std^2)) for the places t from the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, sym, dtype, layout, device, requires_grad, lambda t, _: ((t / std).square() / -2).exp())


def general_cosine(M, *, a, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """The sum of a[i] cos(i x), where x goes from -pi to pi."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    a = [float(factor) for factor in a]
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, sym, dtype, layout, device, requires_grad, _cosines(a))


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """general_cosine with alpha and 1 - alpha."""
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """general_hamming with 0.54, which makes the first side lobe small."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """general_hamming with 0.5: a raised cosine, 0 at the ends."""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """I0(beta sqrt(1 - x^2)) / I0(beta), where x goes from -1 to 1 and I0 is the Bessel function."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(t, last):
        height = _C.i0(_C.tensor(beta, dtype=_C.float64, device=t.device))
        return _C.i0(beta * (1 - (t * 2 / last).square()).sqrt()) / height
    return _window("kaiser", M, sym, dtype, layout, device, requires_grad, shape)


def nuttall(M, *, sym=True, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """general_cosine with the four factors of Nuttall's minimum window."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)
