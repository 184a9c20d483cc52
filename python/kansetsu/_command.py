"""The command that comes with the package."""

from pathlib import Path


def command() -> Path:
    """The kansetsu command of this package."""
    return Path(__file__).parent / "bin" / "kansetsu"
