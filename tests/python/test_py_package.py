"""The package itself: its types, its examples, its command."""

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kansetsu as ks
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path(ks.__file__).parent
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def run(*arguments, cwd=None, **variables):
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)} | variables
    command = [sys.executable, *map(str, arguments)]
    out = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False, timeout=300)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "RuntimeWarning" not in out.stderr
    return out.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_examples_run(example, tmp_path):
    if example.name == "ppo.py":
        pytest.importorskip("gymnasium")
        assert "reward" in run(example, "--task", "Reach", "--steps", "4096", "--curve", "curve.csv", cwd=tmp_path)
        return
    assert run(example, cwd=tmp_path)


def blocks():
    """Programs shown in the documentation, with what is shown below them as their output."""
    fence = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```$(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [pytest.param(*m.groups(), id=f"{p.name}:{m[1]}") for p in pages for m in fence.finditer(p.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("file", "text", "output"), blocks())
def test_the_documentation_shows_programs_that_run(file, text, output, tmp_path):
    assert text == (ROOT / file).read_text(encoding="utf-8")
    if output is not None:
        assert run(ROOT / file, cwd=tmp_path) == output


NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_run(file, tmp_path):
    """In a kernel of their own; what is shown is a page inside the notebook."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    try:
        ks.World().page()
    except ks.Error:  # the viewer is not built: nothing can be shown
        notebook.cells = [cell for cell in notebook.cells if "show(" not in cell.source]
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code" and ".show(" in cell.source.rstrip().splitlines()[-1] and "if " not in cell.source:
            assert "iframe" in cell.outputs[-1]["data"]["text/html"]


def test_types_hold(tmp_path):
    pytest.importorskip("mypy")
    config = ["--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path]
    run("-m", "mypy", *config, "-p", "kansetsu", cwd=tmp_path, MYPYPATH=str(PACKAGE.parent))
    run("-m", "mypy", *config, *EXAMPLES, cwd=tmp_path, MYPYPATH=str(PACKAGE.parent))


def test_ruff_finds_nothing():
    pytest.importorskip("ruff")
    run("-m", "ruff", "check", ROOT / "python", ROOT / "examples" / "python", ROOT / "tests" / "python", cwd=ROOT)


def test_stubs_say_what_is_there():
    """stubtest compares the stubs with the module at run time."""
    pytest.importorskip("mypy.stubtest")
    command = [sys.executable, "-m", "mypy.stubtest", "kansetsu._core", "--concise"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent)}
    out = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert not out.stderr
    # What it says of every extension made with nanobind, whose functions and classes are kinds of their own.
    usual = ("is not a function", "metaclass differs", "marked with @disjoint_base in the stub", 'have *args parameter "args"')
    usual += ("stub is a staticmethod but runtime is not",)
    assert not [line for line in out.stdout.splitlines() if not line.endswith(usual)]


def test_pyright_finds_nothing():
    """Where it is installed (pip install pyright; it brings a program of its own along)."""
    pyright = shutil.which("pyright", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if pyright is None:
        pytest.skip("no pyright")
    command, environment = [pyright, "--pythonpath", sys.executable, *EXAMPLES], os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    out = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert out.returncode == 0, out.stdout + out.stderr


PARTS = ["kansetsu", "kansetsu.ik", "kansetsu.motion", "kansetsu.bridges", "kansetsu.rollouts", "kansetsu.learning", "kansetsu.ray"]


def said_of(owner, name):
    """What the documentation says of a name, beside the signature that the extension writes above it."""
    thing, kept = getattr(owner, name), inspect.getattr_static(owner, name)
    doc = inspect.getdoc(kept) if isinstance(kept, property) else inspect.getdoc(thing)
    return "\n".join(line for line in (doc or "").splitlines() if not line.startswith((f"{name}(", "(self)", "(arg, /)"))).strip()


@pytest.mark.parametrize("part", PARTS)
def test_every_public_name_is_there_and_explained(part):
    """Functions, classes, and what classes have; attributes of instances are explained where they are set."""
    if part in ("kansetsu.learning", "kansetsu.ray"):
        pytest.importorskip({"kansetsu.learning": "gymnasium", "kansetsu.ray": "ray"}[part])
    module = importlib.import_module(part)
    assert module.__doc__
    silent = []
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing) or not callable(thing):
            continue
        if not said_of(module, name):
            silent.append(name)
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        foreign = {x for base in thing.__mro__ if not base.__module__.startswith("kansetsu") for x in vars(base)}
        for member in set(dir(thing)) - foreign:
            value = inspect.getattr_static(thing, member)
            is_told = callable(value) or isinstance(value, (property, classmethod, staticmethod))
            if not member.startswith("_") and is_told and not said_of(thing, member):
                silent.append(f"{name}.{member}")
    assert not silent, f"without a word: {', '.join(sorted(silent))}"


def test_import_is_quick():
    """Processor time besides that of NumPy, which everyone has."""
    code = "import numpy, time; t = time.process_time(); import kansetsu; print(time.process_time() - t)"
    assert min(float(run("-c", code)) for _ in range(3)) < 0.15


def test_command_and_demo(tmp_path):
    if not (PACKAGE / "bin" / "kansetsu").exists():
        pytest.skip("the command is not built")
    assert "kansetsu" in run("-m", "kansetsu", "--version")
    try:
        ks.World().page()
    except ks.Error as error:
        pytest.skip(str(error))
    out = run("-m", "kansetsu", "demo", cwd=tmp_path)
    assert "hangs" in out
    assert (tmp_path / "kansetsu-demo.html").stat().st_size > 100_000


def test_videos(tmp_path):
    """A film where Chromium and ffmpeg are, a word where they are not; what is no recording is named."""
    world = ks.World.load("human28")
    with world.record(tmp_path / "run.mcap", 30):
        world.advance(0.2)
    for wrong, words in (({"camera": "below"}, "camera"), ({"fps": 0}, "fps")):
        with pytest.raises(ks.Error, match=words):
            ks.video(tmp_path / "run.mcap", tmp_path / "run.gif", **wrong)
    with pytest.raises(ks.Error, match=r"no\.mcap"):
        ks.video(tmp_path / "no.mcap", tmp_path / "run.gif")
    try:
        film = ks.video(tmp_path / "run.mcap", tmp_path / "run.gif", size=(320, 180), fps=10)
    except ks.Error as error:
        pytest.skip(str(error))
    assert film.read_bytes()[:3] == b"GIF"
