"""The direction numbers of Sobol sequences, from the table that S. Joe and F. Y. Kuo published (search criterion D(6)).

"Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), 2635-2654; the file
"new-joe-kuo-6.21201" of https://web.maths.unsw.edu.au/~fkuo/sobol/ (its licence: joe_kuo_d6.txt).  joe_kuo_d6.bin holds it
in less space.  After the first dimension, which needs no entry, they go by the degree s of their primitive polynomials.
An entry of degree s is a big-endian number of s - 1 + s (s - 1) / 2 bits, filled up with zeros at its end to whole bytes:

    a        s - 1 bits        coefficients of the polynomial between the first and the last, which are 1
    m_2      1 bit             m_i is odd and less than 2^i: its upper i - 1 bits; m_1 is 1
    ...
    m_s      s - 1 bits
"""
import os

from .. import _C
from .._buffers import over

BITS = 30
_OF_DEGREE = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)  # entries of degree 1, 2, ...
DIMENSIONS = 1 + sum(_OF_DEGREE)


def direction_numbers(dimension):
    """[dimension, 30]: the numbers of the first dimensions, times 2^30."""
    parts = [(2 ** _C.arange(BITS - 1, -1, -1, device="cpu")).unsqueeze(0)]
    left = dimension - 1
    with open(os.path.join(os.path.dirname(__file__), "joe_kuo_d6.bin"), "rb") as file:
        for degree, count in enumerate(_OF_DEGREE, 1):
            count = min(count, left)
            if count == 0:
                break
            size = -(-(degree - 1) * (degree + 2) // 16)  # bytes of an entry
            parts.append(_continued(degree, *_entries(file.read(size * count), degree, count)))
            left -= count
    return _C.cat(parts)


def _entries(content, degree, count):
    """a_1 ... a_(s-1) [count, s - 1] and m_1 ... m_s [count, s]."""
    content = over(bytearray(content)).view(count, -1).to(_C.int64)
    bits = (content.unsqueeze(-1) >> _C.arange(7, -1, -1, device="cpu") & 1).view(count, -1)

    def number(first, length):
        return (bits[:, first:first + length] * 2 ** _C.arange(length - 1, -1, -1, device="cpu")).sum(1)
    first = [degree - 1 + i * (i - 1) // 2 for i in range(degree)]
    return bits[:, :degree - 1], _C.stack([2 * number(first[i], i) + 1 for i in range(degree)], 1)


def _continued(degree, coefficients, m):
    """The numbers after the first s by the recurrence that the polynomial is."""
    v = [m[:, i] << (BITS - 1 - i) for i in range(degree)]
    for i in range(degree, BITS):
        x = v[i - degree] ^ (v[i - degree] >> degree)
        for k in range(1, degree):
            x = x ^ (coefficients[:, k - 1] * v[i - k])
        v.append(x)
    return _C.stack(v, 1)
