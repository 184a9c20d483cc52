"""Faults of the system, one by one: the n-th call of a kind fails, for all n, in commands that read and write every format.

usage: python3 tests/fault/faults.py KANSETSU [--most N] [--case NAME]... [--call KIND]...

  --most N   at most N values of n for each case and kind, spread evenly (default: all)
  --case     only these cases; --call only these kinds of calls (open read write close stat rename ftruncate malloc)

What must hold for each n: the command ends with one of its exit codes, never by a signal; an output is whole, or as it was before, or not
there; nothing is left beside it; and exit code 0 without a word more means that all came out as without the fault (not where a file's kind
could not be asked for: a path may then be written in another way). Prints a line for each case and kind, and
one for each finding; exit code 1: there are findings.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CALLS = ["open", "read", "write", "close", "stat", "rename", "ftruncate", "malloc"]
EXIT_CODES = range(6)
OLD = b"what was there before"
Outcome = tuple[bytes, bytes, dict[str, bytes]]  # standard output and error, files

URDF = ('<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<visual><geometry><mesh filename="m.stl"/></geometry></visual></link><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>')
STL = "solid t\n" + "".join(f"facet normal 0 0 1\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n" for a, b, c in (
    ("0 0 0", "0 1 0", "1 0 0"), ("0 0 0", "1 0 0", "0 0 1"), ("0 0 0", "0 0 1", "0 1 0"), ("1 0 0", "0 1 0", "0 0 1"))) + "endsolid\n"
MJCF = ('<mujoco><asset><mesh name="m" file="m.stl"/></asset><include file="more.xml"/><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1">'
        '<freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>')
MORE = '<mujocoinclude><option timestep="0.001"/></mujocoinclude>'
SCENE = ('[scene]\nname = "s"\n[[figure]]\nname = "r"\nmodel = "r.urdf"\n[[environment]]\nname = "ground"\ntype = "mesh"\nfile = "m.stl"\n')
BVH = ("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
       "End Site\n{\nOFFSET 0 10 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.01\n0 0 0 0 0 0\n0 0 0 1 0 0\n")
OSIM = ('<OpenSimDocument Version="40000"><Model name="rod"><BodySet><objects><Body name="b"><mass>1</mass><mass_center>0 0 0</mass_center>'
        '<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects><SliderJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>'
        '<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name="x"><motion_type>translational</motion_type></Coordinate>'
        '</coordinates></SliderJoint></objects></JointSet></Model></OpenSimDocument>')
MOT = "m\nnRows=9\nnColumns=2\nendheader\ntime\tx\n" + "".join(f"{k / 100}\t{k % 3 / 100}\n" for k in range(9))
TRC = ("PathFileType\t4\t(X/Y/Z)\tt.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
       "100\t100\t2\t1\tmm\t100\t1\t2\nFrame#\tTime\tA\t\t\n\t\tX1\tY1\tZ1\n\n1\t0\t1\t2\t3\n2\t0.01\t1\t2\t4\n")
SDF = ('<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial><visual name="v"><geometry><mesh><uri>m.stl</uri></mesh></geometry>'
       '</visual></link><include><uri>n.sdf</uri></include></model></sdf>')
INNER = '<sdf version="1.9"><model name="n"><link name="b"><inertial><mass>1</mass></inertial></link></model></sdf>'
FIELD = ('<mujoco><asset><hfield name="h" file="in.png" size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="h"/><body pos="0 0 3"><freejoint/>'
         '<geom size="0.1"/></body></worldbody></mujoco>')
REQUEST = '{"compute": ["rnea", "fk"], "states": [{}]}'
INPUTS = {"r.urdf": URDF, "m.stl": STL, "m.xml": MJCF, "more.xml": MORE, "s.toml": SCENE, "c.bvh": BVH, "o.osim": OSIM, "t.mot": MOT, "t.trc": TRC,
          "w.sdf": SDF, "n.sdf": INNER,
          "h.xml": FIELD, "request.json": REQUEST}


def picture() -> bytes:
    """A PNG file of 4 × 4 pixels."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pixels = zlib.compress(b"".join(b"\0" + bytes(range(k, k + 4)) for k in range(4)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def motion() -> bytes:
    """A motion of AMASS of two frames, packed."""
    def array(columns: int) -> bytes:
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': (2, {columns}), }}\n".encode()
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + struct.pack(f"<{2 * columns}d", *(k % 7 / 10 for k in range(2 * columns)))

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("poses.npy", array(66))
        archive.writestr("trans.npy", array(3))
    return out.getvalue()


