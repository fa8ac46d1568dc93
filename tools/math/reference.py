#!/usr/bin/env python3
"""Writes argand/kernels/math/reference_test.h: values of rare functions, computed by mpmath in 40 digits and rounded once.

Needs mpmath.  Usage: reference.py > argand/kernels/math/reference_test.h && clang-format-14 -i argand/kernels/math/reference_test.h
"""
import mpmath as mp

mp.mp.dps = 40

NEAR = [0.01, 0.3, 0.75, 1.0, 1.25, 1.9, 2.1, 3.7, 5.5, 8.2]
FAR = [11.5, 17.0, 29.5, 30.5, 48.0, 51.0, 77.0, 120.0, 333.0]
POSITIVE = [1e-9, 1e-4, *NEAR, *FAR]
BOTH = sorted([-x for x in NEAR + FAR] + [0.0, *NEAR, *FAR])


def normal_cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def quantile(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1) if p > 1e-12 else mp.findroot(lambda x: mp.log(normal_cdf(x)) - mp.log(p), -mp.sqrt(-2 * mp.log(p)))


ONE = {
    "airy_ai": (mp.airyai, [-4000.5, -333.3, -40.2, -17.5, -12.3, -9.1, -8.9, -7.7, -6.1, -5.0, -4.4, -3.1, -2.9, -1.6, -0.7, 0.0, 0.4, 0.9, 1.1, 1.7,
                            2.5, 4.0, 7.5, 15.0, 40.0, 99.0]),
    "bessel_i0": (lambda x: mp.besseli(0, x), BOTH), "bessel_i1": (lambda x: mp.besseli(1, x), BOTH),
    "bessel_i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), BOTH), "bessel_i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), BOTH),
    "bessel_k0": (lambda x: mp.besselk(0, x), POSITIVE), "bessel_k1": (lambda x: mp.besselk(1, x), POSITIVE),
    "bessel_k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), POSITIVE), "bessel_k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), POSITIVE),
    "erfcx": (erfcx, [-5.0, -2.2, -1.0, -0.3, 0.0, *NEAR, *FAR, 1e7, 3e9]),
    "log_normal_cdf": (lambda x: mp.log(normal_cdf(x)), [-300.0, -40.0, -14.0, -5.0, -2.0, -1.1, -0.9, -0.2, 0.0, 0.5, 1.5, 4.0, 7.0]),
    "normal_quantile": (quantile, [1e-300, 1e-100, 1e-30, 1e-9, 1e-3, 0.05, 0.099, 0.11, 0.3, 0.499, 0.6, 0.85, 0.95, 0.9999]),
    "spherical_bessel_j0": (lambda x: mp.sin(x) / x if x else mp.mpf(1), [-7.5, -1.0, 0.0, 1e-5, 0.4, 2.0, 9.3]),
    "lgamma": (mp.loggamma, [x for x in POSITIVE if abs(x - 1) > 0.1 and abs(x - 2) > 0.2]),
    "erfinv": (mp.erfinv, [-0.9999, -0.95, -0.6, -0.2, -1e-5, 1e-9, 0.1, 0.4, 0.7, 0.89, 0.92, 0.99, 0.99999, 1 - 1e-10]),
    "digamma": (mp.digamma, [-7.3, -2.6, -0.4, *(x for x in POSITIVE if not 1.2 < x < 1.6)]),
}
SHAPES = [0.02, 0.5, 1.0, 2.3, 7.0, 19.5, 60.0, 300.0]
TWO = {
    "igamma": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), [(a, a * r) for a in SHAPES for r in (0.1, 0.6, 0.95, 1.05, 1.3, 2.5, 6.0)]),
    "igammac": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), [(a, a * r) for a in SHAPES for r in (0.1, 0.6, 0.95, 1.05, 1.3, 2.5, 6.0)]),
    "zeta": (mp.zeta, [(s, q) for s in (1.1, 1.5, 2.0, 3.7, 8.0, 21.0) for q in (0.1, 0.7, 1.0, 2.5, 9.3, 30.0)]),
    "polygamma": (lambda n, x: mp.polygamma(int(n), x), [(n, x) for n in (1.0, 2.0, 3.0, 6.0) for x in (0.2, 1.0, 2.7, 9.5, 25.0)]),
}


def literal(x):
    return repr(float(x)).replace("inf", "INFINITY")


def main():
    print("// Values of rare functions, by tools/math/reference.py: computed in 40 digits and rounded once.")
    print("#pragma once\n\nnamespace argand::math {\n")
    print("struct ReferenceOfOne {\n  double x, value;\n};\nstruct ReferenceOfTwo {\n  double x, y, value;\n};\n")
    for name, (f, points) in ONE.items():
        rows = ", ".join(f"{{{literal(x)}, {literal(f(mp.mpf(x)))}}}" for x in points if abs(f(mp.mpf(x))) < 1.7e308)
        print(f"inline constexpr ReferenceOfOne k_{name}[] = {{{rows}}};")
    for name, (f, points) in TWO.items():
        rows = ", ".join(f"{{{literal(x)}, {literal(y)}, {literal(f(mp.mpf(x), mp.mpf(y)))}}}" for x, y in points)
        print(f"inline constexpr ReferenceOfTwo k_{name}[] = {{{rows}}};")
    print("\n}  // namespace argand::math")


if __name__ == "__main__":
    main()
