"""kansetsu simulate: scenes in, a summary and recordings out."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, PARTIAL, USAGE, run

SCENES = Path(__file__).resolve().parents[2] / "examples" / "scenes"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # scenes name their recordings relative to the working folder


def simulate(*arguments):
    return run("simulate", *map(str, arguments))


def summary(*arguments):
    result = simulate(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("scene", sorted(SCENES.glob("*.toml")), ids=lambda path: path.stem)
def test_scenes_run_and_keep_their_books(scene):
    s = summary(scene, "--duration", 0.5)
    assert s["status"] == "ok" and s["steps"] > 0
    assert s["tiers"]["unsolved"] == 0
    assert s["worst_residual"] < 1e-6
    assert s["penetration"] < 5e-3
    # Impacts are of first order in h: some thousandths of what goes through the books.
    energy = s["energy"]
    through = 1 + abs(energy["start"]) + abs(energy["work_torque"]) + abs(energy["work_contact"])
    assert abs(energy["unexplained"]) < 5e-3 * through


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    hashes = {summary(SCENES / "stack.toml", "--duration", 0.2, "--threads", n)["hash"] for n in (1, 2, 4)}
    assert len(hashes) == 1


def test_a_figure_alone_stands_on_a_floor_and_falls():
    s = summary("human28", "--duration", 0.3)
    assert s["contacts"] > 0 and s["energy"]["end"] < s["energy"]["start"] + 1e-6


def test_the_bar_swing_connects_cuts_and_connects():
    s = summary(SCENES / "bar_swing.toml")
    kinds = [event["kind"] for event in s["events"]]
    assert kinds == ["cut", "cut", "connected", "connected"]
    assert s["energy"]["impact"] < 0


def test_recordings_hold_every_step(tmp_path):
    file = tmp_path / "out.csv"
    result = simulate(SCENES / "drop.toml", "--duration", 0.1, "--record", file)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.reader(file.open()))
    assert rows[0][0] == "time" and len(rows) == 1 + 101
    assert float(rows[-1][0]) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["no_such.toml"], 3, "no_such"),
        (["human28", "--duration", "-1"], 2, "duration"),
        (["human28", "--duration", "nan"], 2, "nan is not a finite number"),
        (["human28", "--duration", "1e308", "--step", "1e-300"], 2, "too many"),
        (["human28", "--seed", "-1"], 2, "zero or more"),
        (["human28", "--record", "out.xyz", "--duration", "0.01"], 3, "xyz"),
        (["broken.toml"], 3, "broken.toml:1"),
    ],
)
def test_bad_input_is_reported(tmp_path, arguments, code, words):
    (tmp_path / "broken.toml").write_text("[scene\n")
    result = simulate(*arguments)
    assert result.exit_code == code
    assert words in result.stderr


@pytest.mark.parametrize("name", ["mujoco_humanoid", "gym_ant", "menagerie_unitree_g1__g1"])
def test_mjcf_models_of_others_run_for_ten_seconds(name):
    folder = os.environ.get("KANSETSU_DATA_DIR") or pytest.skip("KANSETSU_DATA_DIR is not set")
    s = summary(Path(folder) / "robots" / "mjcf" / f"{name}.xml", "--duration", 10, "--allow-partial")
    assert s["status"] == "ok" and s["seconds"] == pytest.approx(10)
    assert s["worst_residual"] < 1e-2  # [m/s]; where the solver gives up it says so


def test_a_model_that_is_not_whole_is_refused(tmp_path):
    model = tmp_path / "m.xml"
    model.write_text("<mujoco><option collision='pair'/><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody></mujoco>")
    for command in (("check", model), ("simulate", model, "--duration", "0.01")):
        result = run(*command)
        assert result.exit_code == PARTIAL
        assert "partial model: attribute 'collision' of <option>" in result.stdout + result.stderr
        assert run(*command, "--allow-partial").exit_code == OK
    assert run("check", model, "--strict").exit_code == BAD_FILE


def test_every_command_says_that_a_model_is_not_whole(tmp_path):
    """Also those that go on: what they write is another model."""
    models = {tmp_path / "m.xml": "<mujoco><worldbody><body><joint name='j'/><geom size='1'/><nonsense/></body></worldbody></mujoco>",
              tmp_path / "m.urdf": "<robot name='r'><link name='a'><collision><geometry><mesh filename='none.stl'/></geometry></collision></link></robot>"}
    for model, text in models.items():
        model.write_text(text)
        for command in (("info", model), ("info", model, "--json"), ("convert", model, tmp_path / "out.toml"), ("convert", model, tmp_path / "out.sdf"),
                        ("convert", model, tmp_path / "out.urdf"), ("simulate", model, "--duration", "0.01", "--allow-partial")):
            result = run(*command)
            assert result.exit_code == OK and f"{model}: partial model: " in result.stderr, command
        assert "partial model: " in run("eval", model, stdin='{"compute": ["crba"], "states": [{}]}').stderr


@pytest.mark.parametrize(("tag", "code"), [("visual", OK), ("collision", PARTIAL)])
def test_a_mesh_that_is_not_there_counts_where_it_would_touch(tag, code, tmp_path):
    model = tmp_path / "m.urdf"
    model.write_text(f"""<robot name="m"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ixz="0" iyz="0"/></inertial><{tag}><geometry><mesh filename="none.stl"/></geometry></{tag}></link>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>""")
    for command in (("check", model), ("simulate", model, "--duration", "0.01")):
        assert run(*command).exit_code == code
        assert run(*command, "--allow-partial").exit_code == OK


HANGING = """
[scene]
duration = 0.05
[[body]]
name = "ball"
type = "sphere"
radius = 0.1
mass = 1.0
pose = {p = [0.0, 0.0, 1.0]}
[[connection]]
name = "grip"
a = {p = [0.0, 0.0, 1.0]}
b = {figure = "ball"}
[[event]]
name = "mark"
when = "time"
time = 0.013
[[keyframe]]
name = "aside"
[[keyframe.figure]]
name = "ball"
pose = {p = [0.0, 2.0, 1.0]}
"""


def columns(file):
    rows = list(csv.reader(Path(file).open()))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def test_records_hold_what_they_are_asked_for(tmp_path):
    (tmp_path / "s.toml").write_text(
        HANGING
        + """
