"""Robots by the names of the package robot_descriptions. What its cache does not have is not fetched."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from ._errors import Error


def find(name: str) -> Path:
    """The URDF or MJCF file of a description."""
    try:
        known: dict[str, Any] = importlib.import_module("robot_descriptions._descriptions").DESCRIPTIONS
        repositories: dict[str, Any] = importlib.import_module("robot_descriptions._repositories").REPOSITORIES
    except ImportError as error:
        raise Error(f"load: '{name}' is not a file; names of robots need robot_descriptions: pip install robot_descriptions") from error
    if name not in known:
        near = sorted(k for k in known if name.split("_")[0] in k)
        others = f"; it has {', '.join(near[:9])}" if near else ""
        raise Error(f"load: '{name}' is neither a file nor a name of robot_descriptions{others}")
    cache = Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")).expanduser()
    repository = repositories.get(known[name].repository or "")
    if repository is not None and not (cache / repository.cache_path).is_dir():
        raise Error(f"load: '{name}' is not in the cache of robot_descriptions; fetch it first: python -m robot_descriptions pull {name}")
    module = importlib.import_module(f"robot_descriptions.{name}")
    for kind in ("URDF_PATH", "MJCF_PATH"):
        if hasattr(module, kind):
            return Path(getattr(module, kind))
    raise Error(f"load: '{name}' of robot_descriptions has neither a URDF nor an MJCF file (it may be written in xacro)")
