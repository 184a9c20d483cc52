"""The `kansetsu` command as Python data: requests, replies, diagnostics, and how to run it.

The binary is named by KANSETSU_BIN, the folder of foreign models by KANSETSU_DATA_DIR.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

OK, USAGE, BAD_FILE, NUMERICAL, PARTIAL = 0, 2, 3, 4, 5  # exit codes
GRAVITY = (0.0, 0.0, -9.81)
BASE_DOFS = tuple(f"base.{part}_{axis}" for part in ("omega", "v") for axis in "xyz")
TIMEOUT_S = 120


# --- requests -------------------------------------------------------------------------------------

@dataclass
class Base:
    """Pose of the base in the world; velocity, acceleration and wrench in base axes. None: left out."""

    p: list[float] | None = None
    quat_xyzw: list[float] | None = None
    omega: list[float] | None = None
    v: list[float] | None = None
    alpha: list[float] | None = None
    a: list[float] | None = None
    tau: list[float] | None = None  # [torque, force]


@dataclass
class State:
    base: Base | None = None
    q: dict[str, float] = field(default_factory=dict)
    v: dict[str, float] = field(default_factory=dict)
    a: dict[str, float] = field(default_factory=dict)
    tau: dict[str, float] = field(default_factory=dict)
    fext: dict[str, list[float]] = field(default_factory=dict)  # link -> [torque, force at its origin], world axes


@dataclass
class Request:
    compute: list[str]
    states: list[State]
    gravity: tuple[float, float, float] = GRAVITY

    def to_json(self) -> str:
        return json.dumps(_without_none(asdict(self)))


def _without_none(value):
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value


# --- replies --------------------------------------------------------------------------------------

@dataclass
class Reply:
    nq: int
    nv: int
    dofs: list[str]  # the order of every vector and matrix in results
    results: list[dict]

    @staticmethod
    def from_json(text: str) -> Reply:
        return Reply(**json.loads(text, parse_constant=_refuse_constant))


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not JSON")


@dataclass
class Diagnostic:
    severity: str
    code: str
    file: str
    line: int
    path: str
    message: str
    hint: str
    partial: bool


@dataclass
class CheckReport:
    exit_code: int
    ok: bool
    diagnostics: list[Diagnostic]

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity == "warning"]


# --- running it -----------------------------------------------------------------------------------

@dataclass
class Run:
    exit_code: int
    stdout: str
    stderr: str


def run(*arguments: str | Path, stdin: str = "") -> Run:
    """Runs `kansetsu ARGUMENTS`; a death by signal is a failure, whatever the caller expects."""
    binary = os.environ.get("KANSETSU_BIN")
    if not binary:
        pytest.skip("KANSETSU_BIN is not set: name the kansetsu binary to test")
    done = subprocess.run([binary, *map(str, arguments)], input=stdin.encode(), capture_output=True, timeout=TIMEOUT_S)
    result = Run(done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace"))
    assert result.exit_code in (OK, USAGE, BAD_FILE, NUMERICAL, PARTIAL), f"crash? {result}"
    return result


@functools.cache
def has_viewer() -> bool:
    """Whether the command carries the viewer's page: it is built without where Node or its packages are missing."""
    return "without the viewer" not in run("view", "human28", "--html", "/dev/null").stderr


def needs_viewer():
    """Skips the test that calls it where the command has no viewer."""
    if not has_viewer():
        pytest.skip("built without the viewer")


def check(model: Path, *arguments: str) -> CheckReport:
    result = run("check", model, "--json", *arguments)
    report = json.loads(result.stdout)
    return CheckReport(result.exit_code, report["ok"], [Diagnostic(**d) for d in report["diagnostics"]])


def evaluate(model: Path, request: Request, base: str = "fixed", exit_code: int = OK) -> Reply:
    """Runs `kansetsu eval` by files and demands the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        request_file, reply_file = Path(folder, "request.json"), Path(folder, "reply.json")
        request_file.write_text(request.to_json())
        result = run("eval", model, "--base", base, "--in", request_file, "--out", reply_file)
        assert result.exit_code == exit_code, result.stderr
        return Reply.from_json(reply_file.read_text())


def evaluate_as_is(model: str, request: Request) -> Reply:
    """Runs `kansetsu eval` with the base as the file says."""
    result = run("eval", model, stdin=request.to_json())
    assert result.exit_code == OK, result.stderr
    return Reply.from_json(result.stdout)


# --- models made by others ------------------------------------------------------------------------

def data_files(pattern: str) -> list:
    """Files below KANSETSU_DATA_DIR as test parameters; one skipped parameter where the folder is not set."""
    folder = os.environ.get("KANSETSU_DATA_DIR")
    if not folder:
        return [pytest.param(None, marks=pytest.mark.skip("KANSETSU_DATA_DIR is not set: no models to test with"))]
    found = sorted(Path(folder).glob(pattern))
    assert found, f"no file matches {pattern} in {folder}"
    return [pytest.param(path, id=_model_name(path)) for path in found]


def _model_name(path: Path) -> str:
    return path.parent.name if path.stem == "robot" else path.stem
