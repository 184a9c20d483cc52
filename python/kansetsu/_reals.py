"""Numbers that Python code of the package is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import Error


def reals(function: str, name: str, value: ArrayLike) -> NDArray[np.float64]:
    """As float64: real and finite. Texts, objects and complex numbers are refused, as the extension does."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{function}: {name} has dtype {array.dtype}, expected real numbers (float64)")
    out: NDArray[np.float64] = array.astype(np.float64, copy=False)
    if not np.isfinite(out).all():
        first = tuple(np.argwhere(~np.isfinite(out))[0].tolist())
        at = f"[{', '.join(map(str, first))}]" if first else ""
        raise Error(f"{function}: {name}{at} is {out[first]}, expected a finite number")
    return out
