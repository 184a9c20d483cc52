"""Recordings, read back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Model
from ._errors import Error
from ._names import NamedArray, named

if TYPE_CHECKING:
    import pandas

    from ._show import View


class Recording:
    """A recording: states of all figures and recorded numbers, frame by frame.

    >>> run = ks.read("run.mcap")
    >>> run.q("robot")[:, "elbow"]
    >>> run.to_pandas()
    """

    def __init__(self, data: _core.RecordingData) -> None:
        self._data = data
        self.times: NDArray[np.float64] = data.times
        self.figures: list[str] = data.figures
        self._models: dict[str, Model] = {}

    def model(self, figure: str | None = None) -> Model:
        """The model of a figure; recordings carry theirs."""
        name = self._figure(figure)
        if name not in self._models:
            self._models[name] = self._data.model(name)
        return self._models[name]

    def q(self, figure: str | None = None) -> NamedArray:
        """Positions of a figure: (frames, nq), also by name. The figure may be omitted if there is only one."""
        return named(self._data.q(self._figure(figure)), self.model(figure).coordinates)

    def v(self, figure: str | None = None) -> NamedArray:
        """Velocities of a figure: (frames, nv)."""
        return named(self._data.v(self._figure(figure)), self.model(figure).dofs)

    @property
    def numbers(self) -> dict[str, NDArray[np.float64]]:
        """Recorded numbers by name: energies, torques, powers, sensors."""
        columns = self._data.numbers
        return {name: columns[:, i] for i, name in enumerate(self._data.number_names)}

    @property
    def contacts(self) -> NDArray[np.void]:
        """Forces of all contacts of all frames (kansetsu.RECORDED_CONTACT)."""
        return self._data.contacts

    @property
    def events(self) -> list[tuple[float, str]]:
        """Time and text of events."""
        return self._data.events

    @property
    def notes(self) -> dict[str, str]:
        """Free text by key."""
        return self._data.notes

    @property
    def complete(self) -> bool:
        """False if the file is truncated; the recording then has the frames that could be read."""
        return self._data.complete

    def to_pandas(self) -> pandas.DataFrame:
        """One row per frame, by time: FIGURE/q/NAME, FIGURE/v/NAME, and the numbers. Needs pandas."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from missing
        columns: dict[str, Any] = {}
        for figure in self.figures:
            for kind, array in (("q", self.q(figure)), ("v", self.v(figure))):
                for i, name in enumerate(array.names or ()):
                    columns[f"{figure}/{kind}/{name}"] = np.asarray(array)[:, i]
        columns.update(self.numbers)
        return pandas.DataFrame(columns, index=pandas.Index(self.times, name="time"))

    def page(self, title: str = "kansetsu") -> bytes:
        """A self-contained HTML page that plays it."""
        return self._data.page(title)

    def show(self, *, title: str = "kansetsu", height: int = 480) -> View:
        """Plays it, inline in a notebook (height in pixels) or in the browser."""
        from ._show import show

        return show(self, title=title, height=height)

    def _figure(self, figure: str | None) -> str:
        if figure is None:
            if len(self.figures) != 1:
                raise Error(f"the recording has {len(self.figures)} figures; name one of {', '.join(self.figures)}")
            return self.figures[0]
        return figure

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        span = f"{self.times[0]:.6g} to {self.times[-1]:.6g} s" if len(self) else "nothing"
        return f"<Recording of {', '.join(self.figures)}: {len(self)} frames, {span}>"


def read(path: str | os.PathLike[str]) -> Recording:
    """Reads an MCAP recording."""
    return Recording(_core.read_recording(path))
