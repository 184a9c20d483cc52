#!/usr/bin/env python3
"""Computes the constants of include/kansetsu/spatial/sincos.h (needs mpmath).

Remez exchange in 60 digits for S and C in  sin r = r - r·z·S(z),  cos r = 1 - z/2 + z²·C(z),  z = r²,  |r| ≤ π/4 (plus a
margin for the rounding of the quadrant), least maximal *relative* error of sin and cos. Coefficients are rounded one after
the other, lowest first, and the rest is fitted again, so that the rounded polynomial stays near the best one.
"""
import struct
import mpmath as mp

mp.mp.dps = 60
R = mp.pi / 4 * mp.mpf("1.0001")  # the quadrant is rounded from an inexact product: r may pass π/4 by a little
A, B = mp.mpf("1e-12"), R * R


def f_sin(z):
    r = mp.sqrt(z)
    return (r - mp.sin(r)) / (r * z), z * r / mp.sin(r)  # value, weight


def f_cos(z):
    r = mp.sqrt(z)
    return (mp.cos(r) - 1 + z / 2) / z**2, z**2 / mp.cos(r)


def remez(f, fixed, n):
    """n further coefficients after the fixed ones; returns (coefficients, largest weighted error)."""
    k = len(fixed)
    known = lambda z: sum((c * z**i for i, c in enumerate(fixed)), mp.mpf(0))
    nodes = [(A + B) / 2 - (B - A) / 2 * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / (n + 1)) for i in range(n + 1)]
    grid = [(A + B) / 2 - (B - A) / 2 * mp.cos(mp.pi * i / 600) for i in range(601)]
    for _ in range(30):
        rows, rhs = [], []
        for i, z in enumerate(nodes):
            value, weight = f(z)
            rows.append([z ** (k + j) for j in range(n)] + [(-1) ** i / weight])
            rhs.append(value - known(z))
        c = list(mp.lu_solve(mp.matrix(rows), mp.matrix(rhs)))[:n]

        def error(z):
            value, weight = f(z)
            return weight * (known(z) + sum(c[j] * z ** (k + j) for j in range(n)) - value)

        e = [error(z) for z in grid]
        peaks = []  # largest |e| of each run of one sign
        for z, v in zip(grid, e):
            if peaks and (v > 0) == (peaks[-1][1] > 0):
                if abs(v) > abs(peaks[-1][1]):
                    peaks[-1] = (z, v)
            else:
                peaks.append((z, v))
        while len(peaks) > n + 1:
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        worst = max(abs(v) for v in e)
        if len(peaks) < n + 1 or max(abs(a - b[0]) for a, b in zip(nodes, peaks)) < 1e-30:
            break
        nodes = [z for z, _ in peaks]
    return c, worst


def rounded(x, bits):
    x = mp.mpf(x)
    with mp.workprec(bits):
        return +x


def polynomial(name, f, n, bits):
    fixed = []
    for i in range(n):
        c, _ = remez(f, fixed, n - i)
        fixed.append(rounded(c[0], bits))
    grid = [A + (B - A) * i / 1000 for i in range(1001)]
    worst = max(abs(f(z)[1] * (sum(c * z**i for i, c in enumerate(fixed)) - f(z)[0])) for z in grid)
    show = (lambda c: float(c).hex()) if bits == 53 else (lambda c: float(c).hex() + "f")
    print(f"{name}, {bits} bits: relative error {mp.nstr(worst, 3)} = 2^{mp.nstr(mp.log(worst, 2), 4)}")
    for c in fixed:
        print("   ", show(c), mp.nstr(c, 20))


def split(parts, bits):
    """π/2 as a sum: leading parts of few bits (truncated), the last one rounded to full precision."""
    rest = mp.pi / 2
    print(f"π/2 in parts of {parts} bits")
    for p in parts[:-1]:
        with mp.workprec(400):
            e = int(mp.floor(mp.log(rest, 2)))
            unit = mp.mpf(2) ** (e - p + 1)
            c = mp.floor(rest / unit) * unit
            rest -= c
        print("   ", float(c).hex())
    c = rounded(rest, bits)
    print("   ", float(c).hex(), " left over", mp.nstr(mp.pi / 2 * 0 + rest - c, 3))


for name, f in (("S", f_sin), ("C", f_cos)):
    polynomial(name, f, 6, 53)
    polynomial(name, f, 3, 24)
mp.mp.dps = 100
split([33, 33, 53], 53)
split([11, 11, 11, 24], 24)
split([53, 33, 53], 53)  # with a fused multiply-add
split([23, 11, 24], 24)
print("2/π", float(2 / mp.pi).hex(), float(rounded(2 / mp.pi, 24)).hex())
