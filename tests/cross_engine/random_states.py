"""Random states within the limits of a model."""

from __future__ import annotations

import numpy as np
from kansetsu_protocol import Base, State
from pin_oracle import PinOracle


def random_states(oracle: PinOracle, count: int, seed: int) -> list[State]:
    """Every second state has external forces; torques also act on mimic joints, through their gears."""
    rng = np.random.default_rng(seed)
    return [_random_state(oracle, rng, with_forces=bool(i % 2)) for i in range(count)]


def _random_state(oracle: PinOracle, rng: np.random.Generator, with_forces: bool) -> State:
    independent = [name for name in oracle.joints if name not in oracle.couplings]
    state = State(
        base=Base(p=_vector(rng, 3), quat_xyzw=_unit_quaternion(rng)),
        q={name: float(rng.uniform(*oracle.limits(name))) for name in independent},
        v={name: float(rng.uniform(-2, 2)) for name in independent},
        a={name: float(rng.uniform(-5, 5)) for name in independent},
        tau={name: float(rng.uniform(-10, 10)) for name in oracle.joints},
    )
    if oracle.base == "free":
        for part, size in (("omega", 3), ("v", 3), ("alpha", 3), ("a", 3), ("tau", 6)):
            setattr(state.base, part, _vector(rng, size))
    if with_forces:
        state.fext = {str(link): _vector(rng, 6) for link in rng.choice(oracle.links, size=3)}
    return state


def _vector(rng: np.random.Generator, size: int) -> list[float]:
    return rng.uniform(-3, 3, size).tolist()


def _unit_quaternion(rng: np.random.Generator) -> list[float]:
    quaternion = rng.standard_normal(4)
    return (quaternion / np.linalg.norm(quaternion)).tolist()
