"""`kansetsu convert` from URDF to URDF loses nothing: a copy of the copy is the same file and computes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from comparison import assert_close
from kansetsu_protocol import OK, Request, data_files, evaluate, run
from pin_oracle import PinOracle
from random_states import random_states

SEED = 3
ROUNDING = 1e-12  # relative; numbers are written so that they are read back exactly, only frames may be recomposed


def converted(source: Path, target: Path) -> Path:
    result = run("convert", source, target)
    assert result.exit_code == OK, result.stderr
    return target


@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_second_copy_is_the_first(model: Path, tmp_path: Path):
    first = converted(model, tmp_path / "first.urdf")
    second = converted(first, tmp_path / "second.urdf")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_copy_computes_the_same(model: Path, base: str, tmp_path: Path):
    print(f"seed {SEED}")
    oracle = PinOracle(model, base)
    request = Request(["fk", "energy", "rnea", "crba"], random_states(oracle, count=4, seed=SEED))
    original = evaluate(model, request, base)
    copy = evaluate(converted(model, tmp_path / "copy.urdf"), request, base)
    assert copy.dofs == original.dofs, "the order of joints changed"
    for index, (actual, reference) in enumerate(zip(copy.results, original.results, strict=True)):
        assert_close(actual, reference, ROUNDING, f"state {index}")
