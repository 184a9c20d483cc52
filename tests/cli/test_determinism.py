"""The table of docs/guide/determinism.md, as far as it can be seen from the command: the same bits from one program run in different ways.

Nothing is compared with stored numbers: a change of the mechanics changes the bits of all ways alike.
KANSETSU_OTHER_BIN names the same version built by another compiler.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from kansetsu_protocol import OK

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")
OTHER = os.environ.get("KANSETSU_OTHER_BIN")
SCENES = sorted((ROOT / "examples/scenes").glob("*.toml"))
SETS = ["baseline", "avx2", "avx512"]
DURATION = 0.25  # [s] hundreds of steps: long enough for the first bit that differs to spread
each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)


@functools.cache
def processor() -> str:
    """The widest set of this processor."""
    flags = Path("/proc/cpuinfo").read_text()
    return "avx512" if "avx512dq" in flags else "avx2" if "avx2" in flags else "baseline"


def needs(name: str):
    if SETS.index(name) > SETS.index(processor()):
        pytest.skip(f"this processor has no {name}")


@functools.cache
def bits(scene: str, instructions: str, threads: int = 1, binary: str = str(BIN)) -> str:
    """The hash of all states after a while."""
    with tempfile.TemporaryDirectory() as folder:  # of its own: some scenes record, and a second writer is refused
        done = subprocess.run([binary, "simulate", scene, "--duration", str(DURATION), "--threads", str(threads), "--json"],
                              env={**os.environ, "KANSETSU_ISA": instructions}, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)["hash"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@each_scene
@pytest.mark.parametrize("instructions", SETS)
def test_threads_do_not_change_a_bit(scene: Path, instructions: str):
    needs(instructions)
    assert len({bits(str(scene), instructions, threads) for threads in (1, 2, 4)}) == 1


@each_scene
def test_avx2_and_avx512_have_the_same_bits(scene: Path):
    needs("avx512")
    assert bits(str(scene), "avx2") == bits(str(scene), "avx512")


@pytest.mark.parametrize(("emulated", "instructions"), [("Nehalem", "baseline"), ("Haswell", "avx2")])
@pytest.mark.parametrize("name", ["arm", "four_bar", "pinch"])  # motors, a loop, contacts; seconds each
def test_processors_of_one_set_have_the_same_bits(name: str, emulated: str, instructions: str, tmp_path: Path):
    """An emulator computes with integers what this processor computes by its own circuits, and stands for one of another maker."""
    needs(instructions)
    emulator = shutil.which("qemu-x86_64")
    if not emulator or b"__asan_init" in BIN.read_bytes():
        pytest.skip("no emulator, or a build that it cannot run")
    hashes = [json.loads(subprocess.run([*before, BIN, "simulate", ROOT / f"examples/scenes/{name}.toml", "--duration", "0.02", "--json"], env={**os.environ, **chosen}, cwd=tmp_path,
                                        capture_output=True, text=True, timeout=300, check=True).stdout)["hash"]
              for before, chosen in (([], {"KANSETSU_ISA": instructions}), ([emulator, "-cpu", emulated], {}))]
    assert hashes[0] == hashes[1]


@each_scene
@pytest.mark.parametrize("instructions", SETS)
def test_compilers_do_not_change_a_bit(scene: Path, instructions: str):
    needs(instructions)
    if not OTHER:
        pytest.skip("KANSETSU_OTHER_BIN is not set")
    other = {bits(str(scene), instructions, threads, OTHER) for threads in (1, 2, 4)}
    assert other == {bits(str(scene), instructions)}


# --- quantities of single states ------------------------------------------------------------------

QUANTITIES = ["fk", "com", "energy", "rnea", "crba", "aba", "centroidal", "rnea_derivatives"]
FIGURES = ["human28", "human28_ball", "chain64", "pendulum"]


@functools.cache
def states_of(figure: str, quantities: tuple[str, ...]) -> str:
    """Three states without order: coordinates by name, from a formula."""
    report = json.loads(subprocess.run([BIN, "info", figure, "--json"], capture_output=True, text=True, check=True).stdout)
    names = [j["name"] for j in report["joints"] if j.get("nv", 1) == 1]
    return json.dumps({"compute": quantities, "states": [
        {"q": {n: ((7 * i + 3 * k) % 11 - 5) / 7 for i, n in enumerate(names)}, "v": {n: ((5 * i + k) % 13 - 6) / 3 for i, n in enumerate(names)},
         "tau": {n: ((3 * i + k) % 7 - 3) * 1.1 for i, n in enumerate(names)}} for k in range(3)]})


@functools.cache
def answers(figure: str, instructions: str, binary: str = str(BIN), quantities: tuple[str, ...] = tuple(QUANTITIES)) -> str:
    """With all digits: numbers are written so that they are read back as the same bits."""
    done = subprocess.run([binary, "eval", figure], input=states_of(figure, quantities), env={**os.environ, "KANSETSU_ISA": instructions},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == OK, done.stderr
    return done.stdout


@pytest.mark.parametrize("figure", FIGURES)
def test_single_states_have_the_same_bits_in_avx2_and_avx512(figure: str):
    needs("avx512")
    assert answers(figure, "avx2") == answers(figure, "avx512")


def test_derivatives_of_forward_dynamics_agree_to_rounding():
    """The inverse mass matrix is computed on one side of the diagonal and mirrored, in blocks as wide as a register."""
    needs("avx512")
    one, other = (json.loads(answers("human28", i, quantities=("aba_derivatives",)))["results"] for i in ("avx2", "avx512"))
    for a, b in zip(one, other, strict=True):
        for part in ("dq", "dv", "dtau"):
            x, y = (sum(m["aba_derivatives"][part], []) for m in (a, b))
            scale = max(map(abs, x))
            assert max(abs(p - q) for p, q in zip(x, y, strict=True)) < 1e-13 * scale  # hundreds of roundings


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("instructions", SETS)
def test_single_states_have_the_same_bits_from_either_compiler(figure: str, instructions: str):
    needs(instructions)
    if not OTHER:
        pytest.skip("KANSETSU_OTHER_BIN is not set")
    assert answers(figure, instructions) == answers(figure, instructions, OTHER)
