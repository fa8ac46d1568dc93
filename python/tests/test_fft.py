"""Fourier transforms: NumPy's values, inverses, what is refused; their gradients stand in the conformance tests."""
import argand as torch
import numpy as np
import pytest

torch.manual_seed(0)
REAL = torch.randn(4, 6, 5, dtype=torch.float64)
COMPLEX = torch.randn(4, 6, 5, dtype=torch.complex128)
# Powers of 2, of 3 and 5, primes with a pass of their own, and one that becomes a convolution.
LENGTHS = [1, 2, 3, 4, 5, 8, 9, 12, 15, 25, 30, 49, 64, 94, 106, 125, 202, 206, 211, 1024, 1000]


def close(got, expected, limit=1e-12):
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=limit, atol=limit * max(1, np.abs(expected).max(initial=0)))


@pytest.mark.parametrize("n", LENGTHS)
def test_every_length(n):
    x, z = torch.randn(3, n, dtype=torch.float64), torch.randn(3, n, dtype=torch.complex128)
    for name in ("fft", "ifft"):
        close(getattr(torch.fft, name)(z), getattr(np.fft, name)(z.numpy()))
        close(getattr(torch.fft, name)(x), getattr(np.fft, name)(x.numpy()))
        close(getattr(torch.fft, name)(z, dim=0), getattr(np.fft, name)(z.numpy(), axis=0))
    close(torch.fft.rfft(x), np.fft.rfft(x.numpy()))
    close(torch.fft.irfft(z, 2 * n - 1), np.fft.irfft(z.numpy(), 2 * n - 1))
    close(torch.fft.irfft(torch.fft.rfft(x), n), x.numpy())
    single = torch.fft.fft(z.to(torch.complex64))
    assert single.dtype is torch.complex64
    close(single, np.fft.fft(z.numpy()), 2e-6)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_names_sizes_and_norms(norm):
    for name in ("fft", "ifft", "irfft", "hfft"):
        for n, dim in ((None, -1), (4, 1), (9, 0)):
            close(getattr(torch.fft, name)(COMPLEX, n, dim, norm), getattr(np.fft, name)(COMPLEX.numpy(), n, dim, norm))
    for name in ("rfft", "ihfft"):
        close(getattr(torch.fft, name)(REAL, n=7, dim=1, norm=norm), getattr(np.fft, name)(REAL.numpy(), 7, 1, norm))
    for name, x in (("fftn", COMPLEX), ("ifftn", COMPLEX), ("irfftn", COMPLEX), ("rfftn", REAL), ("fftn", REAL)):
        for s, dim in ((None, (0, 1, 2)), ((3, 7), (2, 0)), (None, (1,))):
            close(getattr(torch.fft, name)(x, s, dim, norm), getattr(np.fft, name)(x.numpy(), s, dim, norm))
    for name, x in (("fft2", COMPLEX), ("ifft2", REAL), ("rfft2", REAL), ("irfft2", COMPLEX)):
        close(getattr(torch.fft, name)(x, norm=norm), getattr(np.fft, name)(x.numpy(), norm=norm))
    half = torch.fft.ihfft2(REAL, norm=norm)
    close(torch.fft.hfft2(half, s=REAL.shape[-2:], norm=norm), REAL.numpy())
    close(torch.fft.hfftn(torch.fft.ihfftn(REAL, norm=norm), s=REAL.shape, norm=norm), REAL.numpy())


def test_frequencies_and_shifts():
    for n in (1, 2, 7, 8):
        close(torch.fft.fftfreq(n, 0.1, dtype=torch.float64), np.fft.fftfreq(n, 0.1))
        close(torch.fft.rfftfreq(n, d=2.0, dtype=torch.float64), np.fft.rfftfreq(n, 2.0))
    assert torch.fft.fftfreq(4, requires_grad=True).is_leaf
    for dim in (None, 1, (0, 2)):
        close(torch.fft.fftshift(REAL, dim), np.fft.fftshift(REAL.numpy(), dim))
        assert torch.fft.ifftshift(torch.fft.fftshift(REAL, dim), dim).equal(REAL)


def test_dtypes():
    assert torch.fft.fft(torch.tensor([1, 2, 3])).dtype is torch.complex64
    assert torch.fft.irfft(torch.tensor([True, False])).dtype is torch.float32
    assert torch.fft.rfft(REAL).dtype is torch.complex128
    out = torch.empty(0, dtype=torch.complex128)
    assert torch.fft.fft(REAL, out=out) is out and out.shape == REAL.shape
    with pytest.raises(RuntimeError, match="float16"):
        torch.fft.fft(torch.zeros(4).half())


def test_what_is_refused():
    for call, text in ((lambda: torch.fft.fft(REAL, 0), r"Invalid number of data points \(0\) specified"),
                       (lambda: torch.fft.fft(REAL, norm="x"), 'Invalid normalization mode: "x"'),
                       (lambda: torch.fft.fftn(REAL, dim=(0, 0)), "FFT dims must be unique"),
                       (lambda: torch.fft.irfft(COMPLEX[..., :1]), r"Invalid number of data points \(0\) specified"),
                       (lambda: torch.fft.rfftn(REAL, dim=()), "must transform at least one axis")):
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.fft.fft(REAL, dim=3)
    with pytest.raises(RuntimeError, match="rfft"):
        torch.fft.rfft(COMPLEX)


def test_lines_do_not_see_each_other_nor_threads():
    x = torch.randn(37, 1000, dtype=torch.complex64)
    x[5] = float("nan")
    whole = torch.fft.fft(x)
    assert whole[5].isnan().all() and not whole[4].isnan().any() and not whole[6].isnan().any()
    assert whole[7].equal(torch.fft.fft(x[7]))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    assert whole[6:].equal(torch.fft.fft(x[6:]))
    torch.set_num_threads(threads)


@pytest.mark.parametrize("center", [True, False])
def test_stft_and_back(center):
    x, window = torch.randn(2, 61, dtype=torch.float64), torch.hamming_window(12, dtype=torch.float64)
    s = torch.stft(x, 16, hop_length=3, win_length=12, window=window, center=center, return_complex=True)
    padded = np.pad(x.numpy(), ((0, 0), (8, 8)), "reflect") if center else x.numpy()
    frames = np.lib.stride_tricks.sliding_window_view(padded, 16, axis=1)[:, ::3]
    close(s, np.fft.rfft(frames * np.pad(window.numpy(), 2)).swapaxes(1, 2))
    assert torch.view_as_complex(x.stft(16, 3, 12, window, center, return_complex=False)).equal(s)
    if center:
        close(torch.istft(s, 16, 3, 12, window, length=61), x.numpy())
        close(s[0].istft(16, 3, 12, window), x[0, :60].numpy())
    else:
        with pytest.raises(RuntimeError, match="window overlap add min"):
            torch.istft(s, 16, 3, 12, window, center=False)


def test_what_stft_refuses():
    with pytest.raises(RuntimeError, match="requires the return_complex parameter"):
        torch.stft(torch.zeros(20), 4)
    with pytest.raises(RuntimeError, match="align_to_window should only be set when center = false"):
        torch.stft(torch.zeros(20), 4, align_to_window=True, return_complex=True)
