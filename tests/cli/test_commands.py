"""The command line itself: help, version, completion, info, check, convert, figures and streams."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, Request, State, evaluate, run

COMMANDS = ["check", "info", "conventions", "eval", "ik", "simulate", "generate", "analyze", "convert", "compile", "view", "dynamics", "bench", "completion"]
FIGURES = ["human28", "human28_ball", "pendulum", "pendulum2", "chain8", "rope100"]

WARNED = """<robot name="w"><link name="a"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    """A robot that loads with a warning: an inertia that no body can have."""
    path = tmp_path / "warned.urdf"
    path.write_text(WARNED)
    return path


# --- help and version -----------------------------------------------------------------------------

@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
def test_help_lists_the_commands(arguments: list[str]):
    result = run(*arguments)
    assert result.exit_code == OK and not result.stderr
    assert all(re.search(rf"^  {name} +\S", result.stdout, re.MULTILINE) for name in COMMANDS)
    assert "Examples:" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str):
    result = run(name, "--help")
    assert result.exit_code == OK and not result.stderr
    assert f"Usage: kansetsu {name}" in result.stdout
    assert f"kansetsu {name}" in result.stdout.split("Examples:")[1]
    assert result.stdout == run("help", name).stdout


def test_version():
    result = run("--version")
    assert result.exit_code == OK and re.fullmatch(r"kansetsu \d+\.\d+\.\d+\n", result.stdout)


def test_no_command_is_misuse():
    result = run()
    assert result.exit_code == USAGE and result.stdout == "" and "Usage:" in result.stderr


@pytest.mark.parametrize("arguments, meant", [
    (["chek"], "check"), (["evaluate"], "eval"), (["inf"], "info"), (["--versoin"], "--version"),
    (["check", "x.urdf", "--jsno"], "--json"),
])
def test_misspelt_words_are_guessed(arguments: list[str], meant: str):
    result = run(*arguments)
    assert result.exit_code == USAGE and result.stdout == ""
    assert f"'{arguments[-1]}'; did you mean '{meant}'?" in result.stderr


@pytest.mark.parametrize("arguments", [["info"], ["info", "pendulum", "pendulum2"], ["convert", "pendulum"],
                                       ["conventions", "x"], ["completion"], ["completion", "tcsh"]])
def test_wrong_count_or_choice_of_arguments(arguments: list[str]):
    result = run(*arguments)
    assert result.exit_code == USAGE and result.stdout == "" and f"kansetsu {arguments[0]} --help" in result.stderr


# --- completion -----------------------------------------------------------------------------------

@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell: str):
    result = run("completion", shell)
    assert result.exit_code == OK
    assert all(word in result.stdout for word in [*COMMANDS, *FIGURES, "merge-fixed", "strict", "fixed free"])


