"""How near a model's mass matrix comes to being singular, and by which dofs."""

from __future__ import annotations

import numpy as np
from kansetsu_protocol import State
from pin_oracle import PinOracle

ZERO = 1e-12  # of a mass matrix scaled to unit diagonal: far above rounding, far below the robots tested (> 1e-6)


def smallest_eigenvalue(oracle: PinOracle, states: list[State]) -> float:
    """Of the mass matrix scaled to unit diagonal, over all of the states; zero if singular in one of them."""
    return min(_smallest_eigenvalue(_mass_matrix(oracle, state)) for state in states)


def dofs_without_inertia(oracle: PinOracle, state: State) -> list[str]:
    """Dofs with which nothing massive moves."""
    diagonal = np.diag(_mass_matrix(oracle, state))
    return [dof for dof, inertia in zip(oracle.dofs, diagonal, strict=True) if inertia <= ZERO]


def _mass_matrix(oracle: PinOracle, state: State) -> np.ndarray:
    return oracle.evaluate(state, oracle.dofs, ["crba"])["crba"]


def _smallest_eigenvalue(M: np.ndarray) -> float:
    diagonal = np.diag(M)
    if diagonal.min() <= ZERO:
        return 0.0
    scale = 1 / np.sqrt(diagonal)
    smallest = np.linalg.eigvalsh(M * np.outer(scale, scale))[0]
    return smallest if smallest > ZERO else 0.0
