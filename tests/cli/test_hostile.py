"""Models, scenes and recordings made to do harm: refused or harmless, and no file that they name gets into an output."""

from __future__ import annotations

import json
import os
import re
import resource
import struct
import subprocess
import time
import zlib
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, has_viewer, needs_viewer, run

BIN = Path(os.environ.get("KANSETSU_BIN") or Path(__file__).resolve().parents[2] / "build/kansetsu")
SECRET = "root:x:0:0:the secret of this test"
TRIANGLE = "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"
LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
MAGIC = b"\x89MCAP0\r\n"
CLIP = ("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 10 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.01\n0 0 0 0 0 0\n")
OSIM = ('<OpenSimDocument Version="40000"><Model name="rod"><BodySet><objects><Body name="b"><mass>1</mass><mass_center>0 0 0</mass_center>'
        '<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects><SliderJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>'
        '<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name="x"><motion_type>translational</motion_type></Coordinate>'
        '</coordinates></SliderJoint></objects></JointSet></Model></OpenSimDocument>')


def urdf(*meshes: str) -> str:
    shapes = "".join(f'<visual><geometry><mesh filename="{m}"/></geometry></visual>' for m in meshes)
    return f'<robot name="a"><link name="b">{LINK}{shapes}</link></robot>'


def computing() -> float:
    """Seconds of a core that commands have taken so far, however busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def everything(folder: Path) -> bytes:
    return b"".join(f.read_bytes() for f in folder.rglob("*") if f.is_file())


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "private/secret.stl"
    path.parent.mkdir()
    path.write_text(TRIANGLE.replace("solid t", f"solid {SECRET}"))  # a sound mesh even
    return path


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    folder = tmp_path / "package/robots"
    folder.mkdir(parents=True)
    return folder / "a.urdf"


@pytest.mark.parametrize("name", ["{secret}", "file://{secret}", "../../private/secret.stl", "package://private/secret.stl", "link.stl",
                                  "/etc/passwd", "/proc/self/environ"])
def test_a_model_does_not_give_other_files_away(name: str, robot: Path, secret: Path, tmp_path: Path):
    robot.write_text(urdf(name.format(secret=secret)))
    (robot.parent / "link.stl").symlink_to(secret)
    out = tmp_path / "out"
    out.mkdir()
    checked = run("check", robot)
    assert checked.exit_code == OK and "URDF035" in checked.stderr
    assert ("--package-path" if name.startswith("package:") else "--allow-path") in checked.stderr
    for ending in ["mcap", "glb", "npz", "csv"]:
        assert run("simulate", robot, "--duration", "0.01", "--record", out / f"r.{ending}").exit_code == OK
    run("view", robot, "--html", out / "page.html")
    run("convert", robot, out / "copy.toml")
    found = everything(out)
    assert b"outer loop" not in found and b"root:x:0" not in found and b"PATH=" not in found
    if "etc" in name or "proc" in name:
        return
    allowed = run("simulate", robot, "--duration", "0.01", "--record", out / "r.mcap", "--allow-path", secret.parent)
    assert allowed.exit_code == OK and b"outer loop" in (out / "r.mcap").read_bytes()


def test_scenes_and_mjcf_stay_in_their_package(robot: Path, secret: Path, tmp_path: Path):
    scene, mjcf, other = robot.with_name("s.toml"), robot.with_name("m.xml"), tmp_path / "private/o.urdf"
    other.write_text(urdf())
    scene.write_text(f'[[figure]]\nname = "x"\nmodel = "{other}"\n')
    result = run("check", scene)
    assert result.exit_code == BAD_FILE and "SCENE015" in result.stderr
    assert run("check", scene, "--allow-path", other.parent).exit_code == OK
    scene.write_text(f'[[environment]]\nname = "x"\ntype = "mesh"\nfile = "{secret}"\n')
    assert run("check", scene).exit_code == BAD_FILE
    include = tmp_path / "private/i.xml"
    include.write_text(f"<mujocoinclude><!-- {SECRET} --></mujocoinclude>")
    mjcf.write_text(f'<mujoco><include file="{include}"/><worldbody/></mujoco>')
    result = run("check", mjcf)
    assert result.exit_code == BAD_FILE and "MJCF024" in result.stderr and SECRET not in result.stderr
    mjcf.write_text(f'<mujoco><asset><mesh name="m" file="{secret}"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>')
    result = run("check", mjcf)
    assert "MJCF070" in result.stderr


@pytest.mark.parametrize("name", ["{secret}", "file://{secret}", "file:{secret}", "FILE://{secret}", "file://localhost{secret}", "../../private/secret.stl",
                                  "model://private/secret.stl", "model://../private/secret.stl", "package://robots/../../private/secret.stl", "link/secret.stl",
                                  "link/../private/secret.stl", "link.stl", "..%2f..%2fprivate%2fsecret.stl"])
def test_sdf_and_scenes_stay_in_their_package(name: str, robot: Path, secret: Path, tmp_path: Path):
    (robot.parent / "link").symlink_to(secret.parent)
    (robot.parent / "link.stl").symlink_to(secret)
    out, sdf, scene = tmp_path / "out", robot.with_name("m.sdf"), robot.with_name("s.toml")
    out.mkdir()
    mesh = f"<geometry><mesh><uri>{name.format(secret=secret)}</uri></mesh></geometry>"
    sdf.write_text(f'<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial><visual name="v">{mesh}</visual><collision name="c">{mesh}</collision></link>'
                   "</model></sdf>")
    scene.write_text(f'[[environment]]\nname = "e"\ntype = "mesh"\nfile = "{name.format(secret=secret)}"\n')
    for model in (sdf, scene):
        run("simulate", model, "--duration", "0.01", "--allow-partial", "--record", out / f"{model.suffix}.mcap")
        run("convert", model, out / f"copy{model.suffix}")
    run("convert", sdf, out / "copy.xml")
    found = everything(out)
    assert b"outer loop" not in found and SECRET.encode() not in found and b"<vertex" not in found
    run("simulate", sdf, "--duration", "0.01", "--allow-partial", "--record", tmp_path / "allowed.mcap", "--allow-path", secret.parent)
    if name in ("{secret}", "file://{secret}", "../../private/secret.stl", "link.stl"):
        assert b"outer loop" in (tmp_path / "allowed.mcap").read_bytes()  # what would be seen, then, if it leaked


MJCF_MESH = '<worldbody><body><freejoint/><geom size="1"/><geom type="mesh" mesh="m" mass="1" contype="0" conaffinity="0"/></body></worldbody>'


@pytest.mark.parametrize("text", [
    '<compiler meshdir="PRIVATE"/><asset><mesh name="m" file="secret.stl"/></asset>' + MJCF_MESH,
    '<compiler assetdir="../../private"/><asset><mesh name="m" file="secret.stl"/></asset>' + MJCF_MESH,
    '<compiler meshdir="link"/><asset><mesh name="m" file="secret.stl"/></asset>' + MJCF_MESH,
    '<compiler meshdir="link/.." strippath="false"/><asset><mesh name="m" file="private/secret.stl"/></asset>' + MJCF_MESH,
    '<asset><model name="x" file="PRIVATE/x.xml"/></asset><worldbody><attach model="x" prefix="a"/></worldbody>',
    '<asset><model name="x" file="link/x.xml"/></asset><worldbody><attach model="x" prefix="a"/></worldbody>',
    '<asset><model name="x" file="../x.xml"/></asset><worldbody><attach model="x" prefix="a"/></worldbody>',  # which names a mesh outside
    '<include file="../y.xml"/><worldbody/>',
    '<asset><hfield name="h" file="PRIVATE/secret.stl" size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="h"/></worldbody>'])
def test_no_way_of_mjcf_leads_out_of_the_package(text: str, robot: Path, secret: Path, tmp_path: Path):
    private, out = secret.parent, tmp_path / "out"
    out.mkdir()
    (robot.parent / "link").symlink_to(private)
    outside = f'<mujoco><asset><mesh name="m" file="{secret}"/></asset>{MJCF_MESH}</mujoco>'
    for place in (private / "x.xml", robot.parent.parent / "x.xml"):
        place.write_text(outside)
    (robot.parent.parent / "y.xml").write_text(outside.replace("mujoco>", "mujocoinclude>"))
    model = robot.with_name("m.xml")
    model.write_text(f"<mujoco>{text.replace('PRIVATE', str(private))}</mujoco>")
    for ending in ["mcap", "glb"]:
        run("simulate", model, "--duration", "0.01", "--allow-partial", "--record", out / f"r.{ending}")
    run("convert", model, out / "c.toml")
    run("view", model, "--html", out / "page.html")
    result = run("check", model)
    assert SECRET not in result.stdout + result.stderr and result.stderr
    assert b"outer loop" not in everything(out) and SECRET.encode() not in everything(out)
    toml = out / "c.toml"
    assert not toml.exists() or "vertices" not in toml.read_text()
    run("simulate", model, "--duration", "0.01", "--allow-partial", "--record", tmp_path / "allowed.mcap", "--allow-path", private)
    assert "hfield" in text or b"outer loop" in (tmp_path / "allowed.mcap").read_bytes()  # what would be seen, then, if it leaked


def test_setups_of_inverse_dynamics_stay_in_their_package(robot: Path, secret: Path):
    setup, table = robot.with_name("setup.xml"), secret.with_name("table.mot")
    table.write_text(f"{SECRET}\n")
    for tag, child, more in [("InverseDynamicsTool", "coordinates_file", "<model_file>m.osim</model_file>"), ("InverseDynamicsTool", "model_file", "<coordinates_file>m.mot</coordinates_file>"),
                             ("InverseDynamicsTool", "external_loads_file", "<model_file>m.osim</model_file><coordinates_file>m.mot</coordinates_file>")]:
        for name in [str(table), "../../private/table.mot", "link.mot"]:
            if not (robot.parent / "link.mot").is_symlink():
                (robot.parent / "link.mot").symlink_to(table)
            setup.write_text(f"<OpenSimDocument><{tag}><{child}>{name}</{child}>{more}</{tag}></OpenSimDocument>")
            result = run("analyze", setup)
            assert result.exit_code == BAD_FILE and "OSIM018" in result.stderr and SECRET not in result.stderr, (child, name, result.stderr)
            assert "OSIM018" not in run("analyze", setup, "--allow-path", secret.parent).stderr


def test_what_a_scene_names_reaches_no_further_than_the_scene(robot: Path, secret: Path, tmp_path: Path):
    """A model one folder above its scene has a parent folder of its own, which is outside of the scene's package."""
    scene, above = robot.with_name("s.toml"), robot.parent.parent
    (above / "x.urdf").write_text(urdf("../private/secret.stl"))
    (above / "x.xml").write_text(f'<mujoco><asset><mesh name="m" file="{secret}"/><texture name="t" type="2d" file="../private/p.png"/>'
                                 '<material name="c" texture="t"/></asset><worldbody><body><freejoint/><geom size="1" material="c"/>'
                                 '<geom type="mesh" mesh="m" mass="1" contype="0" conaffinity="0"/></body></worldbody></mujoco>')
    (tmp_path / "private/p.png").write_bytes(png())
    out = tmp_path / "out"
    out.mkdir()
    for name, code in [("x.urdf", "URDF035"), ("x.xml", "MJCF070")]:
        scene.write_text(f'[[figure]]\nname = "x"\nmodel = "../{name}"\nbase = "free"\n')
        assert code in run("check", scene).stderr
        for ending in ["mcap", "glb"]:
            assert run("simulate", scene, "--duration", "0.01", "--allow-partial", "--record", out / f"{name}.{ending}").exit_code == OK
        allowed = run("simulate", scene, "--duration", "0.01", "--allow-partial", "--record", tmp_path / "allowed.mcap", "--allow-path", secret.parent)
        assert allowed.exit_code == OK and b"outer loop" in (tmp_path / "allowed.mcap").read_bytes()
    found = everything(out)
    assert b"outer loop" not in found and b"IDAT" not in found
    (above / "loads.xml").write_text("<OpenSimDocument><ExternalLoads><datafile>../private/table.mot</datafile></ExternalLoads></OpenSimDocument>")
    robot.with_name("setup.xml").write_text("<OpenSimDocument><InverseDynamicsTool><model_file>m.osim</model_file><coordinates_file>m.mot</coordinates_file>"
                                            "<external_loads_file>../loads.xml</external_loads_file></InverseDynamicsTool></OpenSimDocument>")
    robot.with_name("m.osim").write_text(OSIM)
    robot.with_name("m.mot").write_text("m\nnRows=9\nnColumns=2\nendheader\ntime\tx\n" + "".join(f"{k / 100}\t0\n" for k in range(9)))
    result = run("analyze", robot.with_name("setup.xml"))
    assert result.exit_code == BAD_FILE and "OSIM018" in result.stderr


