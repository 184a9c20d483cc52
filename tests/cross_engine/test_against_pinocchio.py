"""Every quantity of `kansetsu eval` agrees with Pinocchio on robots made by others, base fixed and free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
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


def amplified(reference: dict) -> float:
    """What M⁻¹ makes of rounding in ∂τ/∂q, 1e-12 of its largest entry, relative to ∂v̇/∂q. Above 1e-9 only where links are as
    light as the rods of digit_like, whose M⁻¹ has entries of 2e7."""
    largest = lambda matrix: float(np.abs(np.asarray(matrix)).max(initial=0.0))  # noqa: E731
    forward, inverse = reference["aba_derivatives"], reference["rnea_derivatives"]
    return 1e-12 * largest(forward["dtau"]) * largest(inverse["dq"]) / max(1.0, largest(forward["dq"]))


def compare(case: Case, states: list[State], reply: Reply, names: list[str]) -> None:
    print(f"seed {case.seed}")
    for index, (state, result) in enumerate(zip(states, reply.results, strict=True)):
        reference = case.oracle.evaluate(state, reply.dofs, names)
        for name in names:
            tolerance = max(case.tolerance(name), amplified(reference) if name == "aba_derivatives" else 0.0)
            assert_close(result[name], reference[name], tolerance, f"state {index}: {name}")


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
