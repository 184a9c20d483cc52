"""Recordings as others read them: the MCAP package and protobuf of Python, NumPy, a spreadsheet's CSV."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

mcap_reader = pytest.importorskip("mcap.reader")

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")
MAKE = BIN.parent / "tests/viewer/make_recordings"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("recordings")
    subprocess.run([MAKE, folder, "squat.mcap", "squat.csv", "squat.npz"], check=True)
    return folder


def decoded(path: Path, topics=None):
    """(topic, message) of a recording, decoded by its own schemas."""
    from mcap_protobuf.decoder import DecoderFactory

    with path.open("rb") as stream:
        reader = mcap_reader.make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return [(channel.topic, message) for _, channel, _, message in reader.iter_decoded_messages(topics=topics)]


def test_summary_counts_what_is_there(folder: Path):
    with (folder / "squat.mcap").open("rb") as stream:
        summary = mcap_reader.make_reader(stream, validate_crcs=True).get_summary()
        stream.seek(0)
        messages = list(mcap_reader.make_reader(stream).iter_messages())
    assert summary.statistics.message_count == len(messages)
    assert summary.statistics.chunk_count == len(summary.chunk_indexes)
    assert {a.name for a in summary.attachment_indexes} == {"scene.json", "model/0.json"}
    topics = {c.topic for c in summary.channels.values()}
    assert topics == {"/kansetsu/frame", "/tf", "/scene", "/joint_states", "/numbers/kinetic_energy", "/numbers/com_height",
                      "/numbers/ground_force"}


def test_attachments_come_out_whole(folder: Path):
    import json
    with (folder / "squat.mcap").open("rb") as stream:
        found = {a.name: a for a in mcap_reader.make_reader(stream).iter_attachments()}
    assert json.loads(found["scene.json"].data)["format"] == "kansetsu-scene"
    assert json.loads(found["model/0.json"].data)["format"] == "kansetsu-model"


def test_frames_are_those_of_the_table_to_the_bit(folder: Path):
    pytest.importorskip("mcap_protobuf")
    frames = [m for _, m in decoded(folder / "squat.mcap", ["/kansetsu/frame"])]
    arrays = np.load(folder / "squat.npz")
    with (folder / "squat.csv").open(newline="", encoding="utf-8") as stream:
        head, *rows = list(csv.reader(stream))
    assert len(frames) == len(rows) == len(arrays["time"]) == 241
    assert arrays["human/q"].shape == (241, 35) and arrays["human/v"].shape == (241, 34)
    assert list(arrays["human/q_names"][:3]) == ["base.x", "base.y", "base.z"]
    for i, frame in enumerate(frames):
        assert frame.time == arrays["time"][i] == float(rows[i][0])
        assert list(frame.figures[0].q) == list(arrays["human/q"][i]) == [float(x) for x in rows[i][1:36]]
        assert list(frame.figures[0].v) == list(arrays["human/v"][i])
        assert list(frame.numbers) == [float(x) for x in rows[i][-3:]]
    assert head[-1] == "ground force [N]"
    assert np.array_equal(arrays["contacts/frame"], np.repeat(np.arange(241), 8))
    force = arrays["contacts/force"][:, 2].reshape(241, 8).sum(axis=1)
    assert np.allclose(force, arrays["numbers/ground force"], rtol=1e-12)  # rounding of a sum


def test_transforms_and_arrows_are_what_foxglove_shows(folder: Path):
    pytest.importorskip("mcap_protobuf")
    messages = decoded(folder / "squat.mcap")
    transforms = [m for topic, m in messages if topic == "/tf"]
    assert 118 <= len(transforms) <= 122  # 4 s at 30 Hz
    feet = [t for t in transforms[40].transforms if t.child_frame_id == "human/FootL"]
    assert len(feet) == 1 and feet[0].parent_frame_id == "world"
    assert feet[0].translation.z == pytest.approx(0.08, abs=1e-9)  # the ankle above its sole
    scenes = [m for topic, m in messages if topic == "/scene"]
    shapes = {e.id: e for e in scenes[0].entities}
    assert shapes["human/FootL"].frame_locked and len(shapes["human/FootL"].cubes) == 1
    arrows = [e for e in scenes[5].entities if e.id == "contact forces"][0].arrows
    assert len(arrows) == 8
    total = sum(a.shaft_length + a.head_length for a in arrows) * 1000
    assert 400 < total < 1200  # newtons; the figure weighs 677


def test_foxglove_schemas_equal_the_published_ones(folder: Path):
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    published = pytest.importorskip("foxglove_schemas_protobuf.SceneUpdate_pb2")
    transforms = pytest.importorskip("foxglove_schemas_protobuf.FrameTransforms_pb2")

    def shape(message):
        """What makes two messages the same on the wire and by name."""
        fields = [(f.name, f.number, f.type, f.label, f.type_name, f.proto3_optional) for f in message.field]
        enums = [(e.name, [(v.name, v.number) for v in e.value]) for e in message.enum_type]
        return message.name, fields, enums

    def files(descriptor, found):
        for dependency in descriptor.dependencies:
            files(dependency, found)
        copy = descriptor_pb2.FileDescriptorProto()
        descriptor.CopyToProto(copy)
        found[copy.name] = (copy.package, [shape(m) for m in copy.message_type], set(copy.dependency))
        return found

    theirs = files(published.DESCRIPTOR, {})
    files(transforms.DESCRIPTOR, theirs)
    files(pytest.importorskip("foxglove_schemas_protobuf.JointStates_pb2").DESCRIPTOR, theirs)
    with (folder / "squat.mcap").open("rb") as stream:
        schemas = mcap_reader.make_reader(stream).get_summary().schemas.values()
    seen = 0
    for schema in schemas:
        assert schema.encoding == "protobuf"
        ours = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
        for file in ours.file:
            if file.package == "kansetsu":
                continue
            assert (file.package, [shape(m) for m in file.message_type], set(file.dependency)) == theirs[file.name]
            seen += 1
    assert seen >= len(theirs)


def test_convert_writes_every_format(folder: Path, tmp_path: Path):
    for extension in ["mcap", "csv", "npz", "glb"]:
        result = subprocess.run([BIN, "convert", folder / "squat.mcap", tmp_path / f"a.{extension}"], capture_output=True)
        assert result.returncode == 0, result.stderr
    assert (tmp_path / "a.csv").read_bytes() == (folder / "squat.csv").read_bytes()
    assert (tmp_path / "a.mcap").read_bytes() == (folder / "squat.mcap").read_bytes()


def test_bad_recordings_are_told_on_the_command_line(folder: Path, tmp_path: Path):
    cases = {"empty.mcap": (b"", "REC002"), "text.mcap": (b"solid cube", "REC002"),
             "cut.mcap": ((folder / "squat.mcap").read_bytes()[:60], "REC003")}
    for name, (data, code) in cases.items():
        (tmp_path / name).write_bytes(data)
        result = subprocess.run([BIN, "convert", tmp_path / name, tmp_path / "out.csv"], capture_output=True, text=True)
        assert result.returncode == 3 and code in result.stderr, result.stderr
    result = subprocess.run([BIN, "convert", tmp_path / "missing.mcap", tmp_path / "out.csv"], capture_output=True, text=True)
    assert result.returncode == 3 and "REC001" in result.stderr


def test_a_recording_is_known_by_its_content(folder: Path, tmp_path: Path):
    odd = tmp_path / "squat.bin"
    odd.write_bytes((folder / "squat.mcap").read_bytes())
    done = subprocess.run([BIN, "check", odd], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"{odd}: ok, 1 figure, 241 frames\n"
    text = subprocess.run([BIN, "info", odd], capture_output=True, text=True).stdout
    assert "241 frames from 0 to 4 s" in text and "human" in text


OBJ = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nf 1 2 3 4\nf 1 2 5\n"  # a square, and a wall across a crease


def test_obj_meshes_are_in_gltf_files_with_shared_vertices(tmp_path: Path):
    (tmp_path / "part.obj").write_text(OBJ)
    visual = '<visual><origin xyz="{} 0 0"/><geometry><mesh filename="part.obj"/></geometry></visual>'
    (tmp_path / "part.urdf").write_text(f'<robot name="part"><link name="part">{visual.format(0)}{visual.format(2)}</link></robot>')
    done = subprocess.run([BIN, "simulate", tmp_path / "part.urdf", "--duration", "0.01", "--record", tmp_path / "part.glb"], capture_output=True, text=True)
    assert done.returncode == 0 and "REC022" not in done.stderr, done.stderr
    data = (tmp_path / "part.glb").read_bytes()
    length = int.from_bytes(data[12:16], "little")
    document = json.loads(data[20 : 20 + length])
    assert len(document["meshes"]) == 1, "both shapes share it"
    primitive = document["meshes"][0]["primitives"][0]
    assert document["accessors"][primitive["indices"]]["count"] == 9
    assert document["accessors"][primitive["attributes"]["POSITION"]]["count"] == 7, "four of the square, three of the wall"
    # Nothing moves: there is no animation, and so no times for it.
    assert "animations" not in document and len(document["accessors"]) == 1 + len(primitive["attributes"])


def test_every_force_is_in_every_format(tmp_path: Path):
    """A world recorded without being asked for anything: torques, power, contacts and the energy balance, the same in all files."""
    scene = ROOT / "examples/scenes/standing.toml"
    names = [tmp_path / f"run.{ending}" for ending in ("mcap", "csv", "npz")]
    options = [x for name in names for x in ("--record", str(name))]
    done = subprocess.run([BIN, "simulate", scene, "--duration", "0.4", *options], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f"wrote {name}, " in done.stderr
    arrays = np.load(names[2])
    figure = next(n.split("/")[0] for n in arrays.files if n.endswith("/q_names"))
    dofs = [str(n) for n in arrays[f"{figure}/v_names"]]
    tau = np.array([arrays[f"numbers/{figure}/tau/{dof}"] for dof in dofs]).T
    power = arrays[f"numbers/{figure}/joint power"]
    assert np.allclose(power[1:], (tau * arrays[f"{figure}/v"]).sum(axis=1)[1:], atol=1e-9)
    assert np.array_equal(arrays[f"numbers/{figure}/power/{dofs[-1]}"], tau[:, -1] * arrays[f"{figure}/v"][:, -1])
    balance = sum(arrays[f"numbers/{name}"] for name in ("kinetic energy", "potential energy"))
    spent = sum(arrays[f"numbers/{name}"] for name in ("work of torques", "work of contacts", "work of connections", "energy of impacts"))
    assert np.allclose(balance - balance[0] - spent, arrays["numbers/unexplained energy"], atol=1e-9)
    with names[1].open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    column = f"{figure}/tau/{dofs[-1]} [N m]"
    assert [float(row[column]) for row in rows] == list(tau[:, -1])
    # Contacts: the centre of pressure carries no moment but the one about the normal.
    force, moment = arrays["contacts/force"], arrays["contacts/moment"]
    assert len(force) > 0 and np.all(force[:, 2] > 0)
    assert np.all(np.abs(moment[:, :2]) < 1e-6 * (1 + np.abs(force[:, 2:])))
    assert set(arrays["contacts/state"]) <= {1, 2, 3, 4}
    with (tmp_path / "run.contacts.csv").open(newline="", encoding="utf-8") as stream:
        forces = list(csv.DictReader(stream))
    assert [float(row["force_z"]) for row in forces] == list(force[:, 2])
    assert {row["what"] for row in forces} <= {"stick", "slide", "spin", "impact"} and forces[0]["a"].startswith(figure)
    pytest.importorskip("mcap_protobuf")
    states = [m for topic, m in decoded(names[0]) if topic == "/joint_states"]
    assert len(states) >= 10
    joint = {j.name: j for j in states[-1].joints}[dofs[-1]]
    assert joint.HasField("effort") and joint.effort in tau[:, -1]