@pytest.mark.parametrize("line, expected", [
    (["kansetsu", "c"], {"check", "conventions", "convert", "compile", "completion"}),
    (["kansetsu", "eval", "--"], {"--help", "--base", "--allow-path", "--package-path", "--in", "--out"}),
    (["kansetsu", "eval", "--base", "f"], {"fixed", "free"}),
    (["kansetsu", "info", "human"], {"human", "human28", "human28_ball"}),
    (["kansetsu", "completion", ""], {"bash", "zsh", "fish"}),
    (["kansetsu", "generate", "b"], {"bar-swing"}),
    (["kansetsu", "analyze", "x.bvh", "--figure", "human"], {"human", "human28", "human28_ball"}),
])
def test_bash_completes(tmp_path: Path, line: list[str], expected: set[str]):
    script = run("completion", "bash").stdout + f"""
COMP_WORDS=({" ".join(f"'{word}'" for word in line)})
COMP_CWORD={len(line) - 1}
_kansetsu
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-euc", script], capture_output=True, encoding="utf-8", cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr
    assert set(done.stdout.split()) == expected


# --- info -----------------------------------------------------------------------------------------

def test_info_draws_the_tree(model: Path):
    result = run("info", model)
    assert result.exit_code == OK
    for line in ["  base  5 kg", "  ├─ right_hip (revolute) → right  1 kg",
                 "  │  └─ right_ankle (revolute) → right_foot  1 kg", "  └─ left_hip (revolute) → left  2 kg"]:
        assert line in result.stdout.splitlines()
    assert "= -2·right_hip + 0.5" in result.stdout and "{right_hip, left_knee}" in result.stdout
    assert "(0 0 -9.81) m/s²" in result.stdout


def test_info_as_json(model: Path):
    info = json.loads(run("info", model, "--json", "--base", "free").stdout)
    assert (info["name"], info["base"], info["nq"], info["nv"], info["mass"]) == ("r", "free", 10, 9, 10)
    assert [link["name"] for link in info["links"]] == ["base", "right", "right_foot", "left", "left_tip"]
    knee = next(joint for joint in info["joints"] if joint["name"] == "left_knee")
    assert (knee["parent"], knee["child"], knee["nv"]) == ("left", "left_tip", 0)
    assert knee["coordinates"][0]["follows"] == {"terms": {"right_hip": -2}, "offset": 0.5}
    assert knee["coordinates"][0]["upper"] is None
    assert info["coupling_groups"] == [["right_hip", "left_knee"]] and info["loops"] == []
    assert info["instruction_set"] in ("baseline", "avx2", "avx512")


@pytest.mark.parametrize("name", FIGURES)
def test_figures_need_no_file(name: str):
    assert run("info", name).exit_code == OK
    assert run("check", name, "--strict").exit_code == OK
    assert evaluate(Path(name), Request(["com", "aba"], [State()])).results[0]["aba"]


def test_a_file_goes_before_a_figure(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("human28_ball").mkdir()  # a folder does not
    model.rename("human28")
    assert json.loads(run("info", "human28", "--json").stdout)["name"] == "r"
    assert json.loads(run("info", "human28_ball", "--json").stdout)["name"] == "human28_ball"


def test_unknown_model_lists_the_figures():
    result = run("info", "human29")
    assert result.exit_code == BAD_FILE and all(name in result.stderr for name in FIGURES)


# --- check ----------------------------------------------------------------------------------------

def test_warnings_fail_only_when_strict(warned: Path):
    result = run("check", warned)
    assert result.exit_code == OK and "warning[" in result.stderr
    assert result.stdout == f"{warned}: ok, 1 link, 0 dofs, 1 warning\n"
    strict = run("check", "--strict", warned)
    assert strict.exit_code == BAD_FILE and strict.stdout == f"{warned}: failed, 1 link, 0 dofs, 1 warning\n"
    report = json.loads(run("check", "--strict", "--json", warned).stdout)
    assert not report["ok"] and [d["severity"] for d in report["diagnostics"]] == ["warning"]


def test_several_models_are_checked_in_one_go(model: Path, warned: Path, tmp_path: Path):
    missing = tmp_path / "missing.urdf"
    result = run("check", model, warned, missing)
    assert result.exit_code == BAD_FILE
    assert [line.split(":")[1].split(",")[0] for line in result.stdout.splitlines()] == [" ok", " ok", " failed"]
    report = json.loads(run("check", "--json", model, warned, missing).stdout)
    assert [Path(d["file"]).name for d in report["diagnostics"]] == ["warned.urdf", "missing.urdf"]


def test_names_that_are_not_utf8_are_shown(tmp_path: Path):
    path = tmp_path / "latin.urdf"
    path.write_bytes(b'<robot name="r"><link name="\xff"/><link name="\xff"/></robot>')
    assert not json.loads(run("check", "--json", path).stdout)["ok"]


# --- convert --------------------------------------------------------------------------------------

def test_convert_keeps_what_the_model_computes(model: Path, tmp_path: Path):
    copy = tmp_path / "copy.urdf"
    assert run("convert", model, copy).exit_code == OK
    request = Request(["rnea", "crba"], [State(q={"right_hip": 0.3, "left_hip": -0.2}, v={"right_hip": 1.0})])
    assert evaluate(copy, request).results == evaluate(model, request).results


def test_convert_remembers_the_base(model: Path, tmp_path: Path):
    copy = tmp_path / "free.urdf"
    assert run("convert", model, copy, "--base", "free").exit_code == OK
    assert json.loads(run("info", copy, "--json").stdout)["base"] == "free"


def test_convert_merges_fixed_links(tmp_path: Path):
    path, small = tmp_path / "robot.urdf", tmp_path / "small.urdf"
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(f"""<robot name="r"><link name="a"/><link name="b">{mass}</link><link name="c">{mass}</link>
      <joint name="ab" type="continuous"><parent link="a"/><child link="b"/></joint>
      <joint name="bc" type="fixed"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/></joint></robot>""")
    assert run("convert", path, small, "--merge-fixed").exit_code == OK
    info = json.loads(run("info", small, "--json").stdout)
    assert [link["name"] for link in info["links"]] == ["a", "b"] and info["mass"] == 2
    assert [frame["name"] for frame in info["frames"]] == ["c"]


@pytest.mark.parametrize("name", ["human28", "pendulum2", "chain8", "rope100"])
def test_figures_are_written_as_urdf(name: str, tmp_path: Path):
    copy = tmp_path / "copy.urdf"
    assert run("convert", name, copy).exit_code == OK
    request = Request(["com", "crba"], [State()])
    assert evaluate(copy, request, base="free").results == evaluate(Path(name), request, base="free").results


def test_convert_to_standard_output(model: Path):
    result = run("convert", model, "-")
    assert result.exit_code == OK and result.stdout.startswith("<?xml")


def test_meshes_are_found_from_the_new_folder(tmp_path: Path):
    source, target = tmp_path / "in/robot.urdf", tmp_path / "out/deep/robot.urdf"
    for folder in (tmp_path / "in/meshes", target.parent):
        folder.mkdir(parents=True)
    (tmp_path / "in/meshes/arm.stl").write_text("solid\n")
    source.write_text('<robot name="r"><link name="a"><visual><geometry><mesh filename="meshes/arm.stl"/></geometry></visual>'
                      '<visual><geometry><mesh filename="package://arm/arm.stl"/></geometry></visual></link></robot>')
    assert run("convert", source, target).exit_code == OK
    assert re.findall('filename="(.*?)"', target.read_text()) == ["../../in/meshes/arm.stl", "package://arm/arm.stl"]


@pytest.mark.parametrize("content, target, exit_code", [
    ("<robot", "out.urdf", BAD_FILE), (WARNED, "out.osim", USAGE), (WARNED, "missing/out.urdf", BAD_FILE),
    (WARNED, "folder.urdf", BAD_FILE),
])
def test_failed_conversion_leaves_nothing_behind(tmp_path: Path, content: str, target: str, exit_code: int):
    (tmp_path / "folder.urdf").mkdir()
    (tmp_path / "in.urdf").write_text(content)
    (tmp_path / "out.urdf").write_text("precious")
    result = run("convert", tmp_path / "in.urdf", tmp_path / target)
    assert result.exit_code == exit_code and result.stderr
    assert (tmp_path / "out.urdf").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"folder.urdf", "in.urdf", "out.urdf"}


# --- streams --------------------------------------------------------------------------------------

def shell(line: str) -> subprocess.CompletedProcess:
    binary = os.environ.get("KANSETSU_BIN") or pytest.skip("KANSETSU_BIN is not set: name the kansetsu binary to test")
    return subprocess.run(["bash", "-c", "set -o pipefail; " + line.replace("kansetsu", f"'{binary}'")],
                          capture_output=True, encoding="utf-8", timeout=60)


def test_a_reader_that_leaves_early_is_no_error():
    done = shell("kansetsu info chain2000 | head -n 1")
    assert (done.returncode, done.stdout, done.stderr) == (OK, "chain2000\n", "")


@pytest.mark.parametrize("stream", [">/dev/full", ">&-"])
def test_output_that_cannot_be_written(stream: str):
    done = shell(f"kansetsu conventions {stream}")
    assert done.returncode == BAD_FILE and "standard output: cannot be written" in done.stderr


def test_input_that_cannot_be_read():
    done = shell("kansetsu eval pendulum <&-")
    assert done.returncode == BAD_FILE and "standard input: cannot be read" in done.stderr


def test_endless_input_is_refused():
    done = shell("kansetsu eval pendulum --in /dev/zero")
    assert done.returncode == BAD_FILE and "MiB" in done.stderr


def test_files_that_may_not_be_read(model: Path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    model.chmod(0)
    assert run("check", model).exit_code == BAD_FILE


def test_a_device_is_written_in_place():
    done = shell("echo '{\"compute\": [], \"states\": []}' | kansetsu eval pendulum --out /dev/stdout")
    assert done.returncode == OK and json.loads(done.stdout)["results"] == []


def test_an_unknown_instruction_set_is_refused():
    request = """echo '{"compute": ["fk"], "states": [{}]}'"""
    done = shell(f"{request} | KANSETSU_ISA=avx3 kansetsu eval pendulum")
    assert done.returncode == USAGE
    assert "KANSETSU_ISA is 'avx3', expected baseline, avx2 or avx512" in done.stderr


def test_the_command_is_hardened():
    """A program of its own addresses, read-only relocations, a stack that is guarded."""
    if not shutil.which("readelf"):
        pytest.skip("no readelf")
    binary = os.environ.get("KANSETSU_BIN") or Path(__file__).resolve().parents[2] / "build/kansetsu"
    look = lambda option: subprocess.run(["readelf", "-W", option, binary], capture_output=True, text=True).stdout
    assert "DYN (Position-Independent" in look("-h")
    assert "GNU_RELRO" in look("-l") and re.search(r"GNU_STACK.* RW ", look("-l"))
    if "__asan_init" not in look("-s"):
        assert "BIND_NOW" in look("-d") and "__stack_chk_fail" in look("-s")


SCENE_WITH_ERRORS = """
[[environment]]
name = "belt"
type = "box"
size = [2.0, 0.5, 0.1]
surface_speed = [0.3, 0.0, 0.0]
[[body]]
name = "box"
type = "box"
size = [0.1, 0.1, 0.1]
mass = -0.5
[[connection]]
name = "rope"
a = {p = [1.5, 0.0, 2.0]}
b = {figure = "box"}
kind = "pont"
[[event]]
name = "grab"
when = "time"
do = "connect"
target = "roap"
"""


def test_all_errors_of_a_scene_are_reported_at_once(tmp_path: Path):
    """Misspelt keys and words together with wrong numbers and names, not one kind after the other."""
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE_WITH_ERRORS)
    result = run("check", scene)
    assert result.exit_code == BAD_FILE and "failed, 5 errors" in result.stdout, result.stderr  # the mass makes two
    for word in ("surface_speed", "pont", "-0.5", "roap"):
        assert word in result.stderr