[[record]]
file = "plain.csv"
[[record]]
file = "forces.csv"
what = ["tau", "momentum", "connections"]
[[record]]
file = "slow.mcap"
what = ["events"]
rate = 100.0
[[record]]
file = "fast.mcap"
what = ["events"]
"""
    )
    summary("s.toml")
    plain, forces = columns("plain.csv"), columns("forces.csv")
    assert all("/q/" in name or "/v/" in name for name in plain if name != "time")
    assert forces["grip/force z [N]"][-1] == pytest.approx(9.81)
    assert forces["momentum z [N s]"][-1] == pytest.approx(0)
    assert "ball/tau/base.v_z [N]" in forces and "kinetic energy [J]" not in forces
    for file in ("slow.mcap", "fast.mcap"):  # the event falls between two frames of the slow one
        assert run("convert", file, "out.mcap").exit_code == 0
        assert b"note mark" in Path(file).read_bytes()


def test_a_run_begins_in_a_keyframe(tmp_path):
    (tmp_path / "s.toml").write_text(HANGING.replace('[[connection]]', '[[connection]]\nactive = false'))
    assert simulate("s.toml", "--keyframe", "aside", "--record", "out.csv").exit_code == 0
    assert columns("out.csv")["ball/q/base.y"][0] == 2
    result = simulate("s.toml", "--keyframe", "asid")
    assert result.exit_code == 2 and "aside" in result.stderr


def test_a_grip_out_of_reach_is_reported(tmp_path):
    (tmp_path / "s.toml").write_text(
        """
