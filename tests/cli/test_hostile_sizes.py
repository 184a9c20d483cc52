"""Files of a few megabytes that ask for more than they say: time that grows with the square of their length, copies without end.
Each is read within bounds of computing time and memory, and accepted or refused with a reason."""

from __future__ import annotations

import os
import resource
import signal
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, PARTIAL

BIN = Path(os.environ.get("KANSETSU_BIN") or Path(__file__).resolve().parents[2] / "build/kansetsu")
MOST_SECONDS = 40  # of computing: the slowest takes 7 here; each took minutes or hours before
MOST_BYTES = 3 << 30  # of address space: the largest takes 1.3 GB; each took tens of gigabytes before
MANY = 40_000

INERTIAL = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
SPHERE = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"


def sdf(content: str, more: str = "") -> str:
    return f'<sdf version="1.9"><model name="m"{more}>{content}</model></sdf>'


def links(count: int) -> str:
    return "".join(f'<link name="l{i}">{INERTIAL}</link>' for i in range(count))


def hinges(count: int, more: Callable[[int], str] = lambda i: "") -> str:
    return "".join(f'<joint name="j{i}" type="revolute"><parent>l0</parent><child>l{i}</child><axis><xyz>0 0 1</xyz>{more(i)}</axis></joint>'
                   for i in range(1, count))


def sdf_config(folder: Path) -> Path:
    (folder / "inner").mkdir()
    (folder / "inner/model.config").write_text("<model " + " ".join(f'a{i}="1"' for i in range(2 * MANY)) + "><sdf>model.sdf</sdf></model>")
    (folder / "inner/model.sdf").write_text(sdf(links(1)))
    return text(folder, "m.sdf", '<sdf version="1.9"><world name="w"><include><uri>inner</uri></include></world></sdf>')


def sdf_includes(folder: Path) -> Path:
    (folder / "inner.sdf").write_text(sdf(links(1) + "<!--" + "x" * (8 << 20) + "-->"))
    return text(folder, "m.sdf", '<sdf version="1.9"><world name="w">' + "".join(f"<include><name>n{i}</name><uri>inner.sdf</uri></include>" for i in range(190)) + "</world></sdf>")


def text(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


def mjcf(folder: Path, content: str) -> Path:
    return text(folder, "m.xml", f"<mujoco>{content}</mujoco>")


BODY = '<body{}><freejoint/><geom size="1"/></body>'
NAMED = BODY.format(' name="a"')


def mjcf_attached(folder: Path, inner: str, attach: str, count: int) -> Path:
    (folder / "i.xml").write_text(f"<mujoco>{inner}</mujoco>")
    return mjcf(folder, '<asset><model name="i" file="i.xml"/></asset><worldbody>' + "".join(attach.format(i) for i in range(count)) + "</worldbody>")


def osim(folder: Path, **sections: str) -> Path:
    parts = {"bodies": "", "joints": "", "forces": "", "markers": "", "defaults": "", "shapes": "", "coordinates": '<Coordinate name="x"/>'} | sections
    body = '<Body name="b"><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>'
    joint = ('<PinJoint name="j"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b</socket_child_frame>'
             f'<coordinates>{parts["coordinates"]}</coordinates></PinJoint>')
    return text(folder, "m.osim", f'<OpenSimDocument Version="40000"><Model name="m"><defaults>{parts["defaults"]}</defaults>'
                f'<BodySet><objects>{body}{parts["bodies"]}</objects></BodySet><JointSet><objects>{joint}{parts["joints"]}</objects></JointSet>'
                f'<MarkerSet><objects>{parts["markers"]}</objects></MarkerSet><ContactGeometrySet><objects>{parts["shapes"]}</objects></ContactGeometrySet>'
                f'<ForceSet><objects>{parts["forces"]}</objects></ForceSet></Model></OpenSimDocument>')


def osim_limbs(count: int) -> dict[str, str]:
    """Bodies on the first, each by a hinge of its own."""
    body = '<Body name="b{0}"><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>'
    joint = ('<PinJoint name="j{0}"><socket_parent_frame>/bodyset/b</socket_parent_frame><socket_child_frame>/bodyset/b{0}</socket_child_frame>'
             '<coordinates><Coordinate name="x{0}"/></coordinates></PinJoint>')
    return {"bodies": "".join(body.format(i) for i in range(count)), "joints": "".join(joint.format(i) for i in range(count))}


def point(kind: str = "PathPoint", more: str = "") -> str:
    return f"<{kind}><socket_parent_frame>/bodyset/b</socket_parent_frame><location>0 0 0</location>{more}</{kind}>"


def muscle(name: str, points: str, wraps: str = "") -> str:
    return (f'<Thelen2003Muscle name="{name}"><GeometryPath><PathPointSet><objects>{points}</objects></PathPointSet>'
            f"<PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath></Thelen2003Muscle>")


WRAP = '<WrapObjectSet><objects><WrapSphere name="s"><radius>0.1</radius></WrapSphere></objects></WrapObjectSet>'
MOVES = "<socket_coordinate>/jointset/j/x0</socket_coordinate><range>0 1</range>"


def toml_figures(folder: Path) -> Path:
    (folder / "big.urdf").write_text('<robot name="a"><link name="b"/><!--' + "x" * (4 << 20) + "--></robot>")
    return text(folder, "s.toml", "".join(f'[[figure]]\nname = "f{i}"\nmodel = "big.urdf"\n' for i in range(2000)))


def toml_meshes(folder: Path) -> Path:
    vertices = "".join(f"v {i} {i * i % 97} {i * 7 % 101}\n" for i in range(60_000))
    (folder / "m.obj").write_text(vertices + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, 59_000)))
    return text(folder, "s.toml", "".join(f'[[environment]]\nname = "e{i}"\ntype = "mesh"\nfile = "m.obj"\n' for i in range(2000)))


