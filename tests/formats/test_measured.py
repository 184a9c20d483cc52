"""Measurements: C3D of every kind beside ezc3d, TRC, MOT and STO, and what OpenSim extracts from the same files."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cross_engine"))
from kansetsu_protocol import BAD_FILE, OK, run  # noqa: E402

from c3d_files import DEC, INTEL, SGI, C3d, add_plate  # noqa: E402

CORNERS = [(500, 0, 0), (0, 0, 0), (0, 600, 0), (500, 600, 0)]
DATA = Path(os.environ.get("KANSETSU_DATA_DIR", "none"))
needs_data = pytest.mark.skipif(not (DATA / "grf").is_dir(), reason="needs recorded files")


def read_sto(file: Path) -> tuple[list[str], numpy.ndarray]:
    lines = file.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.strip() == "endheader")
    rows = [line.split() for line in lines[begin + 1 :] if line.strip()]
    return rows[0], numpy.array([[float(x) for x in row] for row in rows[1:]])


def read_trc(file: Path) -> tuple[list[str], numpy.ndarray]:
    lines = file.read_text().split("\n")
    names = [x for x in lines[3].split("\t")[2:] if x.strip()]
    rows = [line.split("\t") for line in lines[5:] if line.strip()]
    number = lambda x: float(x) if x.strip() else math.nan  # noqa: E731
    return names, numpy.array([[number(x) for x in (row + [""] * 3 * len(names))[1 : 2 + 3 * len(names)]]
                               for row in rows])


def convert(source: Path, target: Path, *arguments: str) -> Path:
    result = run("convert", str(source), str(target), *arguments)
    assert result.exit_code == OK, result.stderr
    return target


def moving_points(frames: int = 7) -> list[list[tuple | None]]:
    return [[(10.0 * k, -250.5 + k, 1000.0 + 2 * k), None if k == 3 else (1.5, 2.5 * k, -3.0)] for k in range(frames)]


def signals(frames: int, samples: int, count: int) -> list[list[float]]:
    return [[round(20 * math.sin(0.3 * i + c)) * (10 if c in (2, 4, 5, 6, 7) else 1) - (700 if c == 2 else 0)
             for c in range(count)] for i in range(frames * samples)]


@pytest.mark.parametrize("processor", [INTEL, DEC, SGI])
@pytest.mark.parametrize("scale", [-1.0, 0.5])
def test_points_and_signals_of_every_kind_are_those_of_ezc3d(tmp_path: Path, processor: int, scale: float):
    file = C3d(processor=processor, scale=scale, labels=["heel", "toe.tip"], points=moving_points(), samples=3,
               signals=["Fx", "EMG 1"], analog=signals(7, 3, 2), analog_scale=0.5, analog_offset=4)
    path = tmp_path / "any.c3d"
    path.write_bytes(file.to_bytes())
    names, rows = read_trc(convert(path, tmp_path / "any.trc"))
    assert names == ["heel", "toe.tip"]
    written = numpy.array([[x for p in frame for x in (p or (math.nan,) * 3)] for frame in file.points])
    numpy.testing.assert_allclose(rows[:, 1:], written, rtol=1e-7)  # 32-bit numbers
    lines = (tmp_path / "any.sto", "--table", "signals")
    text = convert(path, *lines).read_text()
    assert "time\tFx\tEMG 1\n" in text
    values = numpy.array([[float(x) for x in line.split("\t")] for line in text.splitlines()[7:]])
    numpy.testing.assert_allclose(values[:, 1:], file.analog, rtol=1e-7)
    ezc3d = pytest.importorskip("ezc3d")
    if processor == SGI:
        return  # which it does not know
    other = ezc3d.c3d(str(path))
    theirs = numpy.transpose(other["data"]["points"][:3], (2, 1, 0)).reshape(7, 6)
    # Both have the same 32 bits; ours went through metres and back.
    numpy.testing.assert_allclose(rows[:, 1:], theirs, rtol=1e-12, atol=1e-12)  # rounding
    numpy.testing.assert_allclose(values[:, 1:], other["data"]["analogs"][0].T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind, count, origin", [
    (1, 6, (0, 0, 0)), (2, 6, (1.5, -2, -40)), (3, 8, (120, 200, -35)), (4, 6, (1.5, -2, -40))])
@pytest.mark.parametrize("processor", [INTEL, SGI])
def test_force_plates_of_every_type(tmp_path: Path, kind: int, count: int, origin: tuple, processor: int):
    file = C3d(processor=processor, labels=["a"], points=[[(0, 0, k)] for k in range(5)], samples=2)
    matrix = [[2.0 * (r == c) + 0.1 * (r + 2 * c) for c in range(6)] for r in range(6)]
    raw = signals(5, 2, count)
    add_plate(file, kind, raw, CORNERS, origin, matrix if kind == 4 else None)
    path = tmp_path / "plate.c3d"
    path.write_bytes(file.to_bytes())
    columns, values = read_sto(convert(path, tmp_path / "plate.sto", "--least", "1e9"))
    assert columns[1:4] == ["ground_force_1_vx", "ground_force_1_vy", "ground_force_1_vz"]
    # The same by hand: x from the second corner to the first, y from the fourth to the first, z down.
    turn = numpy.diag([1.0, -1.0, -1.0])
    o = numpy.array(origin, float)
    for row, s in zip(values, raw):
        s = numpy.array(s, float)
        if kind == 4:
            s = numpy.array(matrix) @ s
        if kind == 1:
            f, m = s[:3], numpy.cross([s[3], s[4], 0], s[:3]) + [0, 0, s[5]]
        elif kind == 3:
            f = numpy.array([s[0] + s[1], s[2] + s[3], s[4:].sum()])
            places = [(o[0], o[1]), (-o[0], o[1]), (-o[0], -o[1]), (o[0], -o[1])]
            m = sum(numpy.cross([*places[i], 0], [0, 0, s[4 + i]]) for i in range(4))
            # Fx12 acts at y = b, Fx34 at −b, Fy14 at x = a, Fy23 at −a; all of it below the surface.
            m = m + numpy.cross([0, o[1], 0], [s[0], 0, 0]) + numpy.cross([0, -o[1], 0], [s[1], 0, 0])
            m = m + numpy.cross([o[0], 0, 0], [0, s[2], 0]) + numpy.cross([-o[0], 0, 0], [0, s[3], 0])
            m = m - numpy.cross([0, 0, o[2]], f)
        else:
            f, m = s[:3], s[3:] - numpy.cross(o, s[:3])
        # 32-bit numbers in the file: seven digits.
        numpy.testing.assert_allclose(row[1:4], turn @ f, rtol=1e-6, atol=1e-4)
        numpy.testing.assert_allclose(row[4:7], [0.25, 0.3, 0])
        numpy.testing.assert_allclose(row[7:10], turn @ m / 1000, rtol=1e-6, atol=1e-4)


def test_the_centre_of_pressure_is_where_the_foot_is(tmp_path: Path):
    file = C3d(labels=["a"], points=[[(0, 0, 0)]], samples=1)
    # 700 N upward at (0.1, 0.05) m from the middle, in plate axes with z down: (100, −50), force −700.
    add_plate(file, 1, [[0, 0, -700, 100, -50, 0]], CORNERS, (0, 0, 0))
    path = tmp_path / "plate.c3d"
    path.write_bytes(file.to_bytes())
    _, values = read_sto(convert(path, tmp_path / "plate.mot"))
    numpy.testing.assert_allclose(values[0, 1:], [0, 0, 700, 0.35, 0.35, 0, 0, 0, 0], atol=1e-9)


def test_events_are_told(tmp_path: Path):
    file = C3d(labels=["a"], points=[[(0, 0, k)] for k in range(200)], first=11)
    file.parameters = {
        "EVENT:USED": ("i", [2], []),
        "EVENT:CONTEXTS": ("c", ["Left", "Right"], [5, 2]),
        "EVENT:LABELS": ("c", ["Foot Strike", "Foot Off"], [11, 2]),
        "EVENT:TIMES": ("f", [0, 1.25, 0, 0.5], [2, 2]),
    }
    path = tmp_path / "events.c3d"
    path.write_bytes(file.to_bytes())
    result = run("info", str(path), "--json")
    assert result.exit_code == OK, result.stderr
    events = json.loads(result.stdout)["events"]
    # Sorted by time; counted from the first frame, number 11 at 100 Hz.
    assert [(e["label"], e["context"], round(e["time"], 6)) for e in events] == [
        ("Foot Off", "Right", 0.4), ("Foot Strike", "Left", 1.15)]


def test_what_is_written_as_c3d_is_read_by_us_and_ezc3d(tmp_path: Path):
    ezc3d = pytest.importorskip("ezc3d")
    file = C3d(processor=SGI, labels=["a", "b"], points=moving_points(), samples=2)
    add_plate(file, 2, signals(7, 2, 6), CORNERS, (0, 0, -30))
    (tmp_path / "in.c3d").write_bytes(file.to_bytes())
    out = convert(tmp_path / "in.c3d", tmp_path / "out.c3d")
    before = read_sto(convert(tmp_path / "in.c3d", tmp_path / "a.sto", "--least", "0"))[1]
    after = read_sto(convert(out, tmp_path / "b.sto", "--least", "0"))[1]
    numpy.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-4)  # 32-bit numbers, moments of cancelling parts
    theirs = ezc3d.c3d(str(out), extract_forceplat_data=True)
    assert theirs["parameters"]["POINT"]["LABELS"]["value"] == ["a", "b"]
    force = theirs["data"]["platform"][0]["force"]
    numpy.testing.assert_allclose(force.T, before[:, 1:4], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("damage", ["short", "processor", "foreign", "block", "rate", "frames", "parameter"])
def test_damaged_c3d_files_are_refused_with_a_cause(tmp_path: Path, damage: str):
    data = bytearray(C3d(labels=["a"], points=moving_points(50), rate=100).to_bytes())
    if damage == "short":
        data = data[:1600]
    if damage == "processor":
        data[512 + 3] = 7
    if damage == "foreign":
        data[1] = 0
    if damage == "block":
        at = data.index(b"DATA_START") + len("DATA_START")
        data[at + 4 : at + 6] = b"\xff\xff"
    if damage == "rate":
        at = data.index(b"RATE") + len("RATE")
        data[at + 4 : at + 8] = bytes(4)
    if damage == "frames":
        data[8:10] = b"\x00\x00"
        at = data.index(b"FRAMES") + len("FRAMES")
        data[at + 4 : at + 6] = b"\x00\x00"
    if damage == "parameter":
        at = data.index(b"LABELS") + len("LABELS")
        data[at + 2 : at + 6] = b"\xff\x02\xff\xff"
    path = tmp_path / "bad.c3d"
    path.write_bytes(data)
    result = run("check", str(path))
    assert result.exit_code == BAD_FILE, result.stdout
    assert "error[CAP" in result.stderr and "help:" in result.stderr


# --- TRC, MOT and STO -----------------------------------------------------------------------------

TRC = ("PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t"
       "OrigDataStartFrame\tOrigNumFrames\n60\t60\t2\t2\t{unit}\t60\t1\t2\nFrame#\tTime\tR.Heel\t\t\tL Toe\t\t\t\n"
       "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n1\t0.0\t1\t2\t3\t4\t5\t6\n2\t0.017\t\t\t\t4\tnan\t6\n")


@pytest.mark.parametrize("unit, factor", [("mm", 1), ("m", 1), ("cm", 1)])
def test_markers_survive_a_round_trip(tmp_path: Path, unit: str, factor: float):
    (tmp_path / "a.trc").write_text(TRC.format(unit=unit).replace("\n", "\r\n"))
    names, rows = read_trc(convert(tmp_path / "a.trc", tmp_path / "b.trc"))
    assert names == ["R.Heel", "L Toe"]
    numpy.testing.assert_allclose(rows[0, 1:], [factor * x for x in range(1, 7)], rtol=1e-15)  # rounding of one product
    assert numpy.isnan(rows[1, 1:]).all()


@pytest.mark.parametrize("change, code", [
    (("mm", "furlong"), "CAP050"), (("0.017", "-1"), "CAP052"), (("\t5\t", "\tfive\t"), "CAP012"),
    (("PathFileType", "Path"), "CAP005"), (("\t6\n2", "\t6\t7\t8\n2"), "CAP022"), (("Frame#", "What"), "CAP051")])
def test_bad_marker_files_are_refused(tmp_path: Path, change: tuple, code: str):
    (tmp_path / "a.trc").write_text(TRC.format(unit="mm").replace(*change))
    result = run("check", str(tmp_path / "a.trc"))
    assert result.exit_code == BAD_FILE
    assert code in result.stderr and "help:" in result.stderr


def marker_rows(tmp_path: Path, rows: list[list[tuple]], rate: float = 100, unit: str = "m") -> Path:
    """Frames of markers, 0.01 s apart."""
    count = len(rows[0])
    file = tmp_path / "rows.trc"
    file.write_text(
        "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\t"
        f"OrigNumFrames\n{rate}\t{rate}\t{len(rows)}\t{count}\t{unit}\t{rate}\t1\t{len(rows)}\nFrame#\tTime\t"
        + "\t\t\t".join(f"M{i}" for i in range(count)) + "\n\n"
        + "".join(f"{k + 1}\t{0.01 * k:.3f}\t" + "\t".join(str(x) for p in row for x in p) + "\n" for k, row in enumerate(rows)))
    return file


def spread(size: float) -> list[tuple]:
    """Five markers, of which half are within `size` of the middle one."""
    return [(1, 1, 1), (1 + size, 1, 1), (1 - size, 1, 1), (1, 1 + size, 1), (1, 1 - size, 1)]


@pytest.mark.parametrize("marker, missing", [
    ((0, 0, 0), True), ((0, 0, 0.001), False),
    ((1 + 0.4 * 101, 1, 1), True), ((1 + 0.4 * 99, 1, 1), False), ((9999.999, 9999.999, 9999.999), True)])
def test_markers_that_other_programs_lost_are_missing(tmp_path: Path, marker: tuple, missing: bool):
    file = marker_rows(tmp_path, [spread(0.4), [*spread(0.4)[:4], marker], spread(0.4)])
    told = run("check", str(file))
    assert told.exit_code == OK
    assert ("CAP056" in told.stderr) == missing, told.stderr
    _, rows = read_trc(convert(file, tmp_path / "b.trc"))
    assert numpy.isnan(rows[1, -3:]).all() == missing
    assert not numpy.isnan(rows[[0, 2]]).any()


@pytest.mark.parametrize("size, wrong", [(0.4, False), (9.9, False), (10.1, True), (400, True), (0.011, False), (0.009, True)])
def test_lengths_at_which_nobody_was_filmed_are_told(tmp_path: Path, size: float, wrong: bool):
    told = run("check", str(marker_rows(tmp_path, [spread(size)] * 3)))
    assert told.exit_code == OK
    assert ("CAP057" in told.stderr) == wrong, told.stderr


@pytest.mark.parametrize("rate, wrong", [(100, False), (104, False), (106, True), (60, True), (0, False)])
def test_a_rate_that_is_not_that_of_the_times_is_told(tmp_path: Path, rate: float, wrong: bool):
    file = marker_rows(tmp_path, [spread(0.4)] * 4, rate, "MM" if rate == 0 else "m")
    told = run("info", str(file), "--json")
    assert told.exit_code == OK
    assert ("CAP057" in told.stderr) == (wrong or rate == 0), told.stderr  # 0.4 mm is nobody, either
    assert json.loads(told.stdout)["rate"] == pytest.approx(100 if wrong or rate == 0 else rate)


@pytest.mark.parametrize("header, degrees", [
    ("x\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\n", True),
    ("x\nnRows=2\nnColumns=3\n\nAngles are in radians.\n\nendheader\n", False),
    ("x\nnRows=2\nnColumns=3\n\nAngles are in degrees.\nendheader\n", True),
    ("name x\ndatacolumns 3\ndatarows 2\nrange 0 1\nendheader\n", True),
    ("x\nDataRate=10\nDataType=double\nversion=3\nendheader\n", False)])
def test_headers_of_tables_tell_degrees(tmp_path: Path, header: str, degrees: bool):
    (tmp_path / "a.mot").write_text(header + "time\tknee\thip\n0\t1\t2\n 0.5\t 3  \tnan\n")
    result = run("info", str(tmp_path / "a.mot"), "--json")
    assert result.exit_code == OK, result.stderr
    told = json.loads(result.stdout)
    assert (told["rows"], told["columns"], told["degrees"]) == (2, ["knee", "hip"], degrees)
    columns, values = read_sto(convert(tmp_path / "a.mot", tmp_path / "b.sto"))
    assert columns == ["time", "knee", "hip"] and values[1, 1] == 3 and math.isnan(values[1, 2])


def test_cells_of_several_numbers_become_columns(tmp_path: Path):
    (tmp_path / "a.sto").write_text("x\nDataType=Vec3\nversion=3\nendheader\ntime\tf1\tp1\n0\t1,2,3\t4,5,6\n1\t7,8,9\t0,0,0\n")
    columns, values = read_sto(convert(tmp_path / "a.sto", tmp_path / "b.sto"))
    assert columns[1:] == ["f1_1", "f1_2", "f1_3", "p1_1", "p1_2", "p1_3"]
    assert list(values[1, 1:]) == [7, 8, 9, 0, 0, 0]


@pytest.mark.parametrize("text, code", [
    ("x\nnRows=1\n", "CAP050"), ("x\nendheader\nknee\thip\n1\t2\n", "CAP051"),
    ("x\nendheader\ntime\thip\n0\t1\n0.5\n", "CAP022"), ("x\nendheader\ntime\thip\n1\t1\n0\t1\n", "CAP052"),
    ("x\nendheader\ntime\thip\n1\t1,5\n2\t3\n", "CAP022"), ("x\nendheader\ntime\thip\n", "CAP023"),
    ("x\nendheader\ntime\thip\n0\tone\n", "CAP012"), ("", "CAP005")])
def test_bad_tables_are_refused(tmp_path: Path, text: str, code: str):
    (tmp_path / "a.sto").write_text(text)
    result = run("check", str(tmp_path / "a.sto"))
    assert result.exit_code == BAD_FILE
    assert code in result.stderr


# --- recorded files -------------------------------------------------------------------------------

@needs_data
def test_walking2_gives_the_tables_of_opensim(tmp_path: Path):
    folder = DATA / "grf" / "walking2_c3d"
    names, ours = read_trc(convert(folder / "walking2.c3d", tmp_path / "markers.trc"))
    other_names, theirs = read_trc(folder / "std_walking2_markers.trc")
    assert names == other_names
    step = round(theirs[1, 0] / (ours[1, 0] - ours[0, 0]))
    for row in theirs:
        k = round(row[0] / (ours[1, 0] - ours[0, 0]))
        # OpenSim printed five digits.
        numpy.testing.assert_allclose(ours[k, 1:], row[1:], rtol=5.1e-5)
    assert step >= 1
    for reference, least in (("std_walking2_grfs.sto", "1e9"), ("std_cop_walking2_grfs.sto", "0")):
        _, forces = read_sto(convert(folder / "walking2.c3d", tmp_path / "forces.sto", "--least", least))
        _, theirs = read_sto(folder / reference)
        for row in theirs:
            k = round(row[0] * 2000)
            mine = forces[k].copy()
            for first in (4, 13):
                mine[first : first + 6] *= 1000  # mm and N·mm
            # Centres of pressure of a few newtons are quotients of small numbers.
            numpy.testing.assert_allclose(mine[1:], row[1:], rtol=1e-6, atol=2e-4)
    _, signals_ = read_sto(convert(folder / "walking2.c3d", tmp_path / "signals.sto", "--table", "signals"))
    _, theirs = read_sto(folder / "std_walking2_analog.sto")
    for row in theirs:
        numpy.testing.assert_allclose(signals_[round(row[0] * 2000), 1 : len(row)], row[1:], rtol=1e-9)


@needs_data
@pytest.mark.parametrize("name", ["grf/walking2_c3d/walking2.c3d", "mocap/c3d/bmc_Gait.c3d", "mocap/c3d/cmu_02_05.c3d"])
def test_recorded_c3d_files_are_those_of_ezc3d(tmp_path: Path, name: str):
    ezc3d = pytest.importorskip("ezc3d")
    other = ezc3d.c3d(str(DATA / name))
    _, ours = read_trc(convert(DATA / name, tmp_path / "a.trc"))
    theirs = numpy.transpose(other["data"]["points"][:3], (2, 1, 0))
    numpy.testing.assert_allclose(ours[:, 1:], theirs.reshape(len(theirs), -1), rtol=1e-12, atol=1e-9)
    if other["data"]["analogs"].size:
        _, signals_ = read_sto(convert(DATA / name, tmp_path / "a.sto", "--table", "signals"))
        numpy.testing.assert_allclose(signals_[:, -other["data"]["analogs"].shape[1] :],
                                      other["data"]["analogs"][0].T, rtol=1e-9, atol=1e-9)
