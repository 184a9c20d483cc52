"""Outputs survive: faults of the system, signals, a second writer, a command that is refused."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, has_viewer, needs_viewer, run

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")
ENDINGS = ["mcap", "csv", "npz", "glb"]


def is_whole(file: Path) -> bool:
    """Whether a recording can be read by whoever reads its format."""
    data = file.read_bytes()
    if file.suffix == ".mcap":
        return run("convert", file, file.with_suffix(".copy.csv")).exit_code == OK
    if file.suffix == ".csv":
        rows = list(csv.reader(io.StringIO(data.decode())))
        return data.endswith(b"\n") and len({len(row) for row in rows}) == 1
    if file.suffix == ".npz":
        with zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    if file.suffix == ".html":
        return data.rstrip().endswith(b"</html>") and b'id="recording"' in data
    return data[:4] == b"glTF" and int.from_bytes(data[8:12], "little") == len(data)


def leftovers(folder: Path) -> list[str]:
    return [f.name for f in folder.iterdir() if "part" in f.suffix or f.suffix == ".tmp"]


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
    _, told = process.communicate(timeout=120)
    assert process.returncode == 128 + number and "interrupted at" in told
    assert all(is_whole(f) for f in files) and not leftovers(tmp_path)
    assert "REC010" not in run("convert", files[0], tmp_path / "copy.csv").stderr


def test_walking_can_be_interrupted(tmp_path: Path):
    file = tmp_path / "w.npz"
    process = subprocess.Popen([BIN, "walk", "--distance", "1e4", "--duration", "1e5", "--record", file], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(tmp_path.iterdir()))
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT, told
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

@pytest.fixture(scope="module")
def interposer(tmp_path_factory) -> Path:
    library = tmp_path_factory.mktemp("fault") / "interpose.so"
    compiled = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "tests/fault/interpose.c", "-ldl"])
    if compiled.returncode != 0:
        pytest.skip("no C compiler")
    return library


def with_fault(interposer: Path, call: str, at: int, arguments: list, count: Path, always: bool = False) -> subprocess.CompletedProcess:
    environment = {**os.environ, "LD_PRELOAD": str(interposer), "FAULT_CALL": call, "FAULT_AT": str(at), "FAULT_COUNT": str(count)}
    if always:
        environment["FAULT_ALWAYS"] = "1"
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=120)


def sanitized() -> bool:
    return b"__asan_init" in subprocess.run(["grep", "-ao", "-m1", "__asan_init", BIN], capture_output=True).stdout


@pytest.mark.parametrize("call", ["write", "open", "rename", "ftruncate"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_each_call_may_fail(call: str, ending: str, interposer: Path, tmp_path: Path):
    """For every n, the n-th call fails: no crash, a code that says so, and files that are whole, old, or not there."""
    if sanitized():
        pytest.skip("the sanitizers interpose these calls themselves")
    count, file = tmp_path / "count", tmp_path / f"r.{ending}"
    arguments = ["simulate", "pendulum", "--duration", "0.2", "--rate", "50", "--record", file]
    for n in range(1, 500):
        file.unlink(missing_ok=True)
        done = with_fault(interposer, call, n, arguments, count)
        assert done.returncode in (OK, USAGE, BAD_FILE), (n, done)
        assert not leftovers(tmp_path), n
        if done.returncode == OK:
            assert is_whole(file), n
        elif file.exists() and file.stat().st_size > 0 and call != "ftruncate":
            assert is_whole(file) or ending == "mcap" and run("convert", file, tmp_path / "c.csv").exit_code == BAD_FILE, n
        if int(count.read_text()) < n:
            break
    else:
        pytest.fail("it never got through")


@pytest.mark.parametrize("arguments", [["check", "{robot}"], ["convert", "{robot}", "{out}"], ["simulate", "pendulum", "--duration", "0.01", "--record", "{file}"]])
def test_memory_may_run_out(arguments: list[str], interposer: Path, tmp_path: Path):
    """The n-th malloc fails, for n from the first to the last in steps that grow: an exit code, never a signal."""
    if sanitized():
        pytest.skip("the sanitizers bring their own allocator")
    robot, out, count = tmp_path / "r.urdf", tmp_path / "out.urdf", tmp_path / "count"
    robot.write_text('<robot name="r"><link name="a"/></robot>')
    words = [a.format(robot=robot, out=out, file=tmp_path / "r.csv") for a in arguments]
    assert with_fault(interposer, "malloc", -1, words, count).returncode == OK
    last = int(count.read_text())
    startup = 200  # of the loader and of static objects, before main can say anything
    at, codes = startup, set()
    while at <= last:
        done = with_fault(interposer, "malloc", at, words, count)
        assert 0 <= done.returncode <= 4, (at, last, done)
        codes.add(done.returncode)
        at += max(1, (last - startup) // 60)
    assert codes
