"""Coordinates of other engines, beside those engines."""

from pathlib import Path

import kansetsu as ks
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

QUADRUPED = """
<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="trunk" pos="0 0 1"><freejoint name="root"/>
    <inertial pos="0.01 0 0" mass="5" diaginertia="0.05 0.08 0.1"/>
    <body name="zleg" pos="0.2 0.1 0"><joint name="zhip" type="ball"/>
      <inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.002"/>
      <body name="zshank" pos="0 0 -0.3"><joint name="zknee" type="hinge" axis="0 1 0"/>
        <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.005 0.005 0.001"/></body></body>
    <body name="aleg" pos="-0.2 0.1 0"><joint name="ahip" type="hinge" axis="1 0 0"/>
      <inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.002"/>
      <body name="afoot" pos="0 0 -0.3"><joint name="aslide" type="slide" axis="0 0 1"/>
        <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.005 0.005 0.001"/></body></body>
  </body></worldbody></mujoco>
"""

URDF = """<robot name="pair"><link name="trunk"><inertial><mass value="4"/><origin xyz="0.02 0 0.1"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
  {parts}</robot>"""
PART = """<link name="{n}"><inertial><mass value="1"/><origin xyz="0 0.03 -0.2"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{n}_joint" type="{t}"><parent link="{p}"/><child link="{n}"/><origin xyz="0.1 0 -0.3" rpy="0.1 0.2 0"/>
  <axis xyz="{a}"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>"""


def random_state(model, seed, count):
    rng = np.random.default_rng(seed)
    return model.random_configuration(seed, count), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


def check_round_trips(bridge, q, v, tau):
    model = bridge.model
    back = bridge.q_from(bridge.q_to(q))
    assert np.allclose(ks.difference(model, q, back), 0, atol=1e-12)  # rounding
    assert np.allclose(bridge.v_from(q, bridge.v_to(q, v)), v, atol=1e-12)
    assert np.allclose(np.sum(bridge.v_to(q, v) * bridge.tau_to(q, tau), axis=-1), np.sum(v * tau, axis=-1))  # power
    assert np.allclose(bridge.vdot_from(q, v, bridge.vdot_to(q, v, tau)), tau, atol=1e-12)
    T = bridge.matrix(q)
    assert np.allclose(np.einsum("nij,nj->ni", T, v), bridge.v_to(q, v))
    one = bridge.q_to(q[0])
    assert np.array_equal(one, bridge.q_to(q)[0])


def test_any_length_of_a_quaternion_is_one_rotation():
    """As everywhere else; velocities were stretched."""
    model = ks.human28()
    places = [ks.bridges.Place("base", 0, 0, "free", True)]
    places += [ks.bridges.Place(j, 7 + i, 6 + i, "number") for i, j in enumerate(model.joints)]
    bridge = ks.bridges.Bridge(model, ks.bridges.MUJOCO, model.nq, model.nv, places)
    q, v, _ = random_state(model, 5, 4)
    longer = q.copy()
    longer[:, 3:7] *= 2.5
    assert np.allclose(bridge.v_to(longer, v), bridge.v_to(q, v), rtol=0, atol=1e-14)
    longer[2, 3:7] = 0
    with pytest.raises(ks.Error, match="a quaternion in q is no rotation"):
        bridge.v_to(longer, v)
    for wrong, error in ((np.full(model.nq, np.nan), ks.Error), (np.zeros(model.nq, complex), TypeError), (["1"] * model.nq, TypeError)):
        with pytest.raises(error, match="q_to: q"):
            bridge.q_to(wrong)


def test_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "quadruped.xml"
    file.write_text(QUADRUPED)
    model, mj = ks.load(file), mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(mj)
    bridge = ks.bridges.mujoco(model, mj)
    q, v, vdot = random_state(model, 3, 20)
    check_round_trips(bridge, q, v, vdot)
    tau = ks.rnea(model, q, v, vdot)
    for i in range(20):
        data.qpos[:], data.qvel[:] = bridge.q_to(q[i]), bridge.v_to(q[i], v[i])
        data.qacc[:] = bridge.vdot_to(q[i], v[i], vdot[i])
        mujoco.mj_inverse(mj, data)
        assert np.allclose(data.qfrc_inverse, bridge.tau_to(q[i], tau[i]), atol=1e-9)
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(mj, data, M)
        T = bridge.matrix(q[i])
        assert np.allclose(M, T @ ks.crba(model, q[i]) @ T.T, atol=1e-9)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_pinocchio(tmp_path, base):
    pin = pytest.importorskip("pinocchio")
    parts = [("wing", "revolute", "trunk", "0 1 0"), ("arm", "continuous", "trunk", "0 0 1"), ("hand", "prismatic", "arm", "1 0 0")]
    file = tmp_path / "pair.urdf"
    file.write_text(URDF.format(parts="".join(PART.format(n=n, t=t, p=p, a=a) for n, t, p, a in parts)))
    model = ks.load(file, base=base)
    args = (str(file), pin.JointModelFreeFlyer()) if base == "free" else (str(file),)
    theirs = pin.buildModelFromUrdf(*args)
    bridge = ks.bridges.pinocchio(model, theirs)
    assert theirs.nq == model.nq + 1  # cosine and sine
    data = theirs.createData()
    q, v, vdot = random_state(model, 4, 20)
    check_round_trips(bridge, q, v, vdot)
    tau = ks.rnea(model, q, v, vdot)
    for i in range(20):
        found = pin.rnea(theirs, data, bridge.q_to(q[i]), bridge.v_to(q[i], v[i]), bridge.vdot_to(q[i], v[i], vdot[i]))
        assert np.allclose(found, bridge.tau_to(q[i], tau[i]), atol=1e-9)