def subject() -> bytes:
    """A subject of AddBiomechanics with one trial of one frame."""
    def varint(x: int) -> bytes:
        return bytes([x & 0x7f | 0x80]) + varint(x >> 7) if x >= 0x80 else bytes([x])

    def part(number: int, value: int | float | bytes) -> bytes:
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        if isinstance(value, float):
            return varint(number << 3 | 1) + struct.pack("<d", value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    sensors, found = part(2, struct.pack("<3d", 0.1, 0.2, 0.3)), part(1, struct.pack("<d", 0.5))
    trial = part(1, b"walk") + part(3, 1) + part(4, 0.01) + part(5, part(1, 0))
    header = part(1, 1) + part(3, len(sensors)) + part(4, len(found)) + part(5, part(2, OSIM.encode())) + part(9, trial) + part(17, b"M")
    return struct.pack("<Q", len(header)) + header + sensors + found


BINARY_INPUTS = {"in.png": picture(), "in.amass.npz": motion(), "in.b3d": subject()}


@dataclass
class Case:
    arguments: list[str]
    outputs: list[str] = field(default_factory=list)


RECORD = ["simulate", "pendulum", "--duration", "0.2", "--rate", "50", "--record"]
CASES = {
    **{f"record {e}": Case([*RECORD, f"out.{e}"], [f"out.{e}"]) for e in ("mcap", "csv", "npz", "glb", "html")},
    "record two": Case([*RECORD, "out.npz", "--record", "out.csv"], ["out.npz", "out.csv"]),
    "record a mesh": Case(["simulate", "r.urdf", "--duration", "0.01", "--record", "out.mcap"], ["out.mcap"]),
    **{f"convert to {e}": Case(["convert", "in.mcap", f"out.{e}"], [f"out.{e}"]) for e in ("mcap", "csv", "npz", "glb")},
    **{f"read {e}": Case(["analyze", f"in.{e}", "--figure", "human28", "--csv", "out.csv"], ["out.csv"]) for e in ("npz", "csv")},
    "page": Case(["view", "in.mcap", "--html", "out.html"], ["out.html"]),
    "urdf": Case(["convert", "r.urdf", "out.urdf"], ["out.urdf"]),
    "scene": Case(["convert", "s.toml", "out.toml"], ["out.toml"]),
    "mjcf": Case(["convert", "m.xml", "out.toml"], ["out.toml"]),
    "mjcf out": Case(["convert", "m.xml", "out.xml"], ["out.xml"]),
    "sdf": Case(["convert", "w.sdf", "out.sdf"], ["out.sdf"]),
    "picture": Case(["convert", "h.xml", "out.toml"], ["out.toml"]),
    "amass": Case(["convert", "in.amass.npz", "out.csv"], ["out.csv"]),
    "subject": Case(["convert", "in.b3d", "out.mot"], ["out.mot"]),
    "bvh": Case(["convert", "c.bvh", "out.csv"], ["out.csv"]),
    "markers": Case(["convert", "t.trc", "out.csv"], ["out.csv"]),
    "source": Case(["compile", "pendulum", "--out", ".", "--name", "out"], ["out.h"]),
    "report": Case(["analyze", "t.mot", "--figure", "o.osim", "--sto", "out.sto"], ["out.sto"]),
    "check": Case(["check", "r.urdf", "m.xml", "s.toml", "c.bvh", "o.osim", "t.mot", "t.trc"]),
    "eval": Case(["eval", "pendulum", "--in", "request.json"]),
}


def is_whole(file: Path, binary: Path) -> bool:
    """Whether a file can be read by whoever reads its format."""
    data = file.read_bytes()
    if file.suffix == ".mcap":
        copy = file.with_suffix(".copy.csv")
        done = subprocess.run([binary, "convert", file, copy], capture_output=True)
        copy.unlink(missing_ok=True)
        return done.returncode == 0
    if file.suffix == ".csv":
        rows = list(csv.reader(io.StringIO(data.decode(errors="replace"))))
        return data.endswith(b"\n") and len({len(row) for row in rows}) == 1
    if file.suffix == ".npz":
        if not zipfile.is_zipfile(file):
            return False
        with zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    if file.suffix == ".html":
        return data.rstrip().endswith(b"</html>") and b'id="recording"' in data
    if file.suffix == ".glb":
        return data[:4] == b"glTF" and int.from_bytes(data[8:12], "little") == len(data)
    return data.endswith(b"\n")


class Harness:
    """Runs cases in a folder of their own."""

    def __init__(self, binary: Path, folder: Path):
        self.binary, self.folder = binary.resolve(), folder
        self.library, self.count = folder / "interpose.so", folder / "count"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, HERE / "interpose.c", "-ldl"], check=True)
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        for name, text in INPUTS.items():
            (self.inputs / name).write_text(text)
        for name, data in BINARY_INPUTS.items():
            (self.inputs / name).write_bytes(data)
        for name, figure in (("in.mcap", "pendulum"), ("in.npz", "human28"), ("in.csv", "human28")):
            record = ["simulate", figure, "--duration", "0.03", "--rate", "100", "--record", self.inputs / name]
            subprocess.run([self.binary, *record], check=True, capture_output=True)

    def has_viewer(self) -> bool:
        return subprocess.run([self.binary, "view", "pendulum", "--html", self.folder / "page.html"], capture_output=True).returncode == 0

    def run(self, case: Case, call: str, n: int, old: bool) -> tuple[subprocess.CompletedProcess, Path]:
        """In a fresh copy of the inputs; `old`: beside outputs of before."""
        place = self.folder / "run"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.inputs, place)
        for name in case.outputs if old else []:
            (place / name).write_bytes(OLD)
        self.count.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": str(self.library), "FAULT_CALL": call, "FAULT_AT": str(n), "FAULT_COUNT": str(self.count)}
        return subprocess.run([self.binary, *case.arguments], capture_output=True, env=environment, cwd=place, timeout=300), place

    def contents(self, place: Path) -> dict[str, bytes]:
        return {f.name: f.read_bytes() for f in place.iterdir() if f.name not in INPUTS and not f.name.startswith("in.")}

    def judge(self, case: Case, done: subprocess.CompletedProcess, place: Path, reference: Outcome | None, old: bool) -> str:
        """What is wrong, if anything is."""
        if done.returncode not in EXIT_CODES:
            return f"ended with {done.returncode}: {done.stderr[-200:].decode(errors='replace')}"
        found = self.contents(place)
        at_once = done.stderr.endswith(b"kansetsu: out of memory\n")  # perhaps in a destructor: nothing is tidied up (SECURITY.md)
        if extra := [f for f in found if f not in case.outputs and not (at_once and f.endswith(".kansetsu-part"))]:
            return f"left behind: {', '.join(sorted(extra))}"
        if done.returncode == 0 and reference and (done.stdout, done.stderr, found) != reference and done.stderr == reference[1]:
            return "says that all is well, and it is not"
        if done.returncode != 0 and not done.stderr.strip():
            return f"ended with {done.returncode} and without a word"
        for name in found.keys() & set(case.outputs):
            data = found[name]
            untouched = data == OLD if old else data == b""
            if not untouched and not is_whole(place / name, self.binary):
                return f"{name} is torn ({len(data)} bytes)"
        return ""

    def reference(self, case: Case) -> Outcome | None:
        """What comes out without a fault; nothing where that is not the same twice."""
        both = []
        for _ in range(2):
            done, place = self.run(case, "none", 0, False)
            if done.returncode != 0:
                raise SystemExit(f"faults: {case.arguments} fails without a fault: {done.stderr.decode()}")
            both.append((done.stdout, done.stderr, self.contents(place)))
        return both[0] if both[0] == both[1] else None

    def calls_of(self, case: Case, call: str) -> int:
        self.run(case, call, -1, False)
        return int(self.count.read_text())

    def findings(self, case: Case, call: str, most: int | None = None) -> Iterator[tuple[int, str]]:
        """For n from the first to the last: (n, what is wrong)."""
        reference = self.reference(case)
        last = self.calls_of(case, call)
        step = 1 if most is None else max(1, -(-last // most))
        for n in range(1, last + 1, step):
            old = n // step % 2 == 0  # every second time
            done, place = self.run(case, call, n, old)
            if problem := self.judge(case, done, place, None if call == "stat" else reference, old):
                yield n, problem


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--most", type=int)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--call", action="append", choices=CALLS)
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(options.binary, Path(folder))
        for name in options.case or CASES:
            if not harness.has_viewer() and any(o.endswith(".html") for o in CASES[name].outputs):
                continue
            for call in options.call or CALLS:
                found = list(harness.findings(CASES[name], call, options.most))
                print(f"{name}: {call}: {harness.calls_of(CASES[name], call)} calls, {len(found)} findings", flush=True)
                for n, problem in found:
                    print(f"  {call} {n}: {problem}", flush=True)
                bad += len(found)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
