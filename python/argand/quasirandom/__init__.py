"""Numbers that fill a cube evenly, as torch.quasirandom: Sobol sequences, scrambled or not, with PyTorch's numbers."""
from .. import _C
from ._direction_numbers import BITS, DIMENSIONS, direction_numbers

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of a Sobol sequence in [0, 1)^dimension, in the order of Gray's code; direction numbers of Joe and Kuo (D(6)).

    scramble: as Owen does by a random lower triangular matrix for each dimension and a random shift, drawn with `seed`
    (without one, with a seed of the system's).  Integers are exact: `sobolstate` [dimension, 30] holds the direction numbers,
    `shift` the first point and `quasi` the last one drawn, times 2^30.
    """

    MAXBIT, MAXDIM = BITS, DIMENSIONS

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = direction_numbers(dimension)
        self.shift = _C.zeros(dimension, dtype=_C.int64, device="cpu")
        if scramble:
            self._scramble()
        self._first_point = (self.shift / 2 ** self.MAXBIT).unsqueeze(0)
        self.reset()

    def _scramble(self):
        generator = _C.Generator()
        if self.seed is None:
            generator.seed()
        else:
            generator.manual_seed(self.seed)
        from_low = 2 ** _C.arange(self.MAXBIT, device="cpu")
        shape = self.dimension, self.MAXBIT
        bits = _C.randint(2, shape, generator=generator, device="cpu")
        self.shift = (bits * from_low).sum(-1)
        matrix = _C.randint(2, (*shape, self.MAXBIT), generator=generator, device="cpu").tril(-1) + _C.eye(
            self.MAXBIT, dtype=_C.int64, device="cpu")
        # A product over GF(2): both sides begin with the most significant bit.  In float64, which holds sums of 30 ones.
        from_high = from_low.flip(0)
        digits = (self.sobolstate.unsqueeze(1) // from_high.view(1, -1, 1)) % 2  # [dimension, bit, direction]
        product = _C.bmm(matrix.to(_C.float64), digits.to(_C.float64)).to(_C.int64) % 2
        self.sobolstate = (product * from_high.view(1, -1, 1)).sum(1)

    def draw(self, n=1, out=None, dtype=None):
        """The next n points, [n, dimension], of the default dtype, float32 or float64."""
        if n < 0:
            raise ValueError(f"n must be non-negative, but got {n}")
        if self.num_generated + n > 2 ** self.MAXBIT:
            raise ValueError(f"SobolEngine can generate at most {2 ** self.MAXBIT} points")
        dtype = _C.get_default_dtype() if dtype is None else dtype
        if dtype not in (_C.float32, _C.float64):
            raise NotImplementedError(f"SobolEngine.draw: expected dtype torch.float32 or torch.float64, got {dtype}")
        start, points = self.num_generated, self._points(self.num_generated, n)
        self._go_to(start + n, points[-1] if n else self.quasi)
        result = points.to(dtype) * 2.0 ** -self.MAXBIT
        if start == 0:  # PyTorch's has the default dtype's digits, whatever is asked for
            result[:1] = self._first_point[:n]
        if out is None:
            return result
        return out.resize_(result.shape).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2^m points, which make a power of 2 with those drawn before (ValueError if not)."""
        n = 2 ** m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError("The balance properties of Sobol' points require n to be a power of 2. "
                             f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total}. "
                             "If you still want to do this, please use 'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Back to the first point; the scrambling stays."""
        return self._go_to(0, self.shift.clone())

    def fast_forward(self, n):
        """Passes over n points."""
        if n < 0:
            raise ValueError(f"n must be non-negative, but got {n}")
        if self.num_generated + n > 2 ** self.MAXBIT:
            raise ValueError(f"SobolEngine can generate at most {2 ** self.MAXBIT} points")
        if n > 0:
            self._go_to(self.num_generated + n, self._points(self.num_generated + n - 1, 1)[0])
        return self

    def _go_to(self, count, last):
        self.num_generated, self.quasi = count, last
        return self

    def _points(self, start, count):
        """Points start, start + 1, ..., times 2^30: the shift and the direction numbers of the ones of the index's Gray code."""
        index = _C.arange(start, start + count, device="cpu")
        gray = index ^ (index >> 1)
        points = self.shift.expand(count, -1).clone()
        for bit in range((start + count).bit_length()):
            chosen = ((gray >> bit) & 1).unsqueeze(1)
            points ^= chosen * self.sobolstate[:, bit]
        return points

    def __repr__(self):
        parts = [f"dimension={self.dimension}"] + (["scramble=True"] if self.scramble else [])
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(parts)})"
