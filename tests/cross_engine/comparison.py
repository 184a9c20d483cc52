"""Comparison of a reply with its reference: within 1e-9 of the larger of 1 and the reference's largest entry."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-9  # demanded of the product: a thousand times the rounding of a long chain, far below any wrong term


def assert_close(actual, reference, tolerance: float = TOLERANCE, where: str = "") -> None:
    """Walks dictionaries by key; leaves are numbers, vectors or matrices."""
    if isinstance(reference, dict):
        assert set(actual) == set(reference), where
        for key in reference:
            assert_close(_same_sign(key, actual[key], reference[key]), reference[key], tolerance, f"{where}/{key}")
        return
    actual, reference = np.asarray(actual, float), np.asarray(reference, float)
    assert actual.shape == reference.shape, f"{where}: shape {actual.shape}, expected {reference.shape}"
    if reference.size == 0:
        return
    error = np.abs(actual - reference).max()
    scale = max(1.0, np.abs(reference).max())
    assert error <= tolerance * scale, f"{where}: off by {error:.3g}, allowed {tolerance * scale:.3g}"


def _same_sign(key: str, actual, reference):
    """q and -q are the same rotation."""
    if key != "quat_xyzw":
        return actual
    actual = np.asarray(actual, float)
    return actual if actual @ np.asarray(reference) >= 0 else -actual
