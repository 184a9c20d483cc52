"""Inverse kinematics: tasks with weights and strict priorities, under limits.

>>> problem = ks.ik.Problem(model).pose("hand", target, name="hand").posture(model.q0, level=1)
>>> report = ks.ik.Solver(problem, starts=8).solve(model.q0)
>>> report.solved, report.q, report.status
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from ._core import Model
from ._core.ik import ArmSolver, Differential, Problem, Report, Solver, TaskReport, follow


def solve(model: Model, frame: str, target: ArrayLike, q: ArrayLike | None = None, *, limits: bool = True, starts: int = 10) -> Report:
    """A configuration in which a link or frame is at a pose: 4x4, a position and quaternion (7,), or (3,), a position alone.

    A shortcut for the most common problem; Problem and Solver are for all others.
    """
    import numpy as np

    problem = Problem(model)
    if np.shape(target) == (3,):
        problem.position(frame, target, name=frame)
    else:
        problem.pose(frame, target, name=frame)
    return Solver(problem, limits=limits, starts=starts).solve(model.q0 if q is None else q)


__all__ = ["ArmSolver", "Differential", "Problem", "Report", "Solver", "TaskReport", "follow", "solve"]