[scene]
duration = 0.05
[[figure]]
name = "arm"
model = "pendulum"
[[connection]]
name = "grip"
a = {figure = "arm"}
b = {figure = "arm", link = "rod1"}
active = false
[[event]]
name = "now"
when = "time"
do = "connect"
target = "grip"
[[connection]]
name = "far"
hold = "together"
a = {p = [0.0, 0.0, 9.0]}
b = {figure = "arm", link = "rod1"}
ACTIVE
""".replace("ACTIVE", "active = false").replace('target = "grip"', 'target = "far"')
    )
    result = simulate("s.toml", "--json")
    assert result.exit_code == 0, result.stderr
    s = json.loads(result.stdout)
    assert [c["name"] for c in s["open_connections"]] == ["far"]
    assert "apart" in s["events"][0]["detail"]
    assert "'far'" in result.stderr
    (tmp_path / "t.toml").write_text((tmp_path / "s.toml").read_text().replace("active = false", ""))
    result = run("check", "t.toml")
    assert result.exit_code == 3 and "WORLD002" in result.stdout + result.stderr


DEEP = """
[scene]
name = "deep"
duration = 0.1

[[body]]
name = "ball"
type = "sphere"
radius = 0.1
mass = 2.0
pose = {p = [0.0, 0.0, 0.095]}

[[environment]]
name = "floor"
type = "plane"
"""


def test_doubtful_results_end_with_a_warning_and_fail_when_asked_to(tmp_path: Path):
    scene = tmp_path / "deep.toml"
    scene.write_text(DEEP)
    result = simulate(scene)
    assert result.exit_code == 0 and "kansetsu simulate: warning: the penetration is 0.005 m, beyond 0.001" in result.stderr
    assert "at the start" in result.stderr and "shorter --step" not in result.stderr  # no time step mends the start
    strict = simulate(scene, "--strict")  # stops at once, and says where
    assert strict.exit_code == 4 and "the world stopped at 0.001000 s: the penetration between 'floor' and 'ball/ball' is 0.00" in strict.stderr
    scene.write_text(DEEP.replace("0.095", "0.0995"))  # half a millimetre is not worth a word
    result = simulate(scene, "--strict")
    assert result.exit_code == 0 and "warning" not in result.stderr


KEYFRAMES = """
<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body name="box" pos="0 0 0.02"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>
  <keyframe><key name="home" qpos="0 0 0.1 1 0 0 0"/><key name="high" qpos="0 0 1 1 0 0 0"/></keyframe></mujoco>
"""


def test_a_start_that_overlaps_names_the_keyframes(tmp_path: Path):
    scene = tmp_path / "box.xml"
    scene.write_text(KEYFRAMES)
    result = simulate(scene, "--duration", 0.01)
    assert "WORLD004" in result.stderr and "keyframes to start from: --keyframe home, --keyframe high\n" in result.stderr
    result = simulate(scene, "--duration", 0.01, "--keyframe", "home")
    assert result.exit_code == 0 and result.stderr == ""


def test_an_option_that_may_be_repeated_takes_one_value(tmp_path: Path):
    """The scene may follow it, and further options may follow the scene."""
    table, arrays = tmp_path / "a.csv", tmp_path / "a.npz"
    result = simulate("--record", table, "--record", arrays, "--package-path", tmp_path, SCENES / "drop.toml", "--duration", 0.1)
    assert result.exit_code == 0 and table.exists() and arrays.exists(), result.stderr
    result = simulate(SCENES / "drop.toml", "--record", table, tmp_path / "b.csv")  # not two files
    assert result.exit_code == USAGE and not (tmp_path / "b.csv").exists()


def test_written_files_are_named_with_their_size(tmp_path: Path):
    result = simulate(SCENES / "drop.toml", "--duration", 0.1, "--record", tmp_path / "a.csv")
    size = (tmp_path / "a.csv").stat().st_size
    assert f"wrote {tmp_path / 'a.csv'}, {size / 1000:.1f} kB" in result.stderr or f"{size / 1000:.0f} kB" in result.stderr
    assert "\033" not in result.stderr  # no colours in a pipe