def test_a_scene_writes_below_the_current_folder_only(robot: Path, tmp_path: Path):
    work, victim = tmp_path / "work", tmp_path / "victim.csv"
    work.mkdir()
    victim.write_text("precious")
    scene = robot.with_name("s.toml")
    text = '[[figure]]\nname = "p"\nmodel = "pendulum"\n[[record]]\nfile = "{}"\n'
    for name in [str(victim), "../victim.csv", "link/victim.csv"]:
        if name.startswith("link") and not (work / "link").exists():
            (work / "link").symlink_to(tmp_path)
        scene.write_text(text.format(name))
        done = subprocess.run([BIN, "simulate", scene, "--duration", "0.01"], cwd=work, capture_output=True, text=True)
        assert done.returncode == BAD_FILE and "outside of the current folder" in done.stderr
        assert victim.read_text() == "precious"
    scene.write_text(text.format("own.csv"))
    assert subprocess.run([BIN, "simulate", scene, "--duration", "0.01"], cwd=work, capture_output=True).returncode == OK
    assert (work / "own.csv").exists()


# --- recordings -----------------------------------------------------------------------------------

def records(data: bytes):
    at = 8
    while at + 9 <= len(data) - 8:
        (size,) = struct.unpack_from("<Q", data, at + 1)
        yield data[at], data[at + 9:at + 9 + size]
        at += 9 + size


