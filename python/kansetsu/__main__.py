"""python -m kansetsu: the command, as it came with the package."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from ._command import command


def main() -> NoReturn:
    """Runs the command with the arguments of this process; `demo` and `rollout` are ours."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["demo"]:
        from ._demo import demo

        raise SystemExit(demo(arguments[1:]))
    if arguments[:1] == ["rollout"]:
        from .rollouts import main as rollout

        raise SystemExit(rollout(arguments[1:]))
    program = command()
    if not program.exists():
        raise SystemExit(f"kansetsu: the command is missing from this installation: {program}")
    if os.name == "posix":
        os.execv(program, ["kansetsu", *arguments])
    raise SystemExit(subprocess.call([program, *arguments]))


if __name__ == "__main__":
    main()
