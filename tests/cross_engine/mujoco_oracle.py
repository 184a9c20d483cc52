"""MuJoCo as the reference for models in MJCF: mass matrix and inverse dynamics of one figure in Kansetsu's coordinates."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pytest
from kansetsu_protocol import BASE_DOFS, Base, State, data_files


FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint


def mjcf_models() -> list:
    """The MJCF files of the test data, and of wheels that carry some where they are installed, as test parameters."""
    patterns = ("robots/mjcf/*.xml", "robots/mjcf_meshes/*/*.xml", "odd_models/mjcf/*.xml")
    found = [p for pattern in patterns for p in data_files(pattern)]
    for package in ("dm_control", "gymnasium", "mjlab"):  # test only, and not needed
        spec = importlib.util.find_spec(package)
        for file in sorted(Path(spec.origin).parent.rglob("*.xml")) if spec else []:
            if "<mujoco" in file.read_text(errors="replace"):
                found.append(pytest.param(file, id=f"{package}-{file.parent.name}-{file.stem}"))
    return found


def sides_differ(m: mujoco.MjModel, tendon: int) -> bool:
    """Side sites have the meaning of MuJoCo 4; MuJoCo 3 compared them with the nearest point of the straight line."""
    if int(mujoco.__version__.split(".")[0]) >= 4:
        return False
    parts = range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon])
    round_geoms = (int(mujoco.mjtWrap.mjWRAP_SPHERE), int(mujoco.mjtWrap.mjWRAP_CYLINDER))
    return any(m.wrap_type[k] in round_geoms and m.wrap_prm[k] >= 0 for k in parts)


def without_meshes(source: Path, target: Path) -> Path:
    """A copy of the model without what needs files that are not there (mesh geoms, meshes, textures), and without an option
    that newer versions no longer know."""
    tree = ElementTree.parse(source)
    for option in tree.iter("option"):
        option.attrib.pop("collision", None)
    for parent in list(tree.iter()):
        for child in list(parent):
            is_mesh = child.tag == "mesh" or (child.tag == "geom" and parent.tag != "default" and "mesh" in child.attrib)
            if is_mesh or (child.tag == "texture" and "file" in child.attrib):
                parent.remove(child)
            if child.tag == "material":
                child.attrib.pop("texture", None)
    _remove_geoms_of_mesh_classes(tree.getroot())
    tree.write(target)
    return target


def _remove_geoms_of_mesh_classes(root: ElementTree.Element) -> None:
    for element in root.iter("geom"):
        if element.get("type") == "mesh":
            element.set("type", "sphere")
            element.attrib.setdefault("size", "0.01")


class MujocoOracle:
    def __init__(self, file: Path):
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.data = mujoco.MjData(self.model)
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        weightless = self.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        self.gravity = (0.0, 0.0, 0.0) if weightless else tuple(self.model.opt.gravity.tolist())
        self._joints: dict[str, int] = {}
        self._roots: dict[str, int] = {}

    def name_by_order(self, figures: list[dict]) -> None:
        """Joints and bodies without a name in the file are known by their place: both programs go depth first. A free joint
        may be three slides and a ball joint here, the last of the name."""
        m = self.model
        named = {m.joint(j).name: j for j in range(m.njnt) if m.joint(j).name}
        unnamed = iter([j for j in range(m.njnt) if not m.joint(j).name and m.jnt_type[j] != FREE])
        bodies = {m.body(b).name: b for b in range(1, m.nbody)}
        found = set()
        for figure in figures:
            slides: list[str] = []
            for name in [j["name"] for j in figure["joints"] if j["nv"] > 0]:
                if name not in named and name[-2:] in ("/x", "/y", "/z"):
                    slides.append(name)
                    continue
                if name in named:
                    joint = named[name]
                else:
                    joint = int(m.body_jntadr[bodies[name.removesuffix("_joint")]]) if slides else next(unnamed)
                for part in [*slides, name]:
                    self._joints[part] = joint
                assert len(slides) == (3 if m.jnt_type[joint] == FREE else 0)
                slides = []
                found.add(joint)
        free = iter([j for j in range(m.njnt) if m.jnt_type[j] == FREE and j not in found])
        for figure in figures:
            if figure["base"] == "free":
                joint = next(free)
                self._roots[figure["name"]] = int(m.jnt_bodyid[joint])
                found.add(joint)
        assert found == set(range(m.njnt))

    def joint(self, name: str) -> int:
        if name in self._joints:
            return self._joints[name]
        return mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)

    def _place(self, name: str) -> tuple[int, int, bool]:
        """Where a joint's coordinates and velocities begin in MuJoCo's, and whether it is a ball joint."""
        j = self.joint(name)
        q, v = int(self.model.jnt_qposadr[j]), int(self.model.jnt_dofadr[j])
        if self.model.jnt_type[j] != FREE:
            return q, v, self.model.jnt_type[j] == BALL
        part = "xyz".find(name.rsplit("/", 1)[-1])  # one of its slides, or its ball joint
        return (q + part, v + part, False) if part >= 0 and name[-2:-1] == "/" else (q + 3, v + 3, True)

    def body(self, name: str) -> int:
        if name in self._roots:
            return self._roots[name]
        return mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)

    def columns(self, dofs: list[str], root: str) -> list[int]:
        """MuJoCo's columns of the given coordinates; those of the base in the order ω, v."""
        out = []
        for dof in dofs:
            if dof in BASE_DOFS:
                body = self.body(root)
                start = self.model.jnt_dofadr[self.model.body_jntadr[body]]
                k = BASE_DOFS.index(dof)
                out.append(start + (3 + k if k < 3 else k - 3))
            else:
                name, index = (dof, 0) if self.joint(dof) >= 0 else dof.rsplit(".", 1)
                out.append(self._place(name)[1] + ("wx wy wz".split().index(index) if index else 0))
        return out

    def random_state(self, rng: np.random.Generator, joints: list[str], root: str | None) -> State:
        """Random positions, velocities and accelerations of the joints, and of the free body `root`; kept in the data."""
        m, d = self.model, self.data
        state = State(base=None)
        d.qpos[:] = m.qpos0
        d.qvel[:] = d.qacc[:] = 0
        for name in joints:
            q, v, ball = self._place(name)
            size = 3 if ball else 1
            values = rng.uniform(-1, 1, size)
            if size == 3:
                quaternion = _unit(rng)
                d.qpos[q : q + 4] = quaternion
                state.q[name] = [*quaternion[1:].tolist(), float(quaternion[0])]
            else:
                d.qpos[q] = values[0]
                state.q[name] = float(values[0])
            d.qvel[v : v + size], d.qacc[v : v + size] = rng.uniform(-2, 2, size), rng.uniform(-5, 5, size)
            shape = (lambda x: x.tolist()) if size == 3 else (lambda x: float(x[0]))
            state.v[name], state.a[name] = shape(d.qvel[v : v + size]), shape(d.qacc[v : v + size])
        if root is not None:
            state.base = self._random_base(rng, root)
        return state

    def _random_base(self, rng: np.random.Generator, root: str) -> Base:
        m, d = self.model, self.data
        body = self.body(root)
        joint = m.body_jntadr[body]
        q, v = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        p, quaternion = rng.uniform(-2, 2, 3), _unit(rng)
        omega, velocity, alpha, a = rng.uniform(-2, 2, (4, 3))
        R = _matrix(quaternion)
        d.qpos[q : q + 3], d.qpos[q + 3 : q + 7] = p, quaternion
        d.qvel[v : v + 3], d.qvel[v + 3 : v + 6] = R @ velocity, omega
        d.qacc[v : v + 3], d.qacc[v + 3 : v + 6] = R @ (a + np.cross(omega, velocity)), alpha
        return Base(p=p.tolist(), quat_xyzw=[*quaternion[1:].tolist(), float(quaternion[0])], omega=omega.tolist(),
                    v=velocity.tolist(), alpha=alpha.tolist(), a=a.tolist())

    def keep(self) -> tuple[np.ndarray, ...]:
        return tuple(x.copy() for x in (self.data.qpos, self.data.qvel, self.data.qacc))

    def go_back(self, kept: tuple[np.ndarray, ...]) -> None:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = kept

    def dynamics(self, dofs: list[str], root: str) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix and the generalised forces for the kept state, in Kansetsu's coordinates."""
        m, d = self.model, self.data
        qacc = d.qacc.copy()
        mujoco.mj_forward(m, d)
        full = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, full)
        tau = full @ qacc + d.qfrc_bias
        columns = self.columns(dofs, root)
        T = np.eye(len(dofs))
        if dofs[: len(BASE_DOFS)] == list(BASE_DOFS):
            body = self.body(root)
            q = m.jnt_qposadr[m.body_jntadr[body]]
            T[3:6, 3:6] = _matrix(d.qpos[q + 3 : q + 7])
        return T.T @ full[np.ix_(columns, columns)] @ T, T.T @ tau[columns]


def _unit(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.standard_normal(4)
    return quaternion / np.linalg.norm(quaternion)


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat.reshape(3, 3)
