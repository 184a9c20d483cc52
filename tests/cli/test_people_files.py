"""Motions of AMASS (.npz) and subjects of AddBiomechanics (.b3d), written here: neither may be passed on."""

from __future__ import annotations

import csv
import json
import math
import os
import struct
from pathlib import Path

import numpy
import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, run

WALK = Path(os.environ.get("KANSETSU_DATA_DIR", "")) / "grf" / "opensim_walk_gait2392"
needs_data = pytest.mark.skipif("KANSETSU_DATA_DIR" not in os.environ, reason="KANSETSU_DATA_DIR is not set")

PARENTS = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19]
NAMES = [
    "Pelvis", "L_Hip", "R_Hip", "Spine1", "L_Knee", "R_Knee", "Spine2", "L_Ankle",
    "R_Ankle", "Spine3", "L_Foot", "R_Foot", "Neck", "L_Collar", "R_Collar", "Head",
    "L_Shoulder", "R_Shoulder", "L_Elbow", "R_Elbow", "L_Wrist", "R_Wrist",
]


def rotation(v: numpy.ndarray) -> numpy.ndarray:
    """Rodrigues."""
    angle = float(numpy.linalg.norm(v))
    if angle == 0:
        return numpy.eye(3)
    x, y, z = v / angle
    k = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return numpy.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def joints_of(poses: numpy.ndarray, trans: numpy.ndarray, rest: numpy.ndarray) -> numpy.ndarray:
    """Joint centres as the body model has them: turns on parents, about axes at rest; the root stays at its place at rest."""
    out = numpy.zeros((len(poses), 22, 3))
    for k, pose in enumerate(poses):
        turns: list[numpy.ndarray] = []
        for i, parent in enumerate(PARENTS):
            own = rotation(pose[3 * i : 3 * i + 3])
            if parent < 0:
                turns.append(own)
                out[k, i] = rest[0] + trans[k]
            else:
                turns.append(turns[parent] @ own)
                out[k, i] = out[k, parent] + turns[parent] @ (rest[i] - rest[parent])
    return out


