"""Coordinates by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, cast, overload

import numpy as np
from numpy.typing import NDArray

from ._errors import Error

Index = int | slice


class Names(Sequence[str]):
    """The names of a model's coordinates, or of a figure's actuators, in order.

    ``names["elbow"]`` is where a joint is: a number, or a slice if it has several.
    """

    __slots__ = ("_index", "_joints", "_kind", "_model", "_names")

    def __init__(self, names: Sequence[str], joints: Mapping[str, tuple[int, int]], model: str, kind: str = "coordinate") -> None:
        self._names = tuple(names)
        self._joints = dict(joints)
        self._model = model
        self._kind = kind
        self._index: dict[str, Index] = {name: i for i, name in enumerate(names)}
        for joint, (first, last) in joints.items():
            if last > first:
                self._index.setdefault(joint, first if last == first + 1 else slice(first, last))

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[str]: ...
    def __getitem__(self, key: int | str | slice) -> Any:
        return self.where(key) if isinstance(key, str) else self._names[key]

    def where(self, name: str) -> Index:
        """The number of a coordinate, or the slice of a joint with several."""
        found = self._index.get(name)
        if found is not None:
            return found
        if name in self._joints:
            raise Error(f"joint '{name}' of {self._model} has no independent coordinate: it is fixed, or follows others")
        near = difflib.get_close_matches(name, self._index, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        known = ", ".join(self._names[:40]) + (", ..." if len(self._names) > 40 else "")
        raise Error(f"{self._model} has no {self._kind} '{name}'{hint}\n  known: {known}")

    def where_all(self, names: Sequence[str]) -> list[int]:
        """The numbers of the coordinates of several joints, in this order."""
        return [i for name in names for i in np.arange(len(self))[np.s_[self.where(name)]].reshape(-1).tolist()]

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def index(self, value: str, start: SupportsIndex = 0, stop: SupportsIndex | None = None) -> int:
        """The number of the coordinate of this name."""
        last = len(self._names) if stop is None else int(stop)
        return self._names.index(value, int(start), last)

    def __repr__(self) -> str:
        return f"Names({list(self._names)!r})"


class NamedArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array whose last axis has names: ``q["elbow"]``, ``q["elbow"] = 1.5``, ``q[..., "elbow"]``, ``q[["hip", "knee"]]``."""

    names: Names | None

    def __array_finalize__(self, obj: Any) -> None:
        names = getattr(obj, "names", None)
        self.names = names if names is not None and self.ndim > 0 and self.shape[-1] == len(names) else None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if return_scalar or array.ndim == 0:
            return array[()]
        return super().__array_wrap__(array, context)

    def _key(self, key: Any) -> Any:
        name = key[-1] if isinstance(key, tuple) and key else key
        several = isinstance(name, list) and bool(name) and all(isinstance(n, str) for n in name)
        if not several and not isinstance(name, str):
            return key
        if self.names is None:
            raise Error(f"'{name}': this array is a part of one with names, and has none of its own")
        where = self.names.where_all(name) if several else self.names.where(name)
        return (*key[:-1], where) if isinstance(key, tuple) else (..., where)

    def __getitem__(self, key: Any) -> Any:
        where = self._key(key)
        found = super().__getitem__(where)
        if where is not key and isinstance(found, np.ndarray) and found.ndim == 0:
            return found[()]
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._key(key), value)

    def __reduce__(self) -> Any:
        return (_restored, (np.asarray(self), self.names))


def named(array: NDArray[np.float64], names: Names | None) -> NamedArray:
    """A view of an array with names for its last axis."""
    out = cast(NamedArray, np.asarray(array).view(NamedArray))
    if names is not None and (out.ndim == 0 or out.shape[-1] != len(names)):
        raise Error(f"an array of shape {out.shape} cannot have {len(names)} names")
    out.names = names
    return out


def _restored(array: NDArray[np.float64], names: Names | None) -> NamedArray:
    return named(array, names)
