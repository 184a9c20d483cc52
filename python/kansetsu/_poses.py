"""Poses and motions of links."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Model
from ._errors import Error
from ._text import describe

Floats = NDArray[np.float64]


class Poses:
    """Poses of all links of a model, for one or N configurations.

    ``R`` is (..., links, 3, 3), ``p`` is (..., links, 3): views of one array, nothing is copied. ``poses["hand"]`` is the 4x4 matrix of
    a link or frame, (..., 4, 4).
    """

    __slots__ = ("data", "model")

    def __init__(self, model: Model, data: Floats) -> None:
        self.model = model
        self.data = data

    @property
    def R(self) -> Floats:
        """Rotations: axes of the links in the world."""
        return self.data[..., :9].reshape(*self.data.shape[:-1], 3, 3)

    @property
    def p(self) -> Floats:
        """Origins of the links in the world [m]."""
        return self.data[..., 9:12]

    def matrices(self) -> Floats:
        """All links as 4x4 matrices: (..., links, 4, 4), copied."""
        return _matrices(self.data)

    def __getitem__(self, name: str) -> Floats:
        link, offset = _core.frame_on(self.model, name)
        pose: Floats = _matrices(self.data[..., link, :])
        return pose if offset is None else pose @ offset

    def __len__(self) -> int:
        return int(self.data.shape[-2])

    def __repr__(self) -> str:
        return f"<Poses of {self.model.name}: {self.data.shape[:-1]}>"


class Motions(Poses):
    """Poses, velocities and accelerations of all links, at their origins and in world axes."""

    __slots__ = ()

    @property
    def V(self) -> Floats:
        """[omega, velocity]: (..., links, 6)."""
        return self.data[..., 12:18]

    @property
    def A(self) -> Floats:
        """[angular acceleration, acceleration]: (..., links, 6)."""
        return self.data[..., 18:24]


class Centroidal:
    """Momentum of the whole mechanism about its centre of mass: h = A v, in world axes, rows [angular, linear]."""

    __slots__ = ("A", "A_dot", "com", "com_velocity", "h")

    def __init__(self, com: Floats, com_velocity: Floats, h: Floats, A: Floats, A_dot: Floats) -> None:
        self.com = com
        self.com_velocity = com_velocity
        self.h = h
        self.A = A
        self.A_dot = A_dot

    __repr__ = describe


def _matrices(data: Floats) -> Floats:
    if not isinstance(data, np.ndarray):
        raise Error("Poses: tensors on a device have R and p; 4x4 matrices are made of arrays on the host")
    out: Floats = np.zeros((*data.shape[:-1], 4, 4), dtype=data.dtype)
    out[..., :3, :3] = data[..., :9].reshape(*data.shape[:-1], 3, 3)
    out[..., :3, 3] = data[..., 9:12]
    out[..., 3, 3] = 1
    return out


def fk(model: Model, q: ArrayLike, *, threads: int = 0, device: str | None = None) -> Poses:
    """Poses of all links (forward kinematics), for q of shape (nq,) or (N, nq). device: as of rnea(); its tensors have R and p only."""
    return Poses(model, _core.fk(model, q, threads, device))


def link_motions(model: Model, q: ArrayLike, v: ArrayLike | None = None, vdot: ArrayLike | None = None) -> Motions:
    """Poses, velocities and accelerations of all links; omitted arguments are zero."""
    return Motions(model, _core.link_motions(model, q, v, vdot))


def centroidal(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Centroidal:
    """Centre of mass, momentum about it, and the matrices that give it."""
    return Centroidal(*_core.centroidal(model, q, v))


def pose(
    p: ArrayLike = (0.0, 0.0, 0.0), *, rpy: ArrayLike | None = None, quat: ArrayLike | None = None, R: ArrayLike | None = None
) -> Floats:
    """A 4x4 pose from a position and a rotation: roll-pitch-yaw [rad], a quaternion x y z w, or a matrix."""
    given = [x for x in (rpy, quat, R) if x is not None]
    if len(given) > 1:
        raise Error("pose: give one of rpy, quat and R")
    return _core.make_pose(p, rpy, quat if quat is not None else R)


__all__ = ["Centroidal", "Motions", "Poses", "centroidal", "fk", "link_motions", "pose"]
