"""Reference values by Pinocchio, in Kansetsu's conventions.

Pinocchio's model always has a free-flyer root and no mimic. A choice of independent dofs y (base free or fixed,
mimic joints removed) is one constant matrix: v_full = G v. Then tau = G' tau_full, M = G' M_full G, J = J_full G,
and derivatives by the tangent of q are projected on both sides.

Centre of mass, energy and momentum are those of what can move: with a fixed base they come from Pinocchio's own
fixed-base model, which leaves links fixed to the world out.

Pinocchio's spatial vectors are linear first; its free-flyer has the same tangent (right, own axes) and the same
acceleration (components of dv/dt) as Kansetsu's base, so G's base block is a mere exchange of halves.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from kansetsu_protocol import BASE_DOFS, GRAVITY, Base, State

LINEAR_FIRST = [3, 4, 5, 0, 1, 2]  # exchanges the halves of a spatial vector; its own inverse


@dataclass(frozen=True)
class Coupling:
    """q = ratio * q[driver] + offset, with `driver` independent."""

    driver: str
    ratio: float
    offset: float


def read_couplings(urdf: Path) -> dict[str, Coupling]:
    """The mimic joints of a file, each resolved to an independent joint."""
    direct = {}
    for joint in ElementTree.parse(urdf).getroot().findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            direct[joint.get("name")] = Coupling(
                mimic.get("joint"), float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0)))

    def resolve(coupling: Coupling) -> Coupling:
        if coupling.driver not in direct:
            return coupling
        up = resolve(direct[coupling.driver])
        return Coupling(up.driver, coupling.ratio * up.ratio, coupling.ratio * up.offset + coupling.offset)

    return {name: resolve(coupling) for name, coupling in direct.items()}


class PinOracle:
    """Answers the requests of `kansetsu eval` by Pinocchio."""

    def __init__(self, urdf: Path, base: str):
        self.model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        self.model.gravity.linear = np.array(GRAVITY)
        self.data = self.model.createData()
        self.base = base
        self.couplings = read_couplings(urdf)
        self.joints = list(self.model.names)[2:]  # all one-dof joints, mimic joints included
        self.links = [frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY]
        self.grounded = pin.buildModelFromUrdf(str(urdf)) if base == "fixed" else None  # at the identity pose
        self.mass = pin.computeTotalMass(self.grounded or self.model)  # of what can move
        assert all(self._joint(name).nv == 1 for name in self.joints)

    @property
    def dofs(self) -> list[str]:
        """The independent dofs; their order carries no meaning."""
        independent = [name for name in self.joints if name not in self.couplings]
        return [*(BASE_DOFS if self.base == "free" else ()), *independent]

    def limits(self, joint: str) -> tuple[float, float]:
        """Of position; (-pi, pi) where the file gives no usable range."""
        j = self._joint(joint)
        lower, upper = self.model.lowerPositionLimit[j.idx_q], self.model.upperPositionLimit[j.idx_q]
        bounded = j.nq == 1 and np.isfinite([lower, upper]).all() and lower < upper and max(-lower, upper) < 1e3
        return (lower, upper) if bounded else (-np.pi, np.pi)

    def expansion(self, dofs: list[str]) -> np.ndarray:
        """G, with one column for each of dofs in the order given."""
        G = np.zeros((self.model.nv, len(dofs)))
        for column, dof in enumerate(dofs):
            if dof in BASE_DOFS:
                G[LINEAR_FIRST[BASE_DOFS.index(dof)], column] = 1
        for joint in self.joints:
            coupling = self._coupling(joint)
            G[self._joint(joint).idx_v, dofs.index(coupling.driver)] = coupling.ratio
        return G

    def evaluate(self, state: State, dofs: list[str], compute: list[str]) -> dict:
        """What `kansetsu eval` should answer for one state, with numpy arrays for lists."""
        G = self.expansion(dofs)
        q = self._positions(state)
        v = G @ _independent(state, dofs, "omega", "v", state.v)
        a = G @ _independent(state, dofs, "alpha", "a", state.a)
        tau = G.T @ self._generalised_force(state)
        pin.framesForwardKinematics(self.model, self.data, q)
        fext = self._external_forces(state)

        def moving(q, v=None):
            """The coordinates of the model that _whole() gives."""
            coordinates = (q,) if v is None else (q, v)
            return coordinates if self.grounded is None else tuple(x[n:] for x, n in zip(coordinates, (7, 6), strict=False))

        def mass_matrix():
            M = np.triu(pin.crba(self.model, self.data, q))
            return G.T @ (M + np.triu(M, 1).T) @ G

        def forward_dynamics():
            bias = G.T @ pin.rnea(self.model, self.data, q, v, np.zeros_like(v), fext)
            return np.linalg.solve(mass_matrix(), tau - bias)

        def inverse_dynamics_derivatives(acceleration):
            dq, dv, _ = pin.computeRNEADerivatives(self.model, self.data, q, v, acceleration)
            return {"dq": G.T @ dq @ G, "dv": G.T @ dv @ G, "da": mass_matrix()}

        def forward_dynamics_derivatives():
            inverse = np.linalg.inv(mass_matrix())
            d = inverse_dynamics_derivatives(G @ forward_dynamics())
            return {"dq": -inverse @ d["dq"], "dv": -inverse @ d["dv"], "dtau": inverse}

        def centroidal():
            h = pin.computeCentroidalMomentum(*self._whole(state), *moving(q, v))
            return {"h": h.vector[LINEAR_FIRST], "mass": self.mass}

        def energy():
            whole = self._whole(state)
            return {"kinetic": pin.computeKineticEnergy(*whole, *moving(q, v)),
                    "potential": pin.computePotentialEnergy(*whole, *moving(q))}

        def jacobian(link):
            J = pin.computeFrameJacobian(self.model, self.data, q, self._frame_id(link), pin.LOCAL_WORLD_ALIGNED)
            return J[LINEAR_FIRST] @ G

        quantities = {
            "fk": lambda: {link: self._pose(link) for link in self.links},
            "com": lambda: pin.centerOfMass(*self._whole(state), *moving(q)).copy(),
            "energy": energy,
            "rnea": lambda: G.T @ pin.rnea(self.model, self.data, q, v, a, fext),
            "crba": mass_matrix,
            "aba": forward_dynamics,
            "centroidal": centroidal,
            "rnea_derivatives": lambda: inverse_dynamics_derivatives(a),
            "aba_derivatives": forward_dynamics_derivatives,
        }
        return {name: jacobian(name.removeprefix("jacobian:")) if name.startswith("jacobian:") else quantities[name]()
                for name in compute}

    # --- conversions ------------------------------------------------------------------------------

    def _whole(self, state: State):
        """The model of what can move, and its data; with a fixed base, carried by the base's pose."""
        if self.grounded is None:
            return self.model, self.data
        base = state.base or Base()
        orientation = pin.Quaternion(np.array(base.quat_xyzw or (0, 0, 0, 1), float)).matrix()
        X_WB = pin.SE3(orientation, np.array(base.p or (0, 0, 0), float))
        model = self.grounded.copy()
        model.gravity.linear = np.array(GRAVITY)
        for joint in range(1, model.njoints):
            if model.parents[joint] == 0:
                model.jointPlacements[joint] = X_WB * model.jointPlacements[joint]
        return model, model.createData()

    def _joint(self, name: str):
        return self.model.joints[self.model.getJointId(name)]

    def _frame_id(self, link: str) -> int:
        return self.model.getFrameId(link, pin.FrameType.BODY)

    def _coupling(self, joint: str) -> Coupling:
        return self.couplings.get(joint, Coupling(joint, 1.0, 0.0))

    def _pose(self, link: str) -> dict:
        X_WL = self.data.oMf[self._frame_id(link)]
        return {"p": X_WL.translation.copy(), "quat_xyzw": pin.Quaternion(X_WL.rotation).coeffs().copy()}

    def _positions(self, state: State) -> np.ndarray:
        base = state.base or Base()
        q = pin.neutral(self.model)
        q[:3] = base.p or (0, 0, 0)
        q[3:7] = base.quat_xyzw or (0, 0, 0, 1)
        for name in self.joints:
            joint, coupling = self._joint(name), self._coupling(name)
            x = coupling.ratio * state.q.get(coupling.driver, 0.0) + coupling.offset
            q[joint.idx_q:joint.idx_q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else x
        return q

    def _generalised_force(self, state: State) -> np.ndarray:
        """Of all joints, before the projection: a torque on a mimic joint acts through its gear."""
        tau = np.zeros(self.model.nv)
        if state.base and state.base.tau:
            tau[:6] = np.array(state.base.tau)[LINEAR_FIRST]
        for name, value in state.tau.items():
            tau[self._joint(name).idx_v] = value
        return tau

    def _external_forces(self, state: State):
        """From link origin and world axes to the joint's own frame; needs current placements."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero()] * self.model.njoints)
        for link, wrench in state.fext.items():
            frame = self.model.frames[self._frame_id(link)]
            X_WL = self.data.oMf[self._frame_id(link)]
            at_origin = pin.SE3(np.eye(3), X_WL.translation)  # link origin, world axes
            F_W = at_origin.act(pin.Force(np.array(wrench)[LINEAR_FIRST]))
            forces[frame.parentJoint] += self.data.oMi[frame.parentJoint].actInv(F_W)
        return forces


def _independent(state: State, dofs: list[str], angular: str, linear: str, joints: dict[str, float]) -> np.ndarray:
    """Velocity or acceleration of the independent dofs, in the order given; what is missing is zero."""
    base = state.base or Base()
    halves = [*(getattr(base, angular) or (0, 0, 0)), *(getattr(base, linear) or (0, 0, 0))]
    return np.array([halves[BASE_DOFS.index(dof)] if dof in BASE_DOFS else joints.get(dof, 0.0) for dof in dofs])