def text(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def edited(data: bytes, name: bytes, change, checksum: bool) -> bytes:
    """The recording with the JSON of one attachment changed."""
    out = MAGIC
    for op, content in records(data):
        if op == 9:
            (size,) = struct.unpack_from("<I", content, 16)
            own = content[20:20 + size]
            (media,) = struct.unpack_from("<I", content, 20 + size)
            body = content[24 + size + media + 8:-4]
            if own == name:
                value = json.loads(body)
                change(value)
                body = json.dumps(value).encode()
                content = content[:16] + text(own) + text(b"application/json") + struct.pack("<Q", len(body)) + body
                content += struct.pack("<I", zlib.crc32(content) if checksum else 0)
        if op == 15:
            content = bytes(4)
        out += bytes([op]) + struct.pack("<Q", len(content)) + content
        if op == 15:
            break
    return out + b"\x02" + struct.pack("<Q", 20) + bytes(20) + MAGIC


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> bytes:
    file = tmp_path_factory.mktemp("recording") / "r.mcap"
    assert run("simulate", "pendulum", "--duration", "0.05", "--record", file).exit_code == OK
    return file.read_bytes()


CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
SURFACES = {
    "beyond": {"type": "triangles", "vertices": CORNERS, "triangles": [[0, 1, 100000000]]},
    "negative": {"type": "triangles", "vertices": CORNERS, "triangles": [[0, 1, -5]]},
    "leak": {"type": "triangles", "vertices": CORNERS, "triangles": [[0, 1, i] for i in range(3, 40)]},
    "cut off": {"type": "triangles", "vertices": CORNERS, "triangles": [[0, 1, 1 << 32]]},
    "few heights": {"type": "heights", "columns": 5000, "rows": 5000, "size": [1, 1], "heights": [0, 0, 0]},
    "overflow": {"type": "heights", "columns": 2000000000, "rows": 2000000000, "size": [1, 1], "heights": [0, 0, 0]},
}


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("name", SURFACES)
def test_surfaces_that_lead_outside_are_refused(name: str, checksum: bool, recording: bytes, tmp_path: Path):
    shape = {"name": "x", "pose": [0, 0, 0], "rpy": [0, 0, 0], **SURFACES[name]}
    file = tmp_path / "r.mcap"
    file.write_bytes(edited(recording, b"scene.json", lambda scene: scene["environment"].append(shape), checksum))
    for ending in ["glb", "mcap", "csv"]:
        result = run("convert", file, tmp_path / f"o.{ending}")
        assert result.exit_code == BAD_FILE and "REC006" in result.stderr
        assert not (tmp_path / f"o.{ending}").exists()


@pytest.mark.parametrize("shape", [{"type": "triangles", "vertices": CORNERS, "triangles": [[0, 1, 100000000]]},
                                   {"type": "height_field", "columns": 9, "rows": 9, "size_x": 1, "size_y": 1, "heights": [0]}])
def test_models_in_recordings_are_checked_as_well(shape: dict, recording: bytes, tmp_path: Path):
    file = tmp_path / "r.mcap"
    file.write_bytes(edited(recording, b"model/0.json", lambda m: m["links"][-1].setdefault("visuals", []).append({"shape": shape}), True))
    result = run("convert", file, tmp_path / "o.glb")
    assert result.exit_code == BAD_FILE and "MODEL038" in result.stderr


@pytest.mark.parametrize("checksum", [True, False])
def test_paths_in_recordings_are_not_opened(checksum: bool, recording: bytes, secret: Path, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    for path in [str(secret), "/etc/passwd"]:
        shape = {"shape": {"type": "mesh", "uri": "x.stl", "path": path}}
        file = tmp_path / "r.mcap"
        file.write_bytes(edited(recording, b"model/0.json", lambda m: m["links"][-1].setdefault("visuals", []).append(shape), checksum))
        for ending in ["mcap", "glb"]:
            assert run("convert", file, out / f"o.{ending}").exit_code == (OK if checksum else BAD_FILE)
        run("view", file, "--html", out / "page.html")
        found = everything(out)
        assert b"root:x:0" not in found and b"outer loop" not in found and path.encode() not in found


def test_a_bomb_is_refused_before_it_takes_memory(recording: bytes, tmp_path: Path):
    """Chunks of 250 MiB of zeros, packed as runs of a thousand lz4 bytes each; nobody would decompress four of them."""
    import lz4.frame
    plain = bytes(200 << 20)
    packed = lz4.frame.compress(plain)
    chunk = struct.pack("<QQQI", 0, 0, len(plain), zlib.crc32(plain)) + text(b"lz4") + struct.pack("<Q", len(packed)) + packed
    head = b"".join(bytes([op]) + struct.pack("<Q", len(c)) + c for op, c in records(recording) if op in (1, 9, 12))
    file = tmp_path / "bomb.mcap"
    file.write_bytes(MAGIC + head + 12 * (b"\x06" + struct.pack("<Q", len(chunk)) + chunk) + MAGIC)
    limit = 4 << 20  # KiB
    done = subprocess.run(["bash", "-c", f"ulimit -v {limit}; exec '{BIN}' convert '{file}' '{tmp_path}/o.csv'"], capture_output=True, text=True)
    assert done.returncode == BAD_FILE and "REC007" in done.stderr


# --- files that once broke the product ------------------------------------------------------------

def attacks() -> list[Path]:
    """Of the folder of recorded files; what they did is in its README."""
    folder = Path(os.environ.get("KANSETSU_DATA_DIR", "/nonexistent")).parent / "attack"
    return sorted(p for p in folder.glob("*") if p.suffix in (".mcap", ".urdf", ".toml"))


@pytest.mark.skipif(not attacks(), reason="the folder of attacks is not there")
def test_files_that_once_broke_the_product_are_refused_or_harmless(tmp_path: Path):
    found = attacks()
    assert len(found) >= 10  # as many as there were when this was written
    (tmp_path / "clip.bvh").write_text(CLIP)
    out = tmp_path / "out"
    out.mkdir()
    for file in found:
        commands = [["check", file], ["info", file]]
        if file.suffix == ".mcap":
            commands = [["convert", file, out / f"o.{e}"] for e in ("mcap", "glb", "csv", "npz")] + [["view", file, "--html", out / "o.html"], ["track", file], ["analyze", file]]
        elif file.suffix == ".urdf":
            commands += [["simulate", file, "--duration", "0.01", "--record", out / f"o.{e}"] for e in ("mcap", "glb")] + [["view", file, "--html", out / "o.html"]]
        else:
            commands = [["convert", tmp_path / "clip.bvh", out / "o.mcap", "--figure", "human28", "--landmarks", file]]
        for command in commands:
            words = " ".join(f"'{word}'" for word in command)
            done = subprocess.run(["bash", "-c", f"ulimit -v {4 << 20}; exec '{BIN}' {words}"], capture_output=True, text=True, timeout=120)
            assert done.returncode in ((OK, BAD_FILE) if file.suffix == ".urdf" else (BAD_FILE, USAGE)), (command, done.returncode, done.stderr)
            assert "root:x:0" not in done.stdout + done.stderr
    written = everything(out)
    assert b"root:x:0" not in written and b"PATH=" not in written


# --- inputs that hang or grow ---------------------------------------------------------------------

def test_a_pipe_that_nobody_writes_to_is_refused(tmp_path: Path):
    pipe = tmp_path / "model.urdf"
    os.mkfifo(pipe)
    start = time.monotonic()
    done = subprocess.run([BIN, "check", pipe], capture_output=True, text=True, timeout=60)
    assert done.returncode == BAD_FILE and "pipe" in done.stderr
    assert time.monotonic() - start < 20  # two seconds on an idle machine


# Every argument of every command that names a file to be read; "x.…" is that file, "clip.bvh" a sound one.
READS = ([["check", f"x.{e}"] for e in ["urdf", "xml", "toml", "osim", "mcap"]] + [["info", "x.urdf"], ["info", "x.toml"]]
         + [["eval", "x.urdf"], ["eval", "pendulum", "--in", "x.json"], ["ik", "x.urdf"], ["ik", "human28", "--in", "x.json"]]
         + [["fit", "x.c3d", "--figure", "human28"], ["fit", "x.trc", "--figure", "human28"], ["fit", "y.trc", "--figure", "x.osim"]]
         + [["simulate", "x.urdf"], ["simulate", "x.toml"], ["simulate", "pendulum", "--controls", "x.csv"], ["walk", "--figure", "x.urdf"]]
         + [["track", f"x.{e}"] for e in ["bvh", "mcap", "csv"]] + [["generate", "squat", "--figure", "x.urdf"]]
         + [["analyze", f"x.{e}"] for e in ["bvh", "mcap", "csv", "npz", "mot"]] + [["analyze", "clip.bvh", "--loads", "x.xml"]]
         + [["convert", f"x.{e}", "o.mcap"] for e in ["mcap", "bvh", "c3d", "trc", "toml", "osim", "npz", "asf", "urdf"]]
         + [["convert", "clip.bvh", "o.mcap", "--figure", "human28", "--landmarks", "x.toml"], ["convert", "clip.amc", "o.mcap", "--figure", "human28", "--skeleton", "x.asf"]]
         + [["compile", "x.urdf", "--out", "."], ["view", "x.mcap", "--html", "o.html"], ["view", "x.toml", "--html", "o.html"]])


def started(command: list[str], folder: Path) -> subprocess.Popen:
    (folder / "clip.bvh").write_text(CLIP)
    (folder / "clip.amc").write_text("#\n:FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n")
    return subprocess.Popen([BIN, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("kind", ["pipe", "zero", "folder", "loop", "socket"])
def test_no_command_waits_for_what_is_no_file(kind: str, tmp_path: Path):
    """A pipe that nobody writes to, a device without an end, a folder, a link to itself, a socket: each in the place of each input."""
    running = []
    for n, command in enumerate(READS):
        folder = tmp_path / str(n)
        folder.mkdir()
        place = folder / next(word for word in command if word.startswith("x."))
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "zero":
            place.symlink_to("/dev/zero")
        elif kind == "folder":
            place.mkdir()
        elif kind == "loop":
            place.symlink_to(place)
        else:
            os.mknod(place, 0o600 | 0o140000)
        running.append(started(command, folder))
        if len(running) % 8 == 0:  # no more at once
            running[-8].wait(timeout=60)
    for process, command in zip(running, READS, strict=True):
        _, result = process.communicate(timeout=60)  # two seconds on an idle machine
        assert process.returncode in (USAGE, BAD_FILE), (command, process.returncode, result)
        assert result.strip(), command
        assert not list((tmp_path / str(READS.index(command))).glob("o.*")), command


def test_a_pipe_that_somebody_writes_to_is_read(robot: Path):
    robot.write_text(urdf())
    done = subprocess.run(["bash", "-c", f"'{BIN}' check <(sleep 0.3; cat '{robot}')"], capture_output=True, text=True, timeout=60)
    assert done.returncode == OK, done.stderr


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_devices_are_no_models(device: str):
    done = subprocess.run([BIN, "check", device], capture_output=True, text=True, timeout=60)
    assert done.returncode == BAD_FILE


def test_requests_come_from_pipes():
    request = '{"compute": ["rnea"], "states": [{}]}'
    done = subprocess.run(["bash", "-c", f"'{BIN}' eval pendulum --in <(sleep 0.3; echo '{request}')"], capture_output=True, text=True, timeout=60)
    assert done.returncode == OK, done.stderr


@pytest.mark.parametrize("pattern", ["<OpenSimDocument {}/>", "<robot {}/>", "<mujoco {}/>", "<robot name='r'><link {}/></robot>"])
def test_many_attributes_do_not_take_long(pattern: str, tmp_path: Path):
    file = tmp_path / ("many.osim" if "OpenSim" in pattern else "many.xml")
    file.write_text(pattern.format(" ".join(f'a{i}="1"' for i in range(100_000))))
    start = computing()
    result = run("check", file)
    assert result.exit_code == BAD_FILE and "1000 attributes" in result.stderr
    assert computing() - start < 5  # a fraction of a second


def test_a_crowd_in_one_place_does_not_take_all_memory(tmp_path: Path):
    """Two thousand bodies and more in one place are pairs without end; 40 kB of text asked for gigabytes."""
    scene = tmp_path / "crowd.toml"
    scene.write_text("[scene]\n" + "".join(f'[[body]]\nname="b{i}"\ntype="sphere"\nradius=0.1\nmass=1.0\n' for i in range(2100)))
    result = run("simulate", scene, "--duration", "0.01")
    assert result.exit_code == BAD_FILE and "pairs of shapes overlap" in result.stderr


@pytest.mark.parametrize("wrong", [20_000])
def test_nothing_but_wrong_names_does_not_take_long(wrong: int, tmp_path: Path):
    file = tmp_path / "names.urdf"
    links = "".join(f'<link name="{"l" * 60}{i}">{LINK}</link>' for i in range(wrong))
    joints = "".join(f'<joint name="j{i}" type="fixed"><parent link="{"l" * 60}x{i}"/><child link="{"l" * 60}{i}"/></joint>' for i in range(wrong))
    file.write_text(f'<robot name="a">{links}{joints}</robot>')
    start = computing()
    result = run("check", file)
    assert result.exit_code == BAD_FILE and "did you mean" in result.stderr
    assert computing() - start < 30  # two seconds, where it was hours


@pytest.mark.parametrize("letter", ["\\u001b[2J", "\\u009b2J", "\\u0007", "\\u0085"])
def test_names_do_not_command_the_terminal(letter: str, tmp_path: Path):
    scene = tmp_path / "s.toml"
    scene.write_text(f'[scene]\nname = "s"\n[[figure]]\nname = "{letter}"\nmodel = "pendulum"\n')
    result = run("info", scene)
    assert result.exit_code == BAD_FILE and "control characters" in result.stderr
    robot = tmp_path / "r.urdf"
    robot.write_text(urdf().replace('"b"', f'"{json.loads(chr(34) + letter + chr(34))}"') if letter != "\\u001b[2J" and letter != "\\u0007" else urdf())
    for command in ("check", "info"):
        result = run(command, robot)
        assert not any(c in result.stdout + result.stderr for c in "\x1b\x07\x85\x9b")


# Where control characters stand in files of each kind; ESC is the character, or what the format writes for it.
COMMANDING = {
    "a.urdf": ('<robot name="a"><link name="b"><visual><geometry><mesh filename="ESC[2Jx.stl"/></geometry></visual></link></robot>', "&#27;"),
    "a.xml": ('<mujoco><include file="ESC[2J.xml"/><worldbody><body name="ESC[0m"><geom type="mesh" mesh="ESC[7m"/></body></worldbody></mujoco>', "&#27;"),
    "a.sdf": ('<sdf version="1.9"><model name="ESC[2J"><link name="ESC"/><joint name="ESC[7m" type="ESC"><parent>ESC</parent><child>b</child></joint>'
              '<include><uri>ESC[2J</uri></include><frame name="f" attached_to="ESC"/></model></sdf>', "&#27;"),
    "a.toml": ('[[figure]]\nname = "x"\nmodel = "ESC[2J.urdf"\n[[environment]]\nname = "e"\ntype = "mesh"\nfile = "ESC.stl"\n', "\\u001b"),
    "a.osim": ('<OpenSimDocument Version="40000"><Model name="ESC[2J"><BodySet><objects><Body name="ESC"><mass>xESC[2J</mass></Body></objects></BodySet></Model></OpenSimDocument>', "&#27;"),
    "a.bvh": (CLIP.replace("Hips", "ESC[2J").replace("Xposition", "ESC[7m"), "\x1b"),
    "a.mot": ("mESC\nnRows=1\nnColumns=2\nendheader\ntime\tESC[2Jx\n0\tESC[2J\n", "\x1b"),
    "a.trc": ("PathFileType\t4\t(X/Y/Z)\tt.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n100\t100\t1\t1\tESC[2J\nFrame#\tTime\tESCA\n\n1\t0\t1\t2\tESC\n", "\x1b"),
    "setup.xml": ("<OpenSimDocument><InverseDynamicsTool><model_file>ESC[2Jm.osim</model_file><coordinates_file>ESC.mot</coordinates_file></InverseDynamicsTool></OpenSimDocument>", "&#27;"),
}


@pytest.mark.parametrize("name", COMMANDING)
def test_words_of_files_do_not_command_the_terminal(name: str, tmp_path: Path):
    content, escape = COMMANDING[name]
    (tmp_path / name).write_text(content.replace("ESC", escape))
    for command in ("analyze",) if name == "setup.xml" else ("check", "info"):
        result = run(command, tmp_path / name)
        assert result.stderr and not any(c in result.stdout + result.stderr for c in "\x1b\x9b")


def test_words_of_recordings_do_not_command_the_terminal(recording: bytes, tmp_path: Path):
    """The title and the names of numbers, which no other reader looks at."""
    file = tmp_path / "r.mcap"
    title = text(b"pendulum")
    assert title in recording
    file.write_bytes(recording.replace(title, text(b"\x1b[2J\xc2\x9b77")))
    result = run("info", file)
    assert result.exit_code == OK and "recording of" in result.stdout and not any(c in result.stdout + result.stderr for c in "\x1b\x9b")
    for key in ("name", "unit"):
        file.write_bytes(edited(recording, b"scene.json", lambda scene, key=key: scene["numbers"][0].update({key: "\x1b[2J"}), True))
        result = run("info", file)
        assert result.exit_code == BAD_FILE and "control characters" in result.stderr and "\x1b" not in result.stderr


def test_columns_of_tables_do_not_command_the_terminal(tmp_path: Path):
    """Columns that a model does not have are named in a message."""
    model, table = tmp_path / "m.osim", tmp_path / "m.mot"
    model.write_text(OSIM)
    table.write_text("\x1b[2Jm\nnRows=9\nnColumns=3\nendheader\ntime\tx\t\x1b[2Jy\n" + "".join(f"{k / 100}\t0\t0\n" for k in range(9)))
    result = run("analyze", table, "--figure", model)
    assert result.exit_code == OK and "[2Jy" in result.stderr and "[2Jm" in result.stdout and "\x1b" not in result.stdout + result.stderr


def test_height_fields_take_no_more_memory_than_one(tmp_path: Path):
    """Forty words asked for gigabytes: fields without numbers are flat, and each geom has its own."""
    field = '<hfield name="h{}" nrow="3000" ncol="3000" size="1 1 1 1"/>'
    geom = '<geom type="hfield" hfield="h0"/>'
    pattern = "<mujoco><asset>{}</asset><worldbody><body><freejoint/><geom size='1'/></body>{}</worldbody></mujoco>"
    for name, text in [("fields", pattern.format("".join(field.format(i) for i in range(40)), "")), ("geoms", pattern.format(field.format(0), 40 * geom))]:
        (tmp_path / f"{name}.xml").write_text(text)
        done = subprocess.run(["bash", "-c", f"ulimit -v {2 << 20}; exec '{BIN}' check '{tmp_path}/{name}.xml'"], capture_output=True, text=True)
        assert done.returncode == BAD_FILE and "MJCF029" in done.stderr, done.stderr
    (tmp_path / "one.xml").write_text(pattern.format(field.format(0).replace("3000", "200"), geom))
    assert run("check", tmp_path / "one.xml").exit_code == OK


@pytest.mark.parametrize("name", ["m.gltf", "m.glb"])
def test_nested_meshes_take_no_memory(name: str, robot: Path, tmp_path: Path):
    """Thirty megabytes of brackets were gigabytes of arrays."""
    brackets = b"[" * (30 << 20)
    robot.with_name(name).write_bytes(brackets if name == "m.gltf" else b"glTF" + struct.pack("<III", 2, 20 + len(brackets), len(brackets)) + b"JSON" + brackets)
    robot.write_text(urdf(name))
    done = subprocess.run(["bash", "-c", f"ulimit -v {1 << 20}; exec '{BIN}' simulate '{robot}' --duration 0.01 --record '{tmp_path}/o.mcap'"], capture_output=True, text=True)
    assert done.returncode == OK and (tmp_path / "o.mcap").stat().st_size < 1 << 20, done.stderr


def test_exported_pages_fetch_nothing(robot: Path, tmp_path: Path):
    """A COLLADA mesh may name a picture of another machine; the policy of the page keeps the browser from asking for it."""
    needs_viewer()
    robot.with_name("m.dae").write_text('<COLLADA><library_images><image id="i"><init_from>http://203.0.113.1/spy.png</init_from></image></library_images>'
                                        "<library_geometries/></COLLADA>")
    robot.write_text(urdf("m.dae"))
    page = tmp_path / "page.html"
    assert run("view", robot, "--html", page).exit_code == OK
    head = page.read_text()[:2000]
    policy = re.search(r'<head>\s*<meta http-equiv="Content-Security-Policy" content="([^"]*)">', head)
    assert policy and "default-src 'none'" in policy[1] and "img-src data: blob:;" in policy[1] and "http" not in policy[1]


SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def test_names_are_no_part_of_pages(tmp_path: Path):
    """Names of files, figures and links stand in pages and plots as text."""
    clip = tmp_path / f"a{SCRIPT.replace('/', '&')}\"'.csv"
    assert run("generate", "squat", "--count", "1", "--period", "0.5", "--record", clip).exit_code == OK
    robot = tmp_path / f"r{SCRIPT.replace('/', '&')}.urdf"
    name = SCRIPT.replace("<", "&lt;")
    robot.write_text(urdf().replace('name="a"', f'name="{name}"').replace('name="b"', f'name="b{name}"'))
    pages = [tmp_path / n for n in ("clip.html", "clip.svg", "robot.html", "run.html")]
    assert run("analyze", clip, "--figure", "human28", "--report", pages[0], "--svg", pages[1]).exit_code == OK
    if has_viewer():
        assert run("view", robot, "--html", pages[2]).exit_code == OK
        assert run("simulate", robot, "--duration", "0.01", "--record", pages[3]).exit_code == OK
    for page in filter(Path.exists, pages):
        text = page.read_text()
        assert "alert(1)</script>" not in text and "<img src=x" not in text and "<script>alert" not in text, page.name


# Times that a double cannot step through: ticks of an axis had no end.
def test_plots_of_times_far_away_have_an_end(tmp_path: Path):
    clip = tmp_path / "far.csv"
    names = json.loads(run("info", "pendulum", "--json").stdout)["joints"]
    rows = "".join(f"{1e17 + 64 * i:.17g},{0.001 * i}\n" for i in range(40))
    clip.write_text(f"time,pendulum/q/{names[0]['name']}\n{rows}")
    run("analyze", clip, "--figure", "pendulum", "--svg", tmp_path / "far.svg")  # accepted or refused: run() fails where it does not end


def png(more: bytes = b"", behind: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\1\2\3")) + more
            + chunk(b"IEND", b"") + behind)


def test_textures_are_pictures_and_nothing_else(robot: Path, tmp_path: Path):
    mjcf = robot.with_name("m.xml")
    for name, content in [("good.png", png(behind=SECRET.encode())), ("bad.png", b"\x89PNG\r\n\x1a\n" + SECRET.encode()), ("outside", png(behind=SECRET.encode()))]:
        outside = name == "outside"
        place = tmp_path / "private.png" if outside else robot.parent / name
        place.write_bytes(content)
        robot.write_text(urdf().replace("</link>", f'<visual><geometry><sphere radius="1"/></geometry><material name="m"><texture filename="{place}"/></material></visual></link>'))
        mjcf.write_text(f'<mujoco><asset><texture name="t" type="2d" file="{place}"/><material name="m" texture="t"/></asset>'
                        '<worldbody><body><freejoint/><geom size="1" material="m"/></body></worldbody></mujoco>')
        for model in (robot, mjcf):
            record = tmp_path / "r.mcap"
            assert run("simulate", model, "--duration", "0.01", "--record", record).exit_code == OK
            found = record.read_bytes()
            assert SECRET.encode() not in found, (name, model)
            assert (b"IDAT" in found) == (name == "good.png"), (name, model)


def test_a_byte_order_mark_does_not_matter(robot: Path):
    scene = robot.with_suffix(".toml")
    scene.write_bytes(b"\xef\xbb\xbf[[figure]]\nname = \"p\"\nmodel = \"pendulum\"\n")
    assert run("check", scene).exit_code == OK


def test_tables_of_landmarks_are_read_with_care(tmp_path: Path):
    clip, table = tmp_path / "x.bvh", tmp_path / "l.toml"
    clip.write_text(CLIP)
    table.write_bytes("nave =25'`ﯿrDe,b".encode())
    result = run("convert", clip, tmp_path / "o.mcap", "--figure", "human28", "--landmarks", table)
    assert result.exit_code == BAD_FILE and "beyond ASCII" in result.stderr


# --- arguments ------------------------------------------------------------------------------------

@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
def test_numbers_of_arguments_are_finite(number: str, tmp_path: Path):
    for arguments in [["generate", "squat", "--depth", number], ["simulate", "pendulum", "--duration", number],
                      ["simulate", "pendulum", "--rate", number], ["walk", "--speed", number]]:
        assert run(*arguments).exit_code == USAGE, arguments


@pytest.mark.parametrize("name", ["int", "namespace", "std", "co_await"])
def test_words_of_the_language_name_no_compiled_model(name: str, tmp_path: Path):
    result = run("compile", "pendulum", "--out", tmp_path, "--name", name)
    assert result.exit_code == USAGE and "word of C++" in result.stderr


def test_folders_to_allow_exist(robot: Path):
    robot.write_text(urdf())
    assert run("check", robot, "--allow-path", "/no/such/folder").exit_code == USAGE