def packed_array(head: str, count: int) -> bytes:
    """Zeros behind the header of an array, as DEFLATE packs them: a two-hundredth."""
    header = (head + "\n").encode()
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    out = packer.compress(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
    for _ in range(count >> 20):
        out += packer.compress(bytes(1 << 20))
    return out + packer.flush()


def npz(folder: Path, **arrays: tuple[str, int]) -> Path:
    """A motion with these arrays: the header, and how many bytes of zeros."""
    file, directory, at = b"", b"", 0
    for key, (head, count) in arrays.items():
        name, data = f"{key}.npy".encode(), packed_array(head, count)
        common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(data), 10 + len(head) + 1 + count, len(name), 0)
        directory += b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, at) + name
        file += b"PK\3\4" + common + name + data
        at = len(file)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(arrays), len(arrays), len(directory), at, 0)
    (folder / "m.npz").write_bytes(file + directory + end)
    return folder / "m.npz"


def field(number: int, value: int | bytes) -> bytes:
    """One field of a message of protocol buffers."""
    def varint(x: int) -> bytes:
        return bytes([x & 0x7f | 0x80]) + varint(x >> 7) if x >= 0x80 else bytes([x])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def b3d(folder: Path, sensors: int, passes: int, frames: int, bodies: int = 0, markers: int = 0) -> Path:
    """A subject whose header tells of frames of these sizes, with bodies and markers, and who has a megabyte of them."""
    model = osim(folder).read_bytes()
    trial = field(1, b"t") + field(3, frames) + b"\x21" + struct.pack("<d", 0.01) + field(5, field(1, 0))
    header = field(1, 1) + field(3, sensors) + field(4, passes) + field(5, field(2, model)) + field(9, trial)
    header += bodies * field(6, b"") + markers * field(17, b"")
    (folder / "m.b3d").write_bytes(struct.pack("<Q", len(header)) + header + bytes(1 << 20))
    return folder / "m.b3d"