def test_joints_that_follow_others(tmp_path):
    """A mimic joint has no place in our q; Pinocchio gives it one, unless its model is made with mimic=True."""
    pin = pytest.importorskip("pinocchio")
    parts = [("left", "prismatic", "trunk", "0 1 0"), ("right", "revolute", "trunk", "0 1 0"), ("wheel", "continuous", "trunk", "0 1 0")]
    text = URDF.format(parts="".join(PART.format(n=n, t=t, p=p, a=a) for n, t, p, a in parts))
    for name, ratio, offset in (("right", -2.0, 0.1), ("wheel", 3.0, 0.0)):
        at = text.index("<axis", text.index(f'joint name="{name}_joint"'))
        text = text[:at] + f'<mimic joint="left_joint" multiplier="{ratio}" offset="{offset}"/>' + text[at:]
    file = tmp_path / "gripper.urdf"
    file.write_text(text)
    model = ks.load(file, base="free")
    assert model.nv == 7
    theirs = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    assert (theirs.nq, theirs.nv) == (11, 9)
    bridge, data = ks.bridges.pinocchio(model, theirs), theirs.createData()
    q, v, vdot = random_state(model, 7, 10)
    check_round_trips(bridge, q, v, vdot)
    tau, M, T = ks.rnea(model, q, v, vdot), ks.crba(model, q), bridge.matrix(q)
    for i in range(10):
        x, u, a = bridge.q_to(q[i]), bridge.v_to(q[i], v[i]), bridge.vdot_to(q[i], v[i], vdot[i])
        assert np.allclose(bridge.tau_from(q[i], pin.rnea(theirs, data, x, u, a)), tau[i], atol=1e-9)
        half = np.triu(pin.crba(theirs, data, x))
        assert np.allclose(T[i].T @ (half + np.triu(half, 1).T) @ T[i], M[i], atol=1e-9)
    file.write_text(text.replace("continuous", "revolute"))  # of which alone it makes mimic joints
    try:
        same = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer(), mimic=True)
    except TypeError:
        return  # before 3.0
    bridge, data = ks.bridges.pinocchio(model, same), same.createData()
    assert same.nv == 7
    for i in range(10):
        x, u, a = bridge.q_to(q[i]), bridge.v_to(q[i], v[i]), bridge.vdot_to(q[i], v[i], vdot[i])
        assert np.allclose(bridge.tau_from(q[i], pin.rnea(same, data, x, u, a)), tau[i], atol=1e-9)


def test_drake(tmp_path):
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    file = tmp_path / "pair.urdf"
    parts = [("wing", "revolute", "trunk", "0 1 0"), ("arm", "continuous", "trunk", "0 0 1"), ("hand", "prismatic", "arm", "1 0 0")]
    file.write_text(URDF.format(parts="".join(PART.format(n=n, t=t, p=p, a=a) for n, t, p, a in parts)))
    model = ks.load(file, base="free")
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(file))
    plant.Finalize()
    bridge = ks.bridges.drake(model, plant)
    context = plant.CreateDefaultContext()
    q, v, vdot = random_state(model, 5, 10)
    check_round_trips(bridge, q, v, vdot)
    tau = ks.rnea(model, q, v, vdot)
    for i in range(10):
        plant.SetPositions(context, bridge.q_to(q[i]))
        plant.SetVelocities(context, bridge.v_to(q[i], v[i]))
        gravity = plant.CalcGravityGeneralizedForces(context)
        from pydrake.multibody.tree import MultibodyForces

        found = plant.CalcInverseDynamics(context, bridge.vdot_to(q[i], v[i], vdot[i]), MultibodyForces(plant)) - gravity
        assert np.allclose(found, bridge.tau_to(q[i], tau[i]), atol=1e-9)


def test_ros():
    model = ks.human28()
    q, v, tau = random_state(model, 6, 3)
    said = ks.bridges.to_joint_state(model, q, v, tau)
    assert len(said["name"]) == 28
    assert said["position"].shape == (3, 28)
    assert np.array_equal(said["velocity"][:, said["name"].index("elbowL_y")], v[:, model.dofs["elbowL_y"]])
    assert np.array_equal(said["twist"]["linear"], v[:, 3:6])
    order = list(reversed(range(28)))
    names = [said["name"][k] for k in order]
    back_q, back_v = ks.bridges.from_joint_state(model, names, said["position"][:, order], said["velocity"][:, order], q=q, v=v)
    assert np.array_equal(back_q, q)
    assert np.array_equal(back_v, v)
    with pytest.raises(ks.Error, match="no joint 'tail'"):
        ks.bridges.from_joint_state(model, ["tail"], [0.0])


def test_what_does_not_match_is_reported(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "quadruped.xml"
    file.write_text(QUADRUPED)
    mj = mujoco.MjModel.from_xml_path(str(file))
    with pytest.raises(ks.Error, match="zhip"):
        ks.bridges.mujoco(ks.human28(), mj)
    with pytest.raises(ks.Error, match="fixed"):
        ks.bridges.mujoco(ks.pendulum(), mj)
    bridge = ks.bridges.mujoco(ks.load(file), mj)
    with pytest.raises(ks.Error, match=r"\(\.\.\., 14\)"):
        bridge.q_to(np.zeros(5))
