"""The oracle itself, without the product: identities and finite differences in Kansetsu's conventions."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from comparison import assert_close
from kansetsu_protocol import BASE_DOFS, Base, State
from pin_oracle import PinOracle
from random_states import random_states

ROBOT = """
<robot name="r">
  <link name="trunk"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><mass value="4"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.25" ixy="0.01" ixz="0.02" iyz="-0.01"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0.3 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.02" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0.1 0.1 0"/><mass value="1"/>
    <inertia ixx="0.05" iyy="0.05" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><origin xyz="0 0.2 0.3" rpy="0.1 0.2 0.3"/><axis xyz="1 2 3"/>
    <parent link="trunk"/><child link="arm"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0 0.4 0"/><axis xyz="0 1 0"/>
    <limit lower="-0.2" upper="0.5" effort="1" velocity="1"/><mimic joint="wrist" multiplier="0.3" offset="0.1"/>
    <parent link="arm"/><child link="rod"/></joint>
  <joint name="wrist" type="revolute"><origin xyz="0 0.1 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="1" velocity="1"/><parent link="rod"/><child link="tip"/></joint>
</robot>
"""
STEP = 1e-6  # of central differences: truncation 1e-12, rounding 1e-9
FINITE_DIFFERENCE = 1e-7


@pytest.fixture(params=["fixed", "free"])
def oracle(request, tmp_path: Path) -> PinOracle:
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(ROBOT)
    return PinOracle(urdf, request.param)


def moved(state: State, direction: str, step: float) -> State:
    """The state with one tangent coordinate of q changed: the base on the right, in its own axes."""
    state = copy.deepcopy(state)
    if direction not in BASE_DOFS:
        state.q[direction] += step
        return state
    index = BASE_DOFS.index(direction)
    R = pin.Quaternion(np.array(state.base.quat_xyzw)).matrix()
    delta = step * np.eye(3)[index % 3]
    if index < 3:
        state.base.quat_xyzw = pin.Quaternion(R @ pin.exp3(delta)).coeffs().tolist()
    else:
        state.base.p = (np.array(state.base.p) + R @ delta).tolist()
    return state


def faster(state: State, direction: str, step: float) -> State:
    """The state with one entry of v changed."""
    state = copy.deepcopy(state)
    if direction in BASE_DOFS:
        index = BASE_DOFS.index(direction)
        (state.base.omega if index < 3 else state.base.v)[index % 3] += step
    else:
        state.v[direction] += step
    return state


def difference(oracle: PinOracle, state: State, change, quantity: str) -> np.ndarray:
    columns = []
    for dof in oracle.dofs:
        ahead, behind = (oracle.evaluate(change(state, dof, h), oracle.dofs, [quantity])[quantity]
                         for h in (STEP, -STEP))
        columns.append((ahead - behind) / (2 * STEP))
    return np.array(columns).T


def state_of(oracle: PinOracle, forces: bool = False) -> State:
    return random_states(oracle, count=2, seed=7)[forces]


def by_base_dof(spatial: list[float] | None) -> dict[str, float]:
    """Empty for a fixed base."""
    return dict(zip(BASE_DOFS, spatial, strict=True)) if spatial else {}


def test_mimic_joint_is_no_dof(oracle: PinOracle):
    assert "slide" not in oracle.dofs and "wrist" in oracle.dofs


@pytest.mark.parametrize("quantity", ["rnea", "aba"])
def test_derivatives_are_differences(oracle: PinOracle, quantity: str):
    state, name = state_of(oracle), f"{quantity}_derivatives"
    derivatives = oracle.evaluate(state, oracle.dofs, [name])[name]
    assert_close(derivatives["dq"], difference(oracle, state, moved, quantity), FINITE_DIFFERENCE)
    assert_close(derivatives["dv"], difference(oracle, state, faster, quantity), FINITE_DIFFERENCE)


def test_forward_dynamics_inverts_inverse_dynamics(oracle: PinOracle):
    state = state_of(oracle, forces=True)
    state.tau.pop("slide")
    acceleration = dict(zip(oracle.dofs, oracle.evaluate(state, oracle.dofs, ["aba"])["aba"], strict=True))
    state.a = {name: value for name, value in acceleration.items() if name not in BASE_DOFS}
    if oracle.base == "free":
        state.base.alpha = [acceleration[dof] for dof in BASE_DOFS[:3]]
        state.base.a = [acceleration[dof] for dof in BASE_DOFS[3:]]
    given = {**state.tau, **by_base_dof(state.base.tau)}
    assert_close(oracle.evaluate(state, oracle.dofs, ["rnea"])["rnea"], [given[dof] for dof in oracle.dofs])


def test_external_force_does_the_work_its_jacobian_says(oracle: PinOracle):
    pushed, free = state_of(oracle), state_of(oracle)
    wrench = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0]
    pushed.fext = {"tip": wrench}
    J = oracle.evaluate(free, oracle.dofs, ["jacobian:tip"])["jacobian:tip"]
    tau, tau_pushed = (oracle.evaluate(s, oracle.dofs, ["rnea"])["rnea"] for s in (free, pushed))
    assert_close(tau - tau_pushed, J.T @ np.array(wrench))


def test_jacobian_is_the_velocity_of_the_link_origin(oracle: PinOracle):
    state = state_of(oracle)
    J = oracle.evaluate(state, oracle.dofs, ["jacobian:tip"])["jacobian:tip"]
    for column, dof in enumerate(oracle.dofs):
        ahead, behind = (oracle.evaluate(moved(state, dof, h), oracle.dofs, ["fk"])["fk"]["tip"] for h in (STEP, -STEP))
        turn = pin.Quaternion(ahead["quat_xyzw"]) * pin.Quaternion(behind["quat_xyzw"]).conjugate()
        velocity = np.concatenate([pin.log3(turn.matrix()), ahead["p"] - behind["p"]]) / (2 * STEP)
        assert_close(J[:, column], velocity, FINITE_DIFFERENCE)


def test_kinetic_energy_is_half_v_M_v(oracle: PinOracle):
    state = state_of(oracle)
    values = oracle.evaluate(state, oracle.dofs, ["crba", "energy"])
    speed = {**state.v, **by_base_dof([*(state.base.omega or ()), *(state.base.v or ())])}
    v = np.array([speed[dof] for dof in oracle.dofs])
    assert_close(values["energy"]["kinetic"], v @ values["crba"] @ v / 2)


def test_fixed_base_is_pinocchios_own_fixed_base(tmp_path: Path):
    """At the identity pose; joints of a model without a free-flyer."""
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(ROBOT)
    oracle = PinOracle(urdf, "fixed")
    model = pin.buildModelFromUrdf(str(urdf))
    state = state_of(oracle)
    state.base = Base()
    full = oracle._positions(state)[7:]
    M = np.triu(pin.crba(model, model.createData(), full))
    G = oracle.expansion(oracle.dofs)[6:]
    assert_close(oracle.evaluate(state, oracle.dofs, ["crba"])["crba"], G.T @ (M + np.triu(M, 1).T) @ G)
