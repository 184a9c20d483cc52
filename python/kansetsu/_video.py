"""Films of recordings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ._command import command
from ._errors import Error


def video(
    recording: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    start: float | None = None,
    stop: float | None = None,
    camera: str = "angle",
) -> Path:
    """A video of a recording (.mcap): .mp4, .webm or .gif, by Chromium and ffmpeg, which have to be installed.

    start, stop: the part that is shown [s]; camera: "angle", "front", "side" or "top". Returns the file.

    >>> with world.record("run.mcap"):
    ...     world.advance(5.0)
    >>> ks.video("run.mcap", "run.mp4", camera="side")
    """
    line: list[str | Path]
    program = command()
    if not program.exists():
        raise Error(f"video: the command is missing from this installation: {program}")
    width, height = size
    line = [program, "view", Path(recording), "--video", Path(out), "--size", f"{width}x{height}", "--camera", camera, "--fps", f"{fps:g}"]
    for option, value in (("--from", start), ("--to", stop)):
        if value is not None:
            line += [option, f"{value:g}"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(f"video: {(done.stderr or done.stdout).strip()}")
    return Path(out)
