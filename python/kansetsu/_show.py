"""Models, worlds and recordings in the browser, and inside notebooks. Pages need neither server nor network."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from pathlib import Path

from ._core import Model, World
from ._recording import Recording


class View:
    """A page that shows something: a cell of a notebook displays it, `open()` a browser."""

    def __init__(self, page: bytes, height: int) -> None:
        self.page = page
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file."""
        file = Path(path)
        file.write_bytes(self.page)
        return file

    def open(self) -> Path:
        """Shows the page in the browser; the file it is in."""
        with tempfile.NamedTemporaryFile("wb", suffix=".html", prefix="kansetsu-", delete=False) as file:
            file.write(self.page)
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def _repr_html_(self) -> str:
        source = html.escape(self.page.decode(), quote=True)
        return f'<iframe srcdoc="{source}" style="width:100%;height:{self.height}px;border:0" allowfullscreen></iframe>'

    def __repr__(self) -> str:
        return f"<View: a page of {len(self.page) / 1e6:.1f} MB; open() shows it>"


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def show(thing: Model | World | Recording, *, title: str = "kansetsu", height: int = 480) -> View:
    """Shows a model, the current state of a world, or a recording: inline in a notebook, in the browser elsewhere."""
    if not isinstance(thing, Model | World | Recording):
        raise TypeError(f"show: thing is a '{type(thing).__name__}', expected a Model, World or Recording")
    if isinstance(thing, Model):
        world = World()
        world.add(thing, name=thing.name or "model", collides=False)
        page = world.page(title)
    else:
        page = thing.page(title)
    view = View(page, height)
    if not _in_notebook():
        view.open()
    return view
