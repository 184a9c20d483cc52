"""To and from the coordinates of other engines: Pinocchio, MuJoCo, Drake and ROS.

bridge = ks.bridges.mujoco(model, mj_model)      # joints are matched by name
data.qpos[:] = bridge.q_to(q)
v = bridge.v_from(q, data.qvel)

Arrays are of one state or of rows of states. What the numbers mean is in docs/conventions.md; none of the libraries is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Model
from ._errors import Error
from ._reals import reals

Floats = NDArray[np.float64]

KINDS = {(1, 1): "number", (2, 1): "cos_sin", (4, 3): "ball", (7, 6): "free"}


@dataclass(frozen=True)
class Place:
    """A joint there: where it begins in their q and v, and how many numbers it has."""

    name: str
    q: int
    v: int
    kind: str
    base: bool = False
    """It is the free base."""


@dataclass(frozen=True)
class Convention:
    """How an engine writes rotations and free bodies."""

    name: str
    w_first: bool
    quaternion_first: bool
    """Of a free body: quaternion before position."""
    linear_first: bool
    world_linear: bool
    """Its velocity is in world axes; so is its angular velocity, if world_angular."""
    world_angular: bool


PINOCCHIO = Convention("Pinocchio", False, False, True, False, False)
MUJOCO = Convention("MuJoCo", True, False, True, True, False)
DRAKE = Convention("Drake", True, True, False, True, True)


def _rotation(quaternion: Floats) -> Floats:
    """Of x y z w, of any length but zero: (..., 3, 3)."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    square = x * x + y * y + z * z + w * w
    limits = np.finfo(np.float64)
    if not ((square >= limits.tiny) & (square <= limits.max)).all():
        raise Error("a quaternion in q is no rotation: its length is zero, or no number holds its square")
    s = 2 / square
    rows = [
        [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _turn(R: Floats, x: Floats) -> Floats:
    out: Floats = np.einsum("...ij,...j->...i", R, x)
    return out


@dataclass(frozen=True)
class Follower:
    """A joint that gears determine here, and that has numbers of its own there."""

    place: Place
    q: list[int]
    """What it follows in our q and v, with its ratio to each."""
    v: list[int]
    ratios: Floats
    offset: float


def _follower(model: Model, place: Place, ratios: dict[str, float], offset: float) -> Follower:
    q, v = [model.coordinates[name] for name in ratios], [model.dofs[name] for name in ratios]
    return Follower(place, q, v, np.array(list(ratios.values())), offset)


class Bridge:
    """Converts between a model and the same mechanism in another engine. q and v are Kansetsu's, x the other engine's.

    A joint that follows others here (mimic, gears) may have its own coordinates there: they get the values that follow. Its values
    there are ignored, except its torque, which acts on the joints that it follows.
    """

    def __init__(self, model: Model, convention: Convention, nq: int, nv: int, places: Iterable[Place]) -> None:
        _expect("Bridge", "model", model, "followers", "kansetsu.Model")
        self.model, self.convention, self.nq, self.nv = model, convention, nq, nv
        self._pairs: list[tuple[Place, int, int]] = []
        self._followers: list[Follower] = []
        types = dict(zip(model.joints, model.joint_types, strict=True))
        gears = model.followers
        met = set()
        for place in places:
            name = "base" if place.base else place.name
            if not place.base and name not in types:
                raise Error(f"{convention.name} has a joint '{name}', {model.name} has none; known: {', '.join(types)}")
            if place.base and model.base != "free":
                raise Error(f"{convention.name} has a free base, {model.name} a fixed one: load it with base='free'")
            if name in gears and place.kind in ("number", "cos_sin"):
                self._followers.append(_follower(model, place, *gears[name]))
                continue
            if name not in model.coordinates:
                raise Error(f"joint '{name}' follows others in {model.name} and has no coordinate; it has one in {convention.name}")
            q, v = _span(model.coordinates[name]), _span(model.dofs[name])
            ours = KINDS.get((q[1], v[1]))
            if ours != ("number" if place.kind == "cos_sin" else place.kind):
                raise Error(f"joint '{name}' is {types.get(name, 'free')} in {model.name} and '{place.kind}' in {convention.name}")
            self._pairs.append((place, q[0], v[0]))
            met.add(name)
        missing = [j for j in (["base"] if model.base == "free" else []) + list(types) if j in model.coordinates and j not in met]
        if missing:
            raise Error(f"joints of {model.name} that {convention.name} does not have: {', '.join(missing)}")

    def q_to(self, q: ArrayLike) -> Floats:
        """Positions there."""
        q = _rows(q, self.model.nq, "q_to", "q")
        out: Floats = np.zeros((*q.shape[:-1], self.nq))
        for place, at, _ in self._pairs:
            to = place.q
            if place.kind in ("number", "cos_sin"):
                _put_number(out, place, q[..., at])
            elif place.kind == "ball":
                out[..., to : to + 4] = self._quaternion_to(q[..., at : at + 4])
            else:
                p, r = self._free_slices(to)
                out[..., p], out[..., r] = q[..., at : at + 3], self._quaternion_to(q[..., at + 3 : at + 7])
        for f in self._followers:
            _put_number(out, f.place, q[..., f.q] @ f.ratios + f.offset)
        return out

    def q_from(self, x: ArrayLike) -> Floats:
        """Positions from there. Angles that are kept as cosine and sine come out between -pi and pi."""
        x = _rows(x, self.nq, "q_from", "x")
        out: Floats = np.zeros((*x.shape[:-1], self.model.nq))
        for place, at, _ in self._pairs:
            to = place.q
            if place.kind == "number":
                out[..., at] = x[..., to]
            elif place.kind == "cos_sin":
                out[..., at] = np.arctan2(x[..., to + 1], x[..., to])
            elif place.kind == "ball":
                out[..., at : at + 4] = self._quaternion_from(x[..., to : to + 4])
            else:
                p, r = self._free_slices(to)
                out[..., at : at + 3], out[..., at + 3 : at + 7] = x[..., p], self._quaternion_from(x[..., r])
        return out

    def v_to(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Velocities there."""
        return self._follow(self._tangent_to("v_to", q, v), v)

    def v_from(self, q: ArrayLike, x: ArrayLike) -> Floats:
        """Velocities from there."""
        return self._tangent_from("v_from", q, x)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Floats:
        """Torques there, of the same power."""
        return self._tangent_to("tau_to", q, tau)

    def tau_from(self, q: ArrayLike, x: ArrayLike) -> Floats:
        """Torques from there."""
        out, x = self._tangent_from("tau_from", q, x), np.asarray(x)
        for f in self._followers:
            out[..., f.v] += x[..., f.place.v, None] * f.ratios
        return out

    def vdot_to(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Floats:
        """Accelerations there: the derivatives of their velocities."""
        v, vdot = _rows(v, self.model.nv, "vdot_to", "v"), _rows(vdot, self.model.nv, "vdot_to", "vdot")
        return self._follow(self._tangent_to("vdot_to", q, self._turning(v, vdot, 1.0)), vdot)

    def vdot_from(self, q: ArrayLike, v: ArrayLike, x: ArrayLike) -> Floats:
        """Accelerations from there."""
        out = self._tangent_from("vdot_from", q, x)
        return self._turning(_rows(v, self.model.nv, "vdot_from", "v"), out, -1.0)

    def matrix(self, q: ArrayLike) -> Floats:
        """T of x = T v, of columns of length 1 at right angles: their mass matrix is T M T', their Jacobians are J T'.

        With joints that follow others it is not, and has more rows than columns: our mass matrix is T' M T of theirs, our Jacobians
        are J T.
        """
        q = _rows(q, self.model.nq, "matrix", "q")
        eye = np.broadcast_to(np.eye(self.model.nv), (*q.shape[:-1], self.model.nv, self.model.nv))
        rows = self._follow(self._tangent_to("matrix", q[..., None, :], eye), eye)
        return np.swapaxes(rows, -1, -2)

    def _follow(self, x: Floats, v: ArrayLike) -> Floats:
        """x with the rates of joints that follow others."""
        for f in self._followers:
            x[..., f.place.v] = np.asarray(v)[..., f.v] @ f.ratios
        return x

    def _turning(self, v: Floats, vdot: Floats, sign: float) -> Floats:
        """vdot of free bodies: the derivative of their velocity in own axes, or the acceleration of their origin."""
        if not self.convention.world_linear:
            return vdot
        out = np.array(np.broadcast_to(vdot, np.broadcast_shapes(v.shape, vdot.shape)))
        for place, _, at in self._pairs:
            if place.kind == "free":
                out[..., at + 3 : at + 6] += sign * np.cross(v[..., at : at + 3], v[..., at + 3 : at + 6])
        return out

    def _tangent_to(self, function: str, q: ArrayLike, v: ArrayLike) -> Floats:
        q, v = _rows(q, self.model.nq, function, "q"), _rows(v, self.model.nv, function, "v")
        out: Floats = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), self.nv))
        for place, at_q, at in self._pairs:
            if place.kind == "free":
                R = _rotation(q[..., at_q + 3 : at_q + 7])
                w, u = v[..., at : at + 3], v[..., at + 3 : at + 6]
                linear, angular = self._velocity_slices(place.v)
                out[..., angular] = _turn(R, w) if self.convention.world_angular else w
                out[..., linear] = _turn(R, u) if self.convention.world_linear else u
            else:
                n = 3 if place.kind == "ball" else 1
                out[..., place.v : place.v + n] = v[..., at : at + n]
        return out

    def _tangent_from(self, function: str, q: ArrayLike, x: ArrayLike) -> Floats:
        q, x = _rows(q, self.model.nq, function, "q"), _rows(x, self.nv, function, "x")
        out: Floats = np.zeros((*np.broadcast_shapes(q.shape[:-1], x.shape[:-1]), self.model.nv))
        for place, at_q, at in self._pairs:
            if place.kind == "free":
                Rt = np.swapaxes(_rotation(q[..., at_q + 3 : at_q + 7]), -1, -2)
                linear, angular = self._velocity_slices(place.v)
                w, u = x[..., angular], x[..., linear]
                out[..., at : at + 3] = _turn(Rt, w) if self.convention.world_angular else w
                out[..., at + 3 : at + 6] = _turn(Rt, u) if self.convention.world_linear else u
            else:
                n = 3 if place.kind == "ball" else 1
                out[..., at : at + n] = x[..., place.v : place.v + n]
        return out

    def _free_slices(self, to: int) -> tuple[slice, slice]:
        """Position, quaternion."""
        if self.convention.quaternion_first:
            return slice(to + 4, to + 7), slice(to, to + 4)
        return slice(to, to + 3), slice(to + 3, to + 7)

    def _velocity_slices(self, to: int) -> tuple[slice, slice]:
        """Linear, angular."""
        first, second = slice(to, to + 3), slice(to + 3, to + 6)
        return (first, second) if self.convention.linear_first else (second, first)

    def _quaternion_to(self, x: Floats) -> Floats:
        return np.roll(x, 1, axis=-1) if self.convention.w_first else x

    def _quaternion_from(self, x: Floats) -> Floats:
        return np.roll(x, -1, axis=-1) if self.convention.w_first else x

    def __repr__(self) -> str:
        return f"<Bridge between {self.model.name} and {self.convention.name}: {len(self._pairs)} joints>"


def _put_number(x: Floats, place: Place, value: Floats) -> None:
    """The position of a joint with one number, or with its cosine and sine."""
    if place.kind == "cos_sin":
        x[..., place.q], x[..., place.q + 1] = np.cos(value), np.sin(value)
    else:
        x[..., place.q] = value


def _span(where: int | slice) -> tuple[int, int]:
    return (where, 1) if isinstance(where, int) else (where.start, where.stop - where.start)


def _rows(value: ArrayLike, width: int, function: str, name: str) -> Floats:
    out = reals(function, name, value)
    if out.ndim == 0 or out.shape[-1] != width:
        raise Error(f"{function}: {name} has the shape {out.shape}, expected (..., {width})")
    return out


def _expect(function: str, name: str, value: object, member: str, kind: str) -> None:
    """Raises unless the value is of this kind, which has such a member; other libraries are not imported for that."""
    if not hasattr(value, member):
        raise TypeError(f"{function}: {name} is a '{type(value).__name__}', expected a {kind}")


def pinocchio(model: Model, pin_model: Any) -> Bridge:
    """To a ``pinocchio.Model``; a free-flyer at its root is the free base."""
    _expect("bridges.pinocchio", "model", model, "followers", "kansetsu.Model")
    _expect("bridges.pinocchio", "pin_model", pin_model, "njoints", "pinocchio.Model")
    places = []
    for i in range(1, pin_model.njoints):
        joint = pin_model.joints[i]
        if (joint.nq, joint.nv) == (0, 0):  # a mimic joint, with mimic=True
            continue
        kind = KINDS.get((joint.nq, joint.nv), f"{joint.shortname()}, {joint.nq} numbers in q and {joint.nv} in v")
        base = kind == "free" and i == 1 and pin_model.names[i] not in model.joints
        places.append(Place(pin_model.names[i], joint.idx_q, joint.idx_v, kind, base))
    return Bridge(model, PINOCCHIO, pin_model.nq, pin_model.nv, places)


def mujoco(model: Model, mj_model: Any) -> Bridge:
    """To a ``mujoco.MjModel`` of one figure; its free joint is the free base."""
    _expect("bridges.mujoco", "model", model, "followers", "kansetsu.Model")
    _expect("bridges.mujoco", "mj_model", mj_model, "njnt", "mujoco.MjModel")
    kinds = {0: "free", 1: "ball", 2: "number", 3: "number"}
    places = []
    for i in range(mj_model.njnt):
        joint = mj_model.joint(i)
        kind = kinds[int(joint.type[0])]
        base = kind == "free" and joint.name not in model.joints
        places.append(Place(joint.name, int(joint.qposadr[0]), int(joint.dofadr[0]), kind, base))
    return Bridge(model, MUJOCO, mj_model.nq, mj_model.nv, places)


def drake(model: Model, plant: Any) -> Bridge:
    """To a finalised ``pydrake.multibody.plant.MultibodyPlant`` of one figure; its floating base is the free base."""
    _expect("bridges.drake", "model", model, "followers", "kansetsu.Model")
    _expect("bridges.drake", "plant", plant, "GetJointIndices", "pydrake.multibody.plant.MultibodyPlant")
    places = []
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        sizes = (joint.num_positions(), joint.num_velocities())
        if sizes == (0, 0):
            continue
        kind = KINDS.get(sizes, f"{joint.type_name()}, {sizes[0]} numbers in q and {sizes[1]} in v")
        base = kind == "free" and joint.name() not in model.joints
        places.append(Place(joint.name(), joint.position_start(), joint.velocity_start(), kind, base))
    return Bridge(model, DRAKE, plant.num_positions(), plant.num_velocities(), places)


def to_joint_state(model: Model, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None) -> dict[str, Any]:
    """What ROS's ``sensor_msgs/JointState`` holds: name, position, velocity, effort; of joints with one number. A free base is in
    ``pose`` (position, orientation x y z w) and ``twist`` (linear, angular, in its own axes, as in ``nav_msgs/Odometry``)."""
    _expect("to_joint_state", "model", model, "followers", "kansetsu.Model")
    q = _rows(q, model.nq, "to_joint_state", "q")
    v = None if v is None else _rows(v, model.nv, "to_joint_state", "v")
    tau = None if tau is None else _rows(tau, model.nv, "to_joint_state", "tau")
    names = [j for j in model.joints if j in model.coordinates and isinstance(model.coordinates[j], int)]
    out: dict[str, Any] = {"name": names, "position": q[..., [model.coordinates[j] for j in names]]}
    columns = [model.dofs[j] for j in names]
    for key, values in (("velocity", v), ("effort", tau)):
        if values is not None:
            out[key] = values[..., columns]
    if model.base == "free":
        out["pose"] = {"position": q[..., :3], "orientation": q[..., 3:7]}
        if v is not None:
            out["twist"] = {"linear": v[..., 3:6], "angular": v[..., :3]}
    return out


def from_joint_state(
    model: Model,
    name: Sequence[str],
    position: ArrayLike,
    velocity: ArrayLike | None = None,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """q and v from a ``sensor_msgs/JointState``. Joints that it does not name keep what q and v say; joints that follow others
    there, and have no number here, are passed over."""
    _expect("from_joint_state", "model", model, "followers", "kansetsu.Model")
    known = set(model.joints)
    out_q = np.array(model.q0 if q is None else _rows(q, model.nq, "from_joint_state", "q"), dtype=np.float64)
    out_v = np.array(model.v0 if v is None else _rows(v, model.nv, "from_joint_state", "v"), dtype=np.float64)
    x = _rows(position, len(name), "from_joint_state", "position")
    u = None if velocity is None else _rows(velocity, len(name), "from_joint_state", "velocity")
    out_q = np.array(np.broadcast_to(out_q, (*np.broadcast_shapes(out_q.shape[:-1], x.shape[:-1]), model.nq)))
    out_v = np.array(np.broadcast_to(out_v, (*out_q.shape[:-1], model.nv)))
    for k, joint in enumerate(name):
        if joint not in known:
            raise Error(f"from_joint_state: {model.name} has no joint '{joint}'")
        if joint not in model.coordinates:
            continue
        if not isinstance(model.coordinates[joint], int):
            raise Error(f"from_joint_state: joint '{joint}' has more than one number")
        out_q[..., model.coordinates[joint]] = x[..., k]
        if u is not None:
            out_v[..., model.dofs[joint]] = u[..., k]
    return out_q, out_v


__all__ = ["Bridge", "Convention", "Place", "drake", "from_joint_state", "mujoco", "pinocchio", "to_joint_state"]
