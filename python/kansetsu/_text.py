"""What objects of the extension say of themselves: their numbers, where these tell them apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import Error

LONGEST = 16
"""Numbers of an array that are written out; of a longer one its shape is."""


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > LONGEST:
        return f"array{value.shape}".replace(",)", ")")
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ").replace("\n", "")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, dict, tuple)) and len(value) > 4:
        return f"{len(value)} {'keys' if isinstance(value, dict) else 'items'}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def describe(self: object) -> str:
    """Its class and properties."""
    parts = []
    properties = [name for name, kept in vars(type(self)).items() if isinstance(kept, property)]
    for name in [*getattr(type(self), "__slots__", ()), *properties]:
        if name.startswith("_"):
            continue
        try:
            parts.append(f"{name}={_short(getattr(self, name))}")
        except Error:  # as of a world that is at work in another thread
            continue
    return f"<{type(self).__name__}{': ' if parts else ''}{', '.join(parts)}>"
