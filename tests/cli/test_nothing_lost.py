"""Outputs survive: faults of the system, signals, a second writer, a command that is refused."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, has_viewer, needs_viewer, run

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/fault"))

import faults  # noqa: E402

BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")
ENDINGS = ["mcap", "csv", "npz", "glb"]


def is_whole(file: Path) -> bool:
    return faults.is_whole(file, BIN)


def leftovers(folder: Path) -> list[str]:
    return [f.name for f in folder.iterdir() if "part" in f.suffix]


# --- a refused command ----------------------------------------------------------------------------

@pytest.mark.parametrize("ending", [*ENDINGS, "html"])
def test_a_refused_command_leaves_old_files_alone(ending: str, tmp_path: Path):
    if ending == "html":
        needs_viewer()
    keep = tmp_path / f"keep.{ending}"
    keep.write_text("precious")
    result = run("simulate", "pendulum", "--duration", "0.01", "--record", keep, "--record", tmp_path / "no/such/x.csv")
    assert result.exit_code == BAD_FILE and keep.read_text() == "precious"
    result = run("simulate", "pendulum", "--duration", "0.01", "--record", keep, "--record", tmp_path / "x.avi")
    assert result.exit_code == BAD_FILE and keep.read_text() == "precious"
    assert not leftovers(tmp_path)


def test_a_film_that_cannot_be_made_leaves_the_old_one_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    needs_viewer()
    film = tmp_path / "film.mp4"
    film.write_text("precious")
    monkeypatch.setenv("KANSETSU_FFMPEG", "/no/such/ffmpeg")
    result = run("view", "pendulum", "--video", film)
    assert result.exit_code != OK and film.read_text() == "precious" and not leftovers(tmp_path)


@pytest.mark.parametrize("arguments", [["eval", "pendulum", "--out"], ["convert", "pendulum"], ["view", "pendulum", "--html"]], ids=lambda a: a[0])
def test_whole_files_have_one_writer_as_well(arguments: list[str], tmp_path: Path):
    if arguments[0] == "view":
        needs_viewer()
    file = tmp_path / "out.urdf"
    file.write_text("precious")
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = run(*arguments, file, stdin='{"compute": ["rnea"], "states": [{}]}' if arguments[0] == "eval" else "")
        assert result.exit_code == BAD_FILE and "another program is writing to it" in result.stderr, result.stderr
    assert file.read_text() == "precious" and not leftovers(tmp_path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_one_file_has_one_writer(ending: str, tmp_path: Path):
    file = tmp_path / f"r.{ending}"
    first = subprocess.Popen([BIN, "simulate", "pendulum", "--duration", "1e6", "--record", file], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: any(f.stat().st_size >= 0 for f in tmp_path.iterdir()))
        second = run("simulate", "pendulum", "--duration", "0.01", "--record", file)
        assert second.exit_code == BAD_FILE and "another program is writing to it" in second.stderr
    finally:
        first.terminate()
        assert first.wait(timeout=60) == 128 + signal.SIGTERM
    assert is_whole(file) and not leftovers(tmp_path)
    same = run("simulate", "pendulum", "--duration", "0.01", "--record", file, "--record", file)
    assert same.exit_code == BAD_FILE


# --- signals --------------------------------------------------------------------------------------

def wait_until(condition, seconds: float = 30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_recording_is_complete_in_every_format(number: int, tmp_path: Path):
    files = [tmp_path / f"r.{ending}" for ending in ([*ENDINGS, "html"] if has_viewer() else ENDINGS)]
    arguments = [a for f in files for a in ("--record", str(f))]
    process = subprocess.Popen([BIN, "simulate", "pendulum", "--duration", "1e6", "--rate", "100", *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: files[0].exists() and files[0].stat().st_size > 50_000)
    process.send_signal(number)
    _, report = process.communicate(timeout=120)
    assert process.returncode == 128 + number and "interrupted at" in report
    assert all(is_whole(f) for f in files) and not leftovers(tmp_path)
    assert "REC010" not in run("convert", files[0], tmp_path / "copy.csv").stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_command_leaves_no_part_behind(number: int, tmp_path: Path):
    """Of a file that appears whole or not at all."""
    file, request = tmp_path / "out.json", tmp_path / "request.json"
    file.write_text("precious")
    request.write_text('{"compute": ["aba_derivatives"], "states": [' + ",".join(["{}"] * 50_000) + "]}")
    process = subprocess.Popen([BIN, "eval", "human28", "--in", request, "--out", file], stderr=subprocess.DEVNULL)
    wait_until(lambda: leftovers(tmp_path))
    process.send_signal(number)
    assert process.wait(timeout=60) == -number
    assert file.read_text() == "precious" and not leftovers(tmp_path)


def test_walking_can_be_interrupted(tmp_path: Path):
    file = tmp_path / "w.npz"
    process = subprocess.Popen([BIN, "walk", "--distance", "1e4", "--duration", "1e5", "--record", file], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(tmp_path.iterdir()))
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, report = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT, report
    assert is_whole(file) and not leftovers(tmp_path)


def test_a_killed_run_can_be_read(tmp_path: Path):
    files = [tmp_path / "r.mcap", tmp_path / "r.csv"]
    process = subprocess.Popen([BIN, "simulate", "pendulum", "--duration", "1e6", "--record", files[0], "--record", files[1]],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: all(f.exists() and f.stat().st_size > 100_000 for f in files))
    process.kill()
    process.wait()
    assert is_whole(files[0])
    assert files[1].read_bytes().endswith(b"\n")


# --- faults of the system -------------------------------------------------------------------------

def sanitized() -> bool:
    return b"__asan_init" in subprocess.run(["grep", "-ao", "-m1", "__asan_init", BIN], capture_output=True).stdout


@pytest.fixture(scope="module")
def harness(tmp_path_factory) -> faults.Harness:
    if sanitized():
        pytest.skip("the sanitizers interpose these calls themselves")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return faults.Harness(BIN, tmp_path_factory.mktemp("fault"))


@pytest.mark.parametrize("name", faults.CASES)
def test_any_call_may_fail(name: str, harness: faults.Harness):
    """Each kind of call at a few places; script/soak faults tries every n."""
    if any(output.endswith(".html") for output in faults.CASES[name].outputs):
        needs_viewer()
    for call in faults.CALLS:
        assert not list(harness.findings(faults.CASES[name], call, most=5)), call


def test_the_harness_notices_what_is_wrong(harness: faults.Harness, tmp_path: Path):
    """Stand-ins for the command that crash, tear a file, leave one behind, and lie."""
    def judged(script: str, wrong: str, old: bool = False):
        (tmp_path / "run").mkdir(exist_ok=True)
        for file in (tmp_path / "run").iterdir():
            file.unlink()
        done = subprocess.run(["sh", "-c", script], cwd=tmp_path / "run", capture_output=True)
        problem = harness.judge(faults.Case([], ["out.csv"]), done, tmp_path / "run", (b"", b"", {"out.csv": b"a,b\n1,2\n"}), old)
        assert wrong in problem if wrong else problem == "", (script, problem)
    judged("kill -SEGV $$", "ended with -11")
    judged("echo no >&2; printf 'a,b\\n1' > out.csv; exit 3", "torn")
    judged("echo no >&2; touch x.part; exit 3", "left behind")
    judged("exit 3", "without a word")
    judged("printf 'a,b\\n' > out.csv", "all is well")
    judged("printf 'a,b\\n1,2\\n' > out.csv", "")
    judged("echo no >&2; printf 'a,b\\n' > out.csv; exit 3", "")
    judged("echo no >&2; printf '%s' '" + faults.OLD.decode() + "' > out.csv; exit 3", "", old=True)
    judged("echo no >&2; : > out.csv; exit 3", "torn", old=True)
