"""Windows against NumPy's and their formulas."""
import math

import argand as torch
import numpy as np
import pytest
from argand.signal import windows

T = np.arange(7) - 3.0
VALUES = {
    "bartlett": np.bartlett(7), "blackman": np.blackman(7), "hamming": np.hamming(7), "hann": np.hanning(7), "kaiser": np.kaiser(7, 12),
    "cosine": np.sin(math.pi * (T + 3.5) / 7), "exponential": np.exp(-abs(T)), "gaussian": np.exp(-T ** 2 / 2),
    "general_hamming": np.hamming(7),
    "nuttall": sum(a * np.cos(math.pi * i * T / 3) for i, a in enumerate((0.3635819, 0.4891775, 0.1365995, 0.0106411)))}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    window = getattr(windows, name)
    np.testing.assert_allclose(window(7, dtype=torch.float64).numpy(), VALUES[name], rtol=1e-12, atol=1e-15)
    single = window(7)
    assert single.dtype is torch.float32 and single.equal(single.flip(0))
    assert window(6, sym=False).equal(single[:6])
    assert window(0).tolist() == [] and window(1).tolist() == [1.0] and window(1, sym=False).tolist() == [1.0]
    assert window(3, requires_grad=True).requires_grad and window(3, device="meta").shape == (3,)


def test_shapes():
    assert windows.general_cosine(4, a=iter([1.0])).tolist() == [1, 1, 1, 1]
    assert windows.kaiser(3, beta=0).tolist() == [1, 1, 1]
    torch.testing.assert_close(windows.gaussian(3, std=2.0), torch.tensor([1 / 8, 0, 1 / 8]).neg().exp())
    torch.testing.assert_close(windows.exponential(3, center=0, tau=2.0, sym=False), torch.tensor([0, -0.5, -1]).exp())
    assert torch.signal.windows.__all__ == sorted({*VALUES, "general_cosine"})


@pytest.mark.parametrize("error, name, message, options", [
    (ValueError, "hann", "non-negative window length, got M=-1", {"M": -1}),
    (ValueError, "bartlett", "float32 or float64 dtypes, got: torch.int64", {"dtype": torch.int64}),
    (ValueError, "bartlett", "strided tensors only", {"layout": torch.sparse_coo}),
    (ValueError, "gaussian", "Standard deviation must be positive, got: 0", {"std": 0}),
    (ValueError, "exponential", "Tau must be positive", {"tau": -1}),
    (ValueError, "exponential", "Center must be None", {"center": 1}),
    (ValueError, "kaiser", "beta must be non-negative", {"beta": -1}),
    (ValueError, "general_cosine", "cannot be empty", {"a": []}),
    (TypeError, "general_cosine", "must be a list/tuple", {"a": 3}),
    (TypeError, "cosine", "int", {"M": 2.5})])
def test_errors(error, name, message, options):
    with pytest.raises(error, match=message):
        getattr(windows, name)(**{"M": 4} | options)
