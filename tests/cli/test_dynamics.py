"""`kansetsu dynamics`: every method gives the accelerations of the articulated-body algorithm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

FOUR_BAR = os.path.join(os.path.dirname(__file__), "../../examples/scenes/four_bar.toml")


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([os.environ["KANSETSU_BIN"], "dynamics", *arguments], capture_output=True, encoding="utf-8", check=False, timeout=60)


@pytest.mark.parametrize("method", ["aba", "serial", "assembly", "segments"])
def test_methods_agree(method: str):
    found = [json.loads(run("chain600", "--method", m, "--json", "--repeat", "2").stdout) for m in ("aba", method)]
    largest = max(abs(x) for x in found[0]["vdot"])
    assert found[1]["method"] == method and found[1]["nv"] == 600
    assert found[1]["difference_from_aba"] < 1e-8  # of a chain of 600 links
    assert max(abs(a - b) for a, b in zip(found[0]["vdot"], found[1]["vdot"])) < 1e-8 * largest


def test_threads_change_no_bit():
    one, two = (json.loads(run("chain600", "--method", "assembly", "--threads", n, "--json", "--repeat", "2").stdout)["vdot"] for n in "12")
    assert one == two


def test_the_table_says_what_was_done():
    text = run("human28", "--method", "serial", "--repeat", "1").stdout
    assert "serial" in text and "34 coordinates" in text and "difference from aba" in text


@pytest.mark.parametrize("arguments, words", [
    (("human28", "--method", "segments"), "--method aba takes every model"),
    (("human28", "--method", "magic"), "magic"),
    (("human28", "--threads", "0"), "threads"),
])
def test_what_does_not_go_is_said(arguments: tuple[str, ...], words: str):
    reply = run(*arguments)
    assert reply.returncode != 0 and reply.stdout == "" and words in reply.stderr


def test_rings_by_assembly():
    found = [json.loads(run("rope60", "--ring", "--method", m, "--json", "--repeat", "1").stdout) for m in ("serial", "assembly")]
    largest = max(abs(x) for x in found[0]["vdot"])
    assert [f["loops"] for f in found] == [1, 1] and found[1]["difference_from_serial"] < 1e-9  # refined, another order
    assert max(abs(a - b) for a, b in zip(found[0]["vdot"], found[1]["vdot"])) < 1e-9 * largest
    reply = run("rope60", "--ring", "--method", "aba")
    assert reply.returncode != 0 and "does not support loops" in reply.stderr


def test_loops_of_a_scene_hold():
    found = json.loads(run(FOUR_BAR, "--method", "assembly", "--json", "--repeat", "1").stdout)
    assert found["loops"] == 1 and found["difference_from_serial"] < 1e-9  # another order


SHARED_OUT = [("chain40",), ("chain40", "--ring"), ("rope40", "--ring"), ("tree300",), ("human28_ball",)]


@pytest.mark.parametrize(("figure", "ranks"), [(f, n) for f in SHARED_OUT for n in (1, 2, 4)] + [((FOUR_BAR,), n) for n in (1, 2, 3)])
def test_processes_of_mpi_find_what_one_does(figure: tuple[str, ...], ranks: int):
    """Built with KANSETSU_MPI; one machine, any number of cores. More bases, gears and loops: processes_test.cc."""
    if not shutil.which("mpirun") or "--processes" not in run("--help").stdout:
        pytest.skip("the command is built without MPI")
    arguments = [*figure, "--method", "assembly", "--processes", "--json", "--repeat", "2"]
    one = json.loads(run(*arguments).stdout)
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
    several = subprocess.run([*mpirun, os.environ["KANSETSU_BIN"], "dynamics", *arguments], capture_output=True, encoding="utf-8", check=True,
                             timeout=120)
    found = json.loads(several.stdout)
    largest = max(abs(x) for x in one["vdot"])
    assert (one["processes"], found["processes"]) == (1, ranks)
    assert max(abs(a - b) for a, b in zip(one["vdot"], found["vdot"])) < 1e-12 * largest  # rounding: another order of elimination
