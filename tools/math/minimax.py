#!/usr/bin/env python3
"""The polynomial coefficients of argand/kernels/math: where they come from.

Prints, for each entry of POLYNOMIALS, near-minimax coefficients of one polynomial, lowest order first, rounded to the type
that computes with them, and the largest error that the rounded polynomial leaves, as a power of two.  The fit is a weighted
least-squares one in 60 digits whose weights are raised where the error is large until it is level (Lawson's algorithm);
coefficients are rounded one by one from the lowest, and the rest fitted again, so that later ones make up for the rounding
of earlier ones.

Needs mpmath.  Usage: minimax.py [NAME...]
"""
import struct
import sys
from dataclasses import dataclass
from typing import Callable

import mpmath as mp

mp.mp.dps = 60


def to_float32(x):
    return mp.mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def to_float64(x):
    return mp.mpf(float(x))


ROUND = {"float": to_float32, "double": to_float64}


@dataclass
class Polynomial:
    name: str
    type: str  # the type of the coefficients
    function: Callable  # what the polynomial stands for
    low: float
    high: float
    degree: int
    weight: Callable  # the error counts times this: the share of the polynomial in the result, over the result
    first: float | None = None  # a first coefficient that is set, not fitted


def solve_weighted(points, values, weights, powers):
    """Coefficients for `powers` that minimise sum(weight * (poly - value)^2)."""
    n = len(powers)
    a = mp.zeros(n, n)
    b = mp.zeros(n, 1)
    for x, y, w in zip(points, values, weights):
        row = [x**p for p in powers]
        for i in range(n):
            b[i] += w * row[i] * y
            for j in range(n):
                a[i, j] += w * row[i] * row[j]
    return list(mp.lu_solve(a, b))


def fit(p: Polynomial):
    low, high = mp.mpf(p.low), mp.mpf(p.high)
    count = 6 * (p.degree + 4)
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    values = [p.function(x) for x in points]
    scale = [abs(p.weight(x)) for x in points]
    lawson = [mp.mpf(1)] * count
    fixed = [] if p.first is None else [mp.mpf(p.first)]
    while len(fixed) <= p.degree:
        powers = list(range(len(fixed), p.degree + 1))
        rest = [y - sum(c * x**k for k, c in enumerate(fixed)) for x, y in zip(points, values)]
        for _ in range(12 if len(fixed) < 2 else 3):
            solved = solve_weighted(points, rest, [l * s * s for l, s in zip(lawson, scale)], powers)
            errors = [
                abs(sum(c * x**k for k, c in zip(powers, solved)) - y) * s for x, y, s in zip(points, rest, scale)
            ]
            top = max(errors)
            lawson = [l * (e / top + mp.mpf("0.01")) for l, e in zip(lawson, errors)]
            total = sum(lawson) / count
            lawson = [l / total for l in lawson]
        fixed.append(ROUND[p.type](solved[0]))
    grid = [low + (high - low) * i / 1000 for i in range(1001)]
    error = max(abs((sum(c * x**k for k, c in enumerate(fixed)) - p.function(x)) * p.weight(x)) for x in grid if x != 0)
    return fixed, error


def positive(f):  # f(z) with z = x^2
    return lambda z: f(mp.sqrt(z))


R = 0.3467  # half of ln 2, and a little
S = float((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1))
exp2_tail = lambda r: (mp.mpf(2)**r - 1) / r if r else mp.log(2)
exp_tail = lambda r: (mp.expm1(r) - r) / r**2 if r else mp.mpf(1) / 2
log_tail = lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3 if f else mp.mpf(1) / 3
log_share = lambda f: f**3 / mp.log1p(f) if f else 0
TANH = 0.625
tanh_tail = positive(lambda x: (mp.tanh(x) / x - 1) / x**2 if x else -mp.mpf(1) / 3)
ERF = 0.9
Q = 4.0

def scaled_erfcx(q):  # (1 + 2 x) exp(x^2) erfc(x) with q = (x - 2) / (x + 2)
    x = 2 * (1 + q) / (1 - q)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


POLYNOMIALS = [
    Polynomial("exp", "float", exp_tail, -R, R, 4, lambda r: r**2 / mp.exp(r)),
    Polynomial("exp", "double", exp_tail, -R, R, 10, lambda r: r**2 / mp.exp(r)),
    Polynomial("exp2", "float", exp2_tail, -0.5, 0.5, 5, lambda r: r / 2**r),
    Polynomial("exp2", "double", exp2_tail, -0.5, 0.5, 11,
               lambda r: r / 2**r),
    Polynomial("log", "float", log_tail, 2**-0.5 - 1.0001, 2**0.5 - 0.9999, 8, log_share),
    Polynomial("log_s", "double", positive(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3 if s else mp.mpf(2) / 3),
               0, (S * 1.0001)**2, 6, positive(lambda s: s**3 / (2 * mp.atanh(s)) if s else 0)),
    Polynomial("tanh", "float", tanh_tail, 0, TANH**2, 4, positive(lambda x: x**3 / mp.tanh(x) if x else 0)),
    Polynomial("erf", "float", positive(lambda x: mp.erf(x) / x - 1 if x else 2 / mp.sqrt(mp.pi) - 1), 0, ERF**2, 5,
               positive(lambda x: x / mp.erf(x) if x else 1)),
    # 1 - erf(x) = exp(-p(x)); the error of the result, which is near 1, is that of p times exp(-p)
    Polynomial("erf_tail", "float", lambda x: -mp.log(mp.erfc(x)), ERF - 0.001, Q, 6, mp.erfc),
    Polynomial("erfcx", "float", scaled_erfcx, -1, (10.1 - 2) / (10.1 + 2), 9, lambda q: 1),
    Polynomial("sin", "double", positive(lambda r: (mp.sin(r) / r - 1) / r**2 if r else -mp.mpf(1) / 6),
               0, 0.7855**2, 3, positive(lambda r: r**3 / mp.sin(r) if r else 0)),
    Polynomial("cos", "double", positive(lambda r: (mp.cos(r) - 1) / r**2 if r else -mp.mpf(1) / 2),
               0, 0.7855**2, 3, positive(lambda r: r**2 / mp.cos(r))),
    Polynomial("atan", "double", positive(lambda x: (mp.atan(x) / x - 1) / x**2 if x else -mp.mpf(1) / 3), 0, 1, 8,
               positive(lambda x: x**3 / mp.atan(x) if x else 0)),
    Polynomial("pow_log2", "double", positive(lambda s: 2 * mp.atanh(s) / s / mp.log(2) if s else 2 / mp.log(2)),
               0, (S * 1.0001)**2, 5, positive(lambda s: s / (2 * mp.atanh(s)) if s else 1)),
    Polynomial("pow_exp2", "double", exp2_tail, -0.5, 0.5, 6,
               lambda r: r / 2**r),
]

if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    for p in POLYNOMIALS:
        if wanted and p.name not in wanted:
            continue
        coefficients, error = fit(p)
        suffix = "f" if p.type == "float" else ""
        print(f"{p.name} ({p.type}), degree {p.degree}, error 2^{float(mp.log(error, 2)):.1f}")
        print("  " + ", ".join(float(c).hex().replace("0000000p", "p") + suffix for c in coefficients))