def damaged_picture(side: int) -> bytes:
    """A PNG file of zeros with a wrong sum at its end: all of it is unpacked before that shows."""
    data = zlib.compress(bytes(side * (side + 1)), 9)[:-4] + b"????"

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def mjcf_pictures(folder: Path) -> Path:
    (folder / "p.png").write_bytes(damaged_picture(3000))
    return mjcf(folder, "<asset>" + "".join(f'<hfield name="h{i}" file="p.png" size="1 1 1 1"/>' for i in range(MANY // 4)) + f"</asset><worldbody>{NAMED}</worldbody>")


def mjcf_mesh_files(folder: Path) -> Path:
    vertices = "".join(f"v {i % 89} {i * 7 % 97} {i * i % 101}\n" for i in range(30_000))
    (folder / "m.obj").write_text(vertices + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, 29_000)))
    return mjcf(folder, "<asset>" + "".join(f'<mesh name="m{i}" file="m.obj" inertia="shell"/>' for i in range(MANY // 8)) + "</asset><worldbody>"
                + "".join(f'<body><freejoint/><geom type="mesh" mesh="m{i}"/></body>' for i in range(MANY // 8)) + "</worldbody>")


def mjcf_models(folder: Path) -> Path:
    (folder / "i.xml").write_text("<mujoco><worldbody>" + NAMED + "</worldbody><custom>" + 200_000 * '<numeric name="a" data="1"/>' + "</custom></mujoco>")
    return mjcf(folder, "<asset>" + "".join(f'<model name="i{i}" file="i.xml"/>' for i in range(MANY)) + "</asset><worldbody>"
                + "".join(f'<attach model="i{i}" prefix="p{i}"/>' for i in range(MANY)) + "</worldbody>")


def sdf_folders(folder: Path) -> Path:
    (folder / "inner").mkdir()
    (folder / "inner/model.config").write_text("<model><sdf>nowhere.sdf</sdf>" + 100_000 * "<a/>" + "</model>")
    return text(folder, "m.sdf", '<sdf version="1.9"><world name="w">' + MANY * "<include><uri>inner</uri></include>" + "</world></sdf>")


FILES: dict[str, Callable[[Path], Path]] = {
    "sdf model.config": sdf_config,
    "sdf includes": sdf_includes,
    "sdf frames": lambda f: text(f, "m.sdf", sdf(links(MANY) + "".join(f'<frame name="f{i}" attached_to="l0"/>' for i in range(MANY)))),
    "sdf chains of frames": lambda f: text(f, "m.sdf", sdf(links(MANY // 4) + "".join(
        f'<frame name="f{i}" attached_to="{"l0" if i % 1900 == 0 else f"f{i - 1}"}"/>' for i in range(MANY // 4)))),
    "sdf figures": lambda f: text(f, "m.sdf", sdf(links(MANY))),
    "sdf shapes": lambda f: text(f, "m.sdf", sdf('<static>true</static><link name="l">' + MANY * f'<collision name="c">{SPHERE}</collision>' + "</link>")),
    "sdf mimics": lambda f: text(f, "m.sdf", sdf(links(MANY) + hinges(MANY, lambda i: f'<mimic joint="j{MANY - 1}"/>' if i < MANY - 1 else ""))),
    "sdf gears": lambda f: text(f, "m.sdf", sdf(links(MANY // 2) + hinges(MANY // 2) + "".join(
        f'<joint name="g{i}" type="gearbox"><parent>l{MANY // 2 - 2}</parent><child>l{MANY // 2 - 1}</child><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>'
        '<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>l0</gearbox_reference_body></joint>' for i in range(MANY // 2)))),
    "sdf unknown frames": lambda f: text(f, "m.sdf", sdf(links(MANY // 2) + "".join(f'<frame name="{"f" * 50}{i}" attached_to="{"f" * 50}x{i}"/>' for i in range(MANY // 2)))),
    "mjcf long copies": lambda f: mjcf(f, f'<worldbody><replicate count="10000"><body><freejoint/><geom size="1" user="{"1 " * 100_000}"/></body></replicate></worldbody>'),
    "mjcf long separator": lambda f: mjcf(f, f'<worldbody><replicate count="10000" sep="{"x" * 500_000}">{NAMED}</replicate></worldbody>'),
    "mjcf named copies": lambda f: mjcf(f, '<worldbody><replicate count="10000">' + "".join(f'<site name="s{i}"/>' for i in range(90)) + "</replicate></worldbody>"),
    "mjcf wide copies": lambda f: mjcf(f, '<worldbody><replicate count="10000"><geom size="1" ' + " ".join(f'a{i}=""' for i in range(990)) + "/></replicate></worldbody>"),
    "mjcf long prefix": lambda f: mjcf_attached(f, "<worldbody>" + "".join(BODY.format(f' name="b{i}"') for i in range(2000)) + "</worldbody>",
                                                f'<attach model="i" prefix="{{}}{"p" * 200_000}"/>', 10),
    "mjcf attached meshes": lambda f: mjcf_attached(f, f'<asset><mesh name="q" vertex="{"0 0 1 " * 500_000}"/></asset><worldbody>{NAMED}</worldbody>',
                                                    '<attach model="i" prefix="p{}"/>', 2000),
    "mjcf classes": lambda f: mjcf(f, "<default><geom user='" + "1 " * 200_000 + "'/>" + "".join(f'<default class="c{i}"><geom size="1"/></default>' for i in range(9000))
                                   + "</default><worldbody>" + BODY.format("") + "</worldbody>"),
    "mjcf nested classes": lambda f: mjcf(f, "<default>" + "".join(f'<default class="c{i}"><geom user="{"1 " * 20_000}"/>' for i in range(400)) + "</default>" * 401
                                          + "<worldbody>" + BODY.format("") + "</worldbody>"),
    "mjcf meshes": lambda f: mjcf(f, '<asset><mesh name="q" vertex="' + " ".join(f"{i % 89} {i * 7 % 97} {i * i % 101}" for i in range(60_000))
                                  + '"/></asset><worldbody>' + MANY * '<geom type="mesh" mesh="q" contype="0" conaffinity="0"/>' + BODY.format("") + "</worldbody>"),
    "mjcf keyframes": lambda f: mjcf(f, "<worldbody>" + 4000 * BODY.format("") + "</worldbody><keyframe>" + 2 * MANY * "<key/>" + "</keyframe>"),
    "mjcf unknown joints": lambda f: mjcf(f, "<worldbody>" + "".join(f'<body><joint name="{"j" * 50}{i}"/><geom size="1"/></body>' for i in range(MANY // 2)) + "</worldbody><actuator>"
                                          + "".join(f'<motor joint="{"j" * 50}x{i}"/>' for i in range(MANY // 2)) + "</actuator>"),
    "mjcf excludes": lambda f: mjcf(f, "<worldbody>" + "".join(BODY.format(f' name="b{i}"') for i in range(1000)) + "</worldbody><contact>"
                                    + "".join(f'<exclude body1="b{i % 1000}" body2="b{(i * 7 + 1) % 1000}"/>' for i in range(2 * MANY)) + "</contact>"),
    "mjcf sensors": lambda f: mjcf(f, "<worldbody><body><freejoint/><geom size='1'/>" + "".join(f'<site name="s{i}"/>' for i in range(2 * MANY)) + "</body></worldbody><sensor>"
                                   + 2 * MANY * f'<accelerometer site="s{2 * MANY - 1}"/>' + "</sensor>"),
    "mjcf excludes of what stands still": lambda f: mjcf(f, '<worldbody><body name="w">' + "".join(f'<geom name="g{i}" size="1"/>' for i in range(5000)) + "</body>"
                                                         + NAMED + "</worldbody><contact>" + 20_000 * '<exclude body1="w" body2="a"/>' + "</contact>"),
    "osim coordinates": lambda f: osim(f, **osim_limbs(MANY)),
    "osim coordinates of one joint": lambda f: osim(f, coordinates="".join(f'<Coordinate name="x{i}"/>' for i in range(2 * MANY))),
    "osim markers": lambda f: osim(f, markers="".join(f'<Marker name="p{i}"><body>b</body><location>0 0 0</location></Marker>' for i in range(2 * MANY))),
    "osim spheres": lambda f: osim(f, **osim_limbs(MANY // 4), shapes=MANY * "<ContactSphere><socket_frame>/bodyset/nobody</socket_frame><radius>1</radius></ContactSphere>"),
    "osim defaults": lambda f: osim(f, defaults=4 * MANY * "<a/>", forces="".join(muscle(f"m{i}", 2 * point()) for i in range(MANY // 2))),
    "osim defaults of one kind": lambda f: osim(f, defaults="<Thelen2003Muscle>" + 4 * MANY * "<a/>" + "</Thelen2003Muscle>", forces="".join(muscle(f"m{i}", 2 * point()) for i in range(MANY // 8))),
    "osim points": lambda f: osim(f, **osim_limbs(MANY // 4), forces=muscle("m", MANY * point("ConditionalPathPoint", MOVES.replace("x0", f"x{MANY // 4 - 1}")))),
    "osim wraps": lambda f: osim(f, bodies=f'<Body name="c"><mass>1</mass><inertia>1 1 1 0 0 0</inertia>{WRAP}</Body>',
                                 joints='<PinJoint name="k"><socket_parent_frame>/bodyset/b</socket_parent_frame><socket_child_frame>/bodyset/c</socket_child_frame>'
                                        '<coordinates><Coordinate name="y"/></coordinates></PinJoint>',
                                 forces=muscle("m", 2 * MANY * point(), MANY * "<PathWrap><wrap_object>s</wrap_object></PathWrap>")),
    "mjcf damaged pictures": mjcf_pictures,
    "mjcf one mesh file many times": mjcf_mesh_files,
    "mjcf one model many times": mjcf_models,
    "sdf folders of models": sdf_folders,
    "npz names": lambda f: npz(f, poses=("{'descr': '|S1', 'shape': (600000000,)}", 600 << 20)),
    "npz numbers": lambda f: npz(f, poses=("{'descr': '<f4', 'fortran_order': True, 'shape': (1000000, 165)}", 660 << 20)),
    "npz motion": lambda f: npz(f, poses=("{'descr': '<f4', 'shape': (1600000, 66)}", 420 << 20), trans=("{'descr': '<f4', 'shape': (1600000, 3)}", 20 << 20)),
    "b3d frames of no size": lambda f: b3d(f, 1, (1 << 64) - 1, 1),
    "b3d bodies": lambda f: b3d(f, 1, 1, 500_000, bodies=MANY),
    "b3d markers": lambda f: b3d(f, 1, 8, 100_000, markers=MANY),
    "toml one model many times": toml_figures,
    "toml one mesh many times": toml_meshes,
    "toml figures": lambda f: text(f, "s.toml", "".join(f'[[figure]]\nname = "f{i}"\nmodel = "human28"\n' for i in range(MANY // 2))),
    "toml nested": lambda f: text(f, "s.toml", "a = " + "[" * 200_000),
    "urdf nested": lambda f: text(f, "m.urdf", "<robot name='a'>" + "<link>" * 200_000),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_takes_no_more_than_its_length_tells(name: str, tmp_path: Path):
    folder = tmp_path / "a/b"
    folder.mkdir(parents=True)
    file = FILES[name](folder)

    def bounds():
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([BIN, "check", file], capture_output=True, text=True, preexec_fn=bounds, timeout=1200)
    assert done.returncode != -signal.SIGXCPU, "too long"
    assert done.returncode in (OK, BAD_FILE, PARTIAL), done.stderr[-400:]
    assert len(done.stderr) < (1 << 20) + file.stat().st_size


def copies_of_copies(folder: Path) -> Path:
    sites = "".join(f'<site name="s{{}}_{i}"/>' for i in range(90))
    return mjcf(folder, "<worldbody>" + "".join(f'<replicate count="10000">{sites.format(*[k] * 90)}</replicate>' for k in range(6)) + "</worldbody>")


def many_includes(folder: Path) -> Path:
    return text(folder, "m.sdf", '<sdf version="1.9"><world name="w">' + 10_500 * "<include><uri>nowhere</uri></include>" + "</world></sdf>")


@pytest.mark.parametrize(("code", "make"), [
    ("MJCF029", FILES["mjcf attached meshes"]), ("MJCF029", FILES["mjcf long prefix"]), ("MJCF029", copies_of_copies),
    ("MJCF029", lambda f: mjcf(f, "<worldbody>" + 101_000 * '<body><geom size="1"/></body>' + "</worldbody>")), ("SDF008", many_includes)])
def test_a_file_that_is_too_large_is_refused_in_a_word(code: str, make: Callable[[Path], Path], tmp_path: Path):
    """What is read of it after that says nothing about it: there were up to a thousand errors more."""
    folder = tmp_path / "a/b"
    folder.mkdir(parents=True)
    report = subprocess.run([BIN, "check", make(folder)], capture_output=True, text=True, timeout=1200)
    assert report.returncode == BAD_FILE and report.stderr.count("error[") == 1 and f"error[{code}]" in report.stderr, report.stderr[:2000]
