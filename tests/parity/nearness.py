"""How near a result must be to PyTorch's: a bound for each element, in units in the last place (ulps).

A result agrees if it is within `ulps` of PyTorch's own result in the same dtype.  Otherwise the bound is about PyTorch's result for
float64 inputs, and about how much that moves when the inputs move by one ulp:

    |ours - exact| <= ulps * ulp(exact) + steps * shift

`shift` is how much rounding the inputs changes this element: for a sum, eps times the sum of its terms' absolute values, whatever
the largest value of the tensor is.  It is measured: some of the inputs, chosen at random, are made smaller by a small share, and the
largest change of a few trials, scaled down to one ulp, counts.
"""
import torch

TRIALS = 6
SHARE = 2.0**-22  # small enough to be linear, large enough that float64 does not round it away
TINY = {torch.float64: 2.0**-1022, torch.float32: 2.0**-126, torch.float16: 2.0**-14, torch.bfloat16: 2.0**-126}
EPSILON = {torch.float64: 2.0**-52, torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}


def real_dtype(dtype):
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


def ulp(values, dtype):
    """The distance of neighbours in `dtype` at these float64 or complex128 values; of complex ones, at the absolute value."""
    real = real_dtype(dtype)
    _, exponent = torch.frexp(values.abs().nan_to_num(0, 0, 0))
    return torch.ldexp(torch.ones_like(exponent, dtype=torch.float64), exponent - 1).clamp_min(TINY[real]) * EPSILON[real]


def wide(tensor):
    return tensor.detach().resolve_conj().resolve_neg().to(torch.complex128 if tensor.is_complex() else torch.float64)


def same(a, b):
    return (a == b) | (a.isnan() & b.isnan())


def shaken(tensor, generator, numbers):
    """A copy some of whose elements are smaller by SHARE; integers and bools become float64 if they are among `numbers`, or stay."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        if not numbers or tensor.dtype is torch.bool and "bools" not in numbers:
            return tensor
        tensor = tensor.double()
    chosen = torch.randint(0, 2, tensor.shape, generator=generator)
    return tensor * (1 - SHARE * chosen)


class Exact:
    """The results of a call in float64: compute(change) gives them as a list, with change(tensor) applied to the wide inputs; it may
    raise.  Nothing is computed before it is asked for."""

    def __init__(self, compute):
        self.compute, self.base, self.moved = compute, None, None

    def run(self, change):
        torch.set_default_dtype(torch.float64)  # what integers become
        try:
            return [r if isinstance(r, torch.Tensor) else None for r in self.compute(change)]
        except Exception:  # not for float64, or not for these inputs: nothing to decide by
            return None
        finally:
            torch.set_default_dtype(torch.float32)

    def trials(self, *numbers):
        generator = torch.Generator().manual_seed(1)
        trials = [self.run(lambda t: shaken(t, generator, numbers)) for _ in range(TRIALS)]
        return [t for t in trials if t is not None and len(t) == len(self.base)]

    def of(self, i):
        """The result, and how far the inputs' rounding by SHARE moves it; None where there is none."""
        if self.base is None:
            self.base = self.run(lambda t: t) or []
        if i >= len(self.base) or self.base[i] is None:
            return None
        if self.moved is None:
            self.moved = self.trials("integers", "bools") or self.trials("integers") or self.trials()  # they may be indices and masks
        base = wide(self.base[i])
        shift = torch.zeros(base.shape, dtype=torch.float64)
        for trial in self.moved:
            if trial[i] is not None and trial[i].shape == base.shape:
                shift = torch.maximum(shift, (wide(trial[i]) - base).abs().nan_to_num(0, 0, 0))
        return base, shift


def far(theirs, ours, exact, i, dtype, ulps, steps):
    """Where our result is not near enough; `theirs` and `ours` are wide, `dtype` is the result's, `exact` an Exact whose result `i`
    this is, or None."""
    good = same(theirs, ours)
    if real_dtype(dtype) not in EPSILON:
        return ~good
    good = good | ((theirs - ours).abs() <= ulps * ulp(theirs, dtype))
    if bool(good.all()) or exact is None:
        return ~good
    found = exact.of(i)
    if found is None or found[0].shape != theirs.shape:
        return ~good
    base, shift = found
    rounded = wide(base.to(dtype)) if not base.is_complex() or torch.finfo(dtype).bits == 64 else base
    bound = ulps * ulp(rounded, dtype) + steps * shift * (EPSILON[real_dtype(dtype)] / SHARE)
    return ~(good | same(rounded, ours) | ((ours - rounded).abs() <= bound))


def worst(theirs, ours, differ, dtype):
    """A sentence about the elements that differ.  The first number is the largest difference, by the largest of PyTorch's numbers or 1."""
    flat = differ.reshape(-1)
    at = flat.nonzero()[0].item()
    apart = (theirs - ours).abs()
    size = apart[differ].nan_to_num(torch.inf).max().item() / max(1, theirs.abs().nan_to_num(0, 0, 0).max().item())
    ulps = f"{(apart / ulp(theirs, dtype))[differ].max().item():.3g} ulps, " if real_dtype(dtype) in EPSILON else ""
    return (f"values differ by {size:.1e} of the largest ({ulps}{int(flat.sum())} of {flat.numel()}): first "
            f"{theirs.reshape(-1)[at].item():.8g} there, {ours.reshape(-1)[at].item():.8g} here")
