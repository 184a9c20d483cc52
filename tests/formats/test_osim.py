"""OpenSim models: joints of every kind, coordinates, loads; and moments as OpenSim's own."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cross_engine"))
from kansetsu_protocol import BAD_FILE, NUMERICAL, OK, USAGE, run  # noqa: E402

DATA = Path(os.environ.get("KANSETSU_DATA_DIR", "none")) / "grf"
GAIT = DATA / "opensim_walk_gait2392"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs recorded files")

BODY = "<mass>{m}</mass><mass_center>0 {y} 0</mass_center>"
INERTIA4 = "<inertia>0.1 0.02 0.1 0 0 0</inertia>"
INERTIA3 = "".join(f"<inertia_{k}>{v}</inertia_{k}>" for k, v in
                   (("xx", 0.1), ("yy", 0.02), ("zz", 0.1), ("xy", 0), ("xz", 0), ("yz", 0)))
COORDINATE = ('<Coordinate name="{name}"><motion_type>{kind}</motion_type><default_value>0</default_value>'
              "<range>-2 2</range></Coordinate>")


def axis(name: str, vector: str, function: str = "<Constant><value>0</value></Constant>", coordinate: str = "") -> str:
    return (f'<TransformAxis name="{name}"><coordinates>{coordinate}</coordinates><axis>{vector}</axis>'
            f"<function>{function}</function></TransformAxis>")


def knee(shift: str, coordinate: str = "knee") -> str:
    turn = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
    return ("<SpatialTransform>" + axis("rotation1", "0 0 1", turn, "knee") + axis("rotation2", "0 1 0") +
            axis("rotation3", "1 0 0") + axis("translation1", "1 0 0", shift, coordinate) +
            axis("translation2", "0 1 0") + axis("translation3", "0 0 1") + "</SpatialTransform>")


def version4(shift: str, extra: str = "") -> str:
    """A rod that hangs on ground by a knee that slides as it bends."""
    return ('<OpenSimDocument Version="40000"><Model name="rod"><gravity>0 -10 0</gravity><BodySet><objects>'
            f'<Body name="base">{BODY.format(m=1, y=0)}{INERTIA4}</Body>'
            f'<Body name="shank">{BODY.format(m=3, y=-0.5)}{INERTIA4}</Body></objects></BodySet><JointSet><objects>'
            '<WeldJoint name="root"><socket_parent_frame>/ground</socket_parent_frame>'
            "<socket_child_frame>/bodyset/base</socket_child_frame></WeldJoint>"
            '<CustomJoint name="knee_joint"><socket_parent_frame>base_offset</socket_parent_frame>'
            "<socket_child_frame>/bodyset/shank</socket_child_frame><coordinates>"
            f'{COORDINATE.format(name="knee", kind="rotational")}</coordinates><frames>'
            '<PhysicalOffsetFrame name="base_offset"><socket_parent>/bodyset/base</socket_parent>'
            "<translation>0 1 0</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame></frames>"
            f"{knee(shift)}</CustomJoint></objects></JointSet>{extra}</Model></OpenSimDocument>")


def version3(shift: str) -> str:
    return ('<OpenSimDocument Version="30000"><Model name="rod"><gravity>0 -10 0</gravity><BodySet><objects>'
            f'<Body name="ground"><mass>0</mass></Body><Body name="base">{BODY.format(m=1, y=0)}{INERTIA3}<Joint>'
            '<WeldJoint name="root"><parent_body>ground</parent_body></WeldJoint></Joint></Body>'
            f'<Body name="shank">{BODY.format(m=3, y=-0.5)}{INERTIA3}<Joint><CustomJoint name="knee_joint">'
            "<parent_body>base</parent_body><location_in_parent>0 1 0</location_in_parent><CoordinateSet><objects>"
            f'{COORDINATE.format(name="knee", kind="rotational")}</objects></CoordinateSet>{knee(shift)}</CustomJoint>'
            "</Joint></Body></objects></BodySet></Model></OpenSimDocument>")


def moments(model: Path, x, names: list[str], folder: Path) -> dict[str, float]:
    """Generalised forces in the middle of seven rows; x(t) are functions of time, one per name."""
    rows = "".join("\t".join(repr(v) for v in [t] + [f(t) for f in x]) + "\n" for t in [0.01 * k for k in range(-3, 4)])
    motion = folder / "motion.sto"
    motion.write_text("x\ninDegrees=no\nendheader\ntime\t" + "\t".join(names) + "\n" + rows)
    (folder / "none.xml").write_text('<OpenSimDocument Version="40000"><ExternalLoads><objects/>'
                                     "<datafile>motion.sto</datafile></ExternalLoads></OpenSimDocument>")
    result = run("analyze", str(motion), "--figure", str(model), "--loads", str(folder / "none.xml"), "--filter", "0",
                 "--sto", str(folder / "out.sto"))
    assert result.exit_code == OK, result.stderr
    lines = (folder / "out.sto").read_text().splitlines()
    begin = lines.index("endheader")
    row = lines[begin + 2 + 3].split("\t")
    return {name: float(v) for name, v in zip(lines[begin + 1].split("\t"), row)}


@pytest.mark.parametrize("write", [version3, version4])
@pytest.mark.parametrize("shift, f, df, ddf", [
    ("<LinearFunction><coefficients>0.2 0.1</coefficients></LinearFunction>",
     lambda q: 0.2 * q + 0.1, lambda q: 0.2, lambda q: 0.0),
    ("<PolynomialFunction><coefficients>0.3 0 0.1</coefficients></PolynomialFunction>",
     lambda q: 0.3 * q * q + 0.1, lambda q: 0.6 * q, lambda q: 0.6),
    # A cubic through its own points is itself: the spline's end conditions see to that.
    ("<SimmSpline><x>-1 -0.5 0 0.5 1 1.5</x><y>-0.1 -0.0125 0 0.0125 0.1 0.3375</y></SimmSpline>",
     lambda q: 0.1 * q**3, lambda q: 0.3 * q * q, lambda q: 0.6 * q),
    ("<MultiplierFunction><function><LinearFunction><coefficients>1 0</coefficients></LinearFunction></function>"
     "<scale>-0.4</scale></MultiplierFunction>", lambda q: -0.4 * q, lambda q: -0.4, lambda q: 0.0)])
def test_a_joint_that_slides_as_it_bends_obeys_lagrange(tmp_path: Path, write, shift, f, df, ddf):
    model = tmp_path / "rod.osim"
    model.write_text(write(shift))
    q, v, a = 0.4, 1.5, -2.0
    got = moments(model, [lambda t: q + v * t + 0.5 * a * t * t], ["knee"], tmp_path)["knee_moment"]
    # x = s(q) + l·sin q, y = 1 − l·cos q for the centre of mass, with s the shift along x, l = 0.5, m = 3, I = 0.1.
    m, l, inertia, g = 3, 0.5, 0.1, 10
    s, c = math.sin(q), math.cos(q)
    mass = inertia + m * (l * l + df(q) ** 2 + 2 * df(q) * l * c)
    bias = m * (df(q) * ddf(q) + l * c * ddf(q) - df(q) * l * s) * v * v
    expected = mass * a + bias + m * g * l * s
    assert math.isclose(got, expected, rel_tol=1e-5), (got, expected)  # differences of 10⁻⁴ s


@pytest.mark.parametrize("kind, coordinates", [
    ("PinJoint", 1), ("SliderJoint", 1), ("BallJoint", 3), ("GimbalJoint", 3), ("UniversalJoint", 2),
    ("PlanarJoint", 3), ("FreeJoint", 6), ("WeldJoint", 0)])
def test_joints_of_every_kind_are_read(tmp_path: Path, kind: str, coordinates: int):
    text = version4("<Constant><value>0</value></Constant>")
    begin, end = text.index("<CustomJoint"), text.index("</CustomJoint>") + len("</CustomJoint>")
    own = "".join(COORDINATE.format(name=f"c{i}", kind="rotational") for i in range(coordinates))
    joint = (f'<{kind} name="j"><socket_parent_frame>/bodyset/base</socket_parent_frame><socket_child_frame>'
             f"/bodyset/shank</socket_child_frame><coordinates>{own}</coordinates></{kind}>")
    model = tmp_path / "any.osim"
    model.write_text(text[:begin] + joint + text[end:])
    result = run("info", str(model), "--json")
    assert result.exit_code == OK, result.stderr
    assert json.loads(result.stdout)["nv"] == coordinates


@pytest.mark.parametrize("change, code", [
    (("OpenSimDocument", "robot"), "OSIM002"), (("<mass>3</mass>", "<mass>three</mass>"), "OSIM011"),
    (("/bodyset/shank", "/bodyset/thigh"), "OSIM012"), (("SimmSpline", "GCVSpline"), "OSIM013"),
    (("CustomJoint", "MagicJoint"), "OSIM014"), (("/ground", "/bodyset/shank"), "OSIM015"),
    (('name="shank"', 'name="base"'), "OSIM016"), (("-1 -0.5 0", "-1 -2 0"), "OSIM013"),
    (("<coordinates>knee", "<coordinates>hip"), "OSIM012"), (("</Model>", ""), "OSIM002")])
def test_bad_models_are_refused_with_line_and_hint(tmp_path: Path, change: tuple, code: str):
    model = tmp_path / "bad.osim"
    model.write_text(version4("<SimmSpline><x>-1 -0.5 0 0.5</x><y>0 0 0 1</y></SimmSpline>").replace(*change))
    result = run("check", str(model))
    assert result.exit_code == BAD_FILE, result.stdout
    assert code in result.stderr and "help:" in result.stderr


def test_what_is_missing_for_measured_forces_is_told(tmp_path: Path):
    model = tmp_path / "rod.osim"
    model.write_text(version4("<Constant><value>0</value></Constant>"))
    motion = tmp_path / "m.mot"
    motion.write_text("x\nendheader\ntime\tknee\n" + "".join(f"{0.01 * k}\t0\n" for k in range(9)))
    result = run("analyze", str(motion))
    assert result.exit_code == USAGE and ".osim" in result.stderr
    loads = tmp_path / "loads.xml"
    loads.write_text('<OpenSimDocument Version="40000"><ExternalLoads><objects><ExternalForce name="f">'
                     "<applied_to_body>shank</applied_to_body><force_identifier>force_v</force_identifier>"
                     "</ExternalForce></objects><datafile>m.mot</datafile></ExternalLoads></OpenSimDocument>")
    result = run("analyze", str(motion), "--figure", str(model), "--loads", str(loads))
    assert result.exit_code == NUMERICAL and "force_vx" in result.stderr
    motion.write_text("x\nendheader\ntime\telbow\n" + "".join(f"{0.01 * k}\t0\n" for k in range(9)))
    result = run("analyze", str(motion), "--figure", str(model))
    assert result.exit_code == BAD_FILE and "no column" in result.stderr


# --- recorded files -------------------------------------------------------------------------------

NAMES = ("pelvis_tilt pelvis_list pelvis_rotation pelvis_tx pelvis_ty pelvis_tz hip_flexion_r hip_adduction_r "
         "hip_rotation_r knee_angle_r ankle_angle_r subtalar_angle_r mtp_angle_r hip_flexion_l hip_adduction_l "
         "hip_rotation_l knee_angle_l ankle_angle_l subtalar_angle_l mtp_angle_l lumbar_extension lumbar_bending "
         "lumbar_rotation").split()
# InverseDynamicsSolver of OpenSim 4.6 on gait2392, no forces but gravity: coordinate i is 0.4·sin(i + 1), its rate cos(2i),
# its acceleration 5·sin(3i + 1).
OPENSIM = [-59.29181, 10.32462, -34.64739, -127.48027, 881.34106, -42.04647, 32.79342, 38.84205, -0.74419, 9.42624,
           1.21732, 0.00872, 0.05908, 52.04552, -18.30161, 0.95347, 11.2641, 1.8927, -0.45341, 0.05834, -68.75857,
           -41.62597, -5.72541]


@needs_data
def test_moments_of_gait2392_are_those_of_opensim(tmp_path: Path):
    x = [lambda t, i=i: 0.4 * math.sin(i + 1) + math.cos(2 * i) * t + 2.5 * math.sin(3 * i + 1) * t * t
         for i in range(len(NAMES))]
    got = moments(GAIT / "subject01.osim", x, NAMES, tmp_path)
    for name, expected in zip(NAMES, OPENSIM):
        kind = "force" if name.startswith("pelvis_t") and name[-2:] in ("tx", "ty", "tz") else "moment"
        # Printed to five decimals; differences of 10⁻⁴ s.
        assert math.isclose(got[f"{name}_{kind}"], expected, rel_tol=1e-6, abs_tol=1e-4), name


@needs_data
def test_the_walk_of_gait2392_under_its_measured_forces(tmp_path: Path):
    result = run("analyze", str(GAIT / "subject01_Setup_InverseDynamics.xml"), "--sto", str(tmp_path / "out.sto"))
    assert result.exit_code == OK, result.stderr

    def table(file: Path):
        lines = file.read_text().splitlines()
        begin = [line.strip() for line in lines].index("endheader")
        rows = [line.split() for line in lines[begin + 1 :] if line.strip()]
        return rows[0], numpy.array(rows[1:], float)

    names, ours = table(tmp_path / "out.sto")
    others, theirs = table(GAIT / "std_subject01_InverseDynamics.sto")
    assert len(ours) == 67
    inside = theirs[(theirs[:, 0] > 0.499) & (theirs[:, 0] < 1.601)]
    for name in others[1:]:
        reference = numpy.interp(ours[:, 0], theirs[:, 0], theirs[:, others.index(name)])
        error = math.sqrt(numpy.mean((ours[:, names.index(name)] - reference) ** 2))
        share = error / numpy.ptp(inside[:, others.index(name)])
        # The table is of an older OpenSim; 4.6 itself is as far from it at trunk and toes (6.2 % and 3.1 %), and within
        # 0.08 % of ours everywhere.
        most = 0.01 if name.startswith(("hip", "knee", "ankle", "subtalar")) or name.endswith("force") else 0.065
        assert share < most, (name, share)
