"""Every quantity of `kansetsu eval` agrees with Pinocchio on robots made by others, base fixed and free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from comparison import TOLERANCE, assert_close
from kansetsu_protocol import Reply, Request, State, data_files, evaluate
from pin_oracle import PinOracle
from random_states import random_states
from singularity import smallest_eigenvalue

ROBOTS = data_files("robots/urdf/*.urdf")
LOOPS = data_files("robots/closed_loop/*/robot.urdf")  # as the trees they are cut into
ALWAYS = ["fk", "energy", "rnea", "crba"]
WITH_MASS = ["com", "centroidal"]  # a massless model has no centre of mass
INVERTS_M = ["aba", "aba_derivatives"]  # see test_singular_models.py for models that have no inverse

each_model = pytest.mark.parametrize("model", ROBOTS + LOOPS)
each_base = pytest.mark.parametrize("base", ["fixed", "free"])


@dataclass
class Case:
    """A model, its random states, and what can be asked of it."""

    oracle: PinOracle
    states: list[State]
    seed: int
    eigenvalue: float  # the smallest of the scaled mass matrix; 0: singular

    @property
    def quantities(self) -> list[str]:
        """All that may carry external forces."""
        names = ALWAYS + _jacobians(self.oracle)
        names += WITH_MASS if self.oracle.mass > 0 else []
        return names + (["aba"] if self.eigenvalue else [])

    @property
    def derivatives(self) -> list[str]:
        return ["rnea_derivatives"] + (["aba_derivatives"] if self.eigenvalue else [])

    def tolerance(self, name: str) -> float:
        """Rounding of M is amplified by its inverse: no double can beat 1e-14 / eigenvalue (5bar_linkage only)."""
        return max(TOLERANCE, 1e-14 / self.eigenvalue) if name in INVERTS_M else TOLERANCE


@cache
def case_of(model: Path, base: str) -> Case:
    seed = crc32(f"{model.parent.name}/{model.name} {base}".encode())
    oracle = PinOracle(model, base)
    states = random_states(oracle, count=6 if "closed_loop" in model.parts else 20, seed=seed)
    return Case(oracle, states, seed, smallest_eigenvalue(oracle, states))


@cache
def reply_of(model: Path, base: str) -> Reply:
    case = case_of(model, base)
    return evaluate(model, Request(case.quantities, case.states), base)


def _jacobians(oracle: PinOracle) -> list[str]:
    """Of the first, a middle and the last link."""
    links = oracle.links
    return [f"jacobian:{link}" for link in dict.fromkeys([links[0], links[len(links) // 2], links[-1]])]


def compare(case: Case, states: list[State], reply: Reply, names: list[str]) -> None:
    print(f"seed {case.seed}")
    for index, (state, result) in enumerate(zip(states, reply.results, strict=True)):
        reference = case.oracle.evaluate(state, reply.dofs, names)
        for name in names:
            assert_close(result[name], reference[name], case.tolerance(name), f"state {index}: {name}")


@each_base
@each_model
def test_dofs(model: Path, base: str):
    reply = reply_of(model, base)
    assert sorted(reply.dofs) == sorted(case_of(model, base).oracle.dofs)
    assert (reply.nq, reply.nv) == (len(reply.dofs) + (base == "free"), len(reply.dofs))


@pytest.mark.parametrize("quantity", [*ALWAYS, *WITH_MASS, "jacobian", "aba"])
@each_base
@each_model
def test_quantity(model: Path, base: str, quantity: str):
    case = case_of(model, base)
    names = [name for name in case.quantities if name.split(":")[0] == quantity]
    compare(case, case.states, reply_of(model, base), names)


@each_base
@each_model
def test_derivatives(model: Path, base: str):
    case = case_of(model, base)
    states = [state for state in case.states if not state.fext]
    reply = evaluate(model, Request(case.derivatives, states), base)
    compare(case, states, reply, case.derivatives)