def upright(frames: int, width: int, seed: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Random small turns of somebody who stands with z up and goes forward."""
    random = numpy.random.default_rng(seed)
    poses = 0.3 * random.standard_normal((frames, width))
    poses[:, :3] = [math.pi / 2, 0, 0]  # y up at rest becomes z
    return poses, numpy.stack([numpy.linspace(0, 1, frames), numpy.zeros(frames), numpy.full(frames, 0.9)], axis=1)


@pytest.fixture
def rest(tmp_path: Path) -> numpy.ndarray:
    centres = numpy.random.default_rng(3).uniform(-0.3, 0.3, (24, 3))
    numpy.savez(tmp_path / "rest.npz", J=centres)
    return centres


@pytest.mark.parametrize(("width", "kind"), [(72, numpy.float64), (156, numpy.float64), (165, numpy.float32), (66, numpy.float64)])
@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_joint_centres_of_amass_are_those_of_the_body(tmp_path: Path, rest, width: int, kind, save):
    seed = 5
    print("seed", seed)
    poses, trans = upright(12, width, seed)
    file, table = tmp_path / "motion.npz", tmp_path / "centres.csv"
    save(file, poses=poses.astype(kind), trans=trans.astype(kind), mocap_framerate=60.0, gender="female", betas=numpy.zeros(16))
    result = run("convert", str(file), str(table), "--skeleton", str(tmp_path / "rest.npz"))
    assert result.exit_code == OK, result.stderr
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    theirs = joints_of(poses, trans, rest)
    ours = numpy.array([[[float(row[f"{name}.{a}"]) for a in "xyz"] for name in NAMES] for row in rows])
    assert numpy.abs(ours - theirs).max() < (1e-9 if kind is numpy.float64 else 1e-5)  # rounding of the numbers in the file
    assert float(rows[1]["time"]) == pytest.approx(1 / 60)


def test_parts_of_amass_and_files_with_y_up(tmp_path: Path, rest):
    poses, trans = upright(5, 66, 6)
    poses[:, :3] = 0  # y stays up
    file, table = tmp_path / "parts.npz", tmp_path / "centres.csv"
    numpy.savez(file, root_orient=poses[:, :3], pose_body=poses[:, 3:], trans=trans[:, [1, 2, 0]], mocap_frame_rate=30)
    result = run("convert", str(file), str(table), "--skeleton", str(tmp_path / "rest.npz"))
    assert result.exit_code == OK, result.stderr
    assert "y is up" in result.stderr
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    theirs = joints_of(poses, trans[:, [1, 2, 0]], rest)[:, :, [2, 0, 1]]
    ours = numpy.array([[[float(row[f"{name}.{a}"]) for a in "xyz"] for name in NAMES] for row in rows])
    assert numpy.abs(ours - theirs).max() < 1e-9  # rounding


@pytest.mark.parametrize("layout", ["a table per frame", "other names", "with hands", "of AIST++"])
def test_other_makers_of_smpl_motions(tmp_path: Path, rest, layout: str):
    poses, trans = upright(5, 72, 7)
    arrays = {
        "a table per frame": {"poses": poses.reshape(5, 24, 3), "trans": trans},
        "other names": {"global_orient": poses[:, :3], "body_pose": poses[:, 3:66], "transl": trans},
        "with hands": {"root_orient": poses[:, :3].reshape(5, 1, 3), "body_pose": poses[:, 3:].reshape(5, 23, 3), "trans": trans},
        "of AIST++": {"smpl_poses": poses, "smpl_trans": trans},
    }[layout]
    file, table = tmp_path / "motion.npz", tmp_path / "centres.csv"
    numpy.savez(file, fps=60, **arrays)
    result = run("convert", str(file), str(table), "--skeleton", str(tmp_path / "rest.npz"))
    assert result.exit_code == OK, result.stderr
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    ours = numpy.array([[[float(row[f"{name}.{a}"]) for a in "xyz"] for name in NAMES] for row in rows])
    assert numpy.abs(ours - joints_of(poses, trans, rest)).max() < 1e-9  # rounding


def test_a_motion_of_amass_is_analysed_on_a_mean_person(tmp_path: Path):
    """Somebody who stands and bends his knees: the floor carries his weight."""
    frames = 240
    bend = 0.25 * (1 - numpy.cos(2 * numpy.pi * numpy.arange(frames) / 120))
    poses, trans = numpy.zeros((frames, 156)), numpy.zeros((frames, 3))
    poses[:, 0] = math.pi / 2
    for joint, share in ((1, -1), (2, -1), (4, 2), (5, 2), (7, -1), (8, -1)):
        poses[:, 3 * joint] = share * bend
    trans[:, 2] = 0.43 * (2 * numpy.cos(bend))  # hips above the ankles, legs of the mean person
    file = tmp_path / "squat.npz"
    numpy.savez(file, poses=poses, trans=trans, mocap_framerate=60)
    info = run("info", str(file), "--json")
    assert json.loads(info.stdout)["table"] == "smpl"
    assert "mean person" in info.stderr
    result = run("analyze", str(file), "--json")
    assert result.exit_code == OK, result.stderr
    report = json.loads(result.stdout)
    assert report["supported"] == pytest.approx(1, abs=0.01)  # what a filter leaves over at the ends
    assert report["unsupported_frames"] == 0


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"poses": numpy.zeros((4, 70)), "trans": numpy.zeros((4, 3))}, "70 numbers per frame"),
        ({"poses": numpy.zeros((4, 72)), "trans": numpy.zeros((3, 3))}, "3 × 3 numbers, 4 frames"),
        ({"poses": numpy.zeros((4, 72))}, "position of the root is missing"),
        ({"poses": numpy.zeros((4, 72), numpy.float16), "trans": numpy.zeros((4, 3))}, "'poses' is of the type"),
        ({"root_orient": numpy.zeros((4, 3)), "pose_body": numpy.zeros((4, 60)), "trans": numpy.zeros((4, 3))}, "the body 4 × 60"),
        ({"poses": numpy.full((4, 72), numpy.nan), "trans": numpy.zeros((4, 3))}, "not a finite number"),
    ],
)
def test_motions_of_amass_that_cannot_be_used(tmp_path: Path, arrays: dict, word: str):
    numpy.savez(tmp_path / "bad.npz", **arrays)
    result = run("analyze", str(tmp_path / "bad.npz"))
    assert (result.exit_code, result.stdout) == (BAD_FILE, ""), result.stderr
    assert word in result.stderr


def field(number: int, value: int | float | str | bytes | numpy.ndarray) -> bytes:
    """One field of a message of protocol buffers."""

    def varint(x: int) -> bytes:
        out = b""
        while x >= 0x80:
            out += bytes([x & 0x7F | 0x80])
            x >>= 7
        return out + bytes([x])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value.astype("<f8").tobytes() if isinstance(value, numpy.ndarray) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


class SubjectFile:
    """A subject with one trial of two passes: the walk of gait2392 with its plates."""

    def __init__(self) -> None:
        self.names, table = self.table("subject01_walk1_ik.mot")
        self.times, values = table[:, 0], table[:, 1:]
        moved = numpy.array([name.startswith("pelvis_t") and name[-1] in "xyz" for name in self.names])
        self.values = numpy.where(moved, values, numpy.radians(values))
        names, forces = self.table("subject01_walk1_grf.mot")
        at = [numpy.interp(self.times, forces[:, 0], forces[:, c]) for c in range(1, forces.shape[1])]
        columns = dict(zip(names, at, strict=True))
        self.forces = [
            numpy.stack([columns[f"{first}{axis}"] for axis in "xyz"], axis=1)
            for side in ("", "l_")
            for first in (f"{side}ground_force_v", f"{side}ground_force_p", f"{side}ground_torque_")
        ]

    @staticmethod
    def table(name: str) -> tuple[list[str], numpy.ndarray]:
        lines = [line.split() for line in (WALK / name).read_text().splitlines()]
        rows = [line for line in lines[lines.index(["endheader"]) + 1 :] if line]
        return rows[0][1:], numpy.array(rows[1:], float)

    def frame(self, k: int) -> bytes:
        force, point, torque, *left = (x[k] for x in self.forces)
        return (
            field(1, self.values[k])
            + field(6, numpy.concatenate([point, left[1]]))
            + field(7, numpy.concatenate([torque, left[2]]))
            + field(8, numpy.concatenate([force, left[0]]))
        )

    def bytes(self, dofs: int | None = None) -> bytes:
        sensors = field(2, numpy.array([0.1, 0.2, 0.3, math.nan, math.nan, math.nan]))
        wrong = field(1, 0 * self.values[0]) + self.frame(0)[len(field(1, self.values[0])) :]  # the first pass is not the one
        step = float(self.times[1] - self.times[0])
        trial = field(1, "walk 1") + field(2, bytes(len(self.times) - 3) + b"\1\2\3") + field(3, len(self.times))
        trial += field(4, step) + field(5, field(1, 0)) + field(5, field(1, 2))
        header = field(1, dofs or len(self.names)) + field(3, len(sensors)) + field(4, len(wrong))
        header += field(5, field(1, 0) + field(2, "<no model/>")) + field(5, field(2, (WALK / "subject01.osim").read_text()))
        header += field(6, "calcn_r") + field(6, "calcn_l") + field(9, trial) + field(10, 3) + field(13, "male")
        header += field(14, 1.8) + field(15, 72.6) + field(17, "RASI") + field(17, "LASI")
        frames = b"".join(sensors + wrong + self.frame(k) for k in range(len(self.times)))
        return struct.pack("<q", len(header)) + header + frames


@pytest.fixture(scope="module")
def subject(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("b3d") / "subject.b3d"
    file.write_bytes(SubjectFile().bytes())
    return file


@needs_data
def test_a_subject_gives_the_moments_of_its_files(subject: Path, tmp_path: Path):
    ours = run("analyze", str(subject), "--filter", "6", "--trial", "walk 1", "--json")
    assert ours.exit_code == OK, ours.stderr
    assert "in 3 of" in ours.stderr
    files = [WALK / "subject01_walk1_ik.mot", "--figure", WALK / "subject01.osim", "--loads", WALK / "subject01_walk1_grf.xml"]
    theirs = run("analyze", *map(str, files), "--json")
    mine, other = json.loads(ours.stdout), json.loads(theirs.stdout)
    assert mine["frames"] == other["frames"]
    assert mine["residual_force"] == pytest.approx(other["residual_force"], rel=0.02)  # plates at the frames alone
    for trial in ("", "1"):
        again = run("analyze", str(subject), "--filter", "6", "--json", *(["--trial", trial] if trial else []))
        assert again.stdout == ours.stdout


@needs_data
def test_parts_of_a_subject(subject: Path, tmp_path: Path):
    assert "walk 1" in run("info", str(subject)).stdout
    report = json.loads(run("info", str(subject), "--json").stdout)
    assert report["mass"] == 72.6
    assert report["bodies"] == ["calcn_r", "calcn_l"]
    assert report["trials"][0]["passes"] == ["kinematics", "low-pass filter"]
    for name in ("m.osim", "q.mot", "f.sto", "m.trc"):
        assert run("convert", str(subject), str(tmp_path / name)).exit_code == OK
    assert (tmp_path / "m.osim").read_text() == (WALK / "subject01.osim").read_text()
    assert run("analyze", str(tmp_path / "q.mot"), "--figure", str(tmp_path / "m.osim")).exit_code == OK
    assert json.loads(run("info", str(tmp_path / "m.trc"), "--json").stdout)["markers"] == {"RASI": 0, "LASI": report["trials"][0]["frames"]}


@needs_data
def test_subjects_that_cannot_be_used(subject: Path, tmp_path: Path):
    whole = subject.read_bytes()
    bad = tmp_path / "bad.b3d"
    for bytes_, word in (
        (b"", "too few for a header"),
        (whole[:5000], "too few for a header"),
        (whole[:-10], "bytes are left"),
        (SubjectFile().bytes(dofs=29), "29 numbers per frame, its model has 23 coordinates"),
        (whole[:-400] + b"\xff" * 400, "is damaged"),
    ):
        bad.write_bytes(bytes_)
        result = run("analyze", str(bad))
        assert (result.exit_code, result.stdout) == (BAD_FILE, ""), result.stderr
        assert word in result.stderr
    assert run("analyze", str(subject), "--trial", "run").exit_code == USAGE
    assert run("analyze", str(subject), "--figure", "human28").exit_code == USAGE
    assert run("analyze", "clip.bvh", "--trial", "run").exit_code == USAGE
