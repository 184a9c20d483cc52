"""Exceptions. All of them are ValueErrors; those of files contain each diagnostic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._core import Diagnostic


class Error(ValueError):
    """Misuse of the API: wrong size, unknown name, a model that does not validate. The text names the values."""

    code: str = ""
    hint: str = ""


class LoadError(Error):
    """A file or description that cannot be used: every problem at once."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics = list(diagnostics)
        first = next((d for d in self.diagnostics if d.severity == "error"), None)
        if first is not None:
            self.code = first.code
            self.hint = first.hint


class SingularError(Error, ArithmeticError):
    """The mass matrix is singular: some coordinate moves no inertia, so its acceleration is undetermined."""

    code = "SINGULAR"
    hint = "give the links of these joints mass, or the joints rotor inertia"


class BusyError(Error, RuntimeError):
    """The object is in use by another thread, or belongs to the parent of a forked process."""

    code = "BUSY"
    hint = "one thread at a time: make a copy for each, or use WorldBatch"


class WorldError(Error, RuntimeError):
    """The world has stopped: its state is no longer finite."""

    code = "WORLD"
    hint = "restore a snapshot, take a smaller time step, or weaker gains"


class FileWarning(UserWarning):
    """Warnings about a file that can still be used."""


class PartialModelWarning(FileWarning):
    """The model is partial: an unsupported part of the file affects its motion."""
