"""kansetsu view with browsers that it starts itself: who else can use their address, and what is left when it is interrupted.
The browser and ffmpeg are stand-ins that note how they were called."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kansetsu_protocol import needs_viewer

BIN = Path(os.environ.get("KANSETSU_BIN") or Path(__file__).resolve().parents[2] / "build/kansetsu")
NOBODY = 65534


def program(path: Path, then: str) -> Path:
    """A program that writes its arguments, one to a line, and its number to files beside it."""
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {path}.new && mv {path}.new {path}.arguments\necho $$ > {path}.number\n{then}\n')
    path.chmod(0o755)
    return path


class Started:
    """kansetsu view … that has started its browser."""

    def __init__(self, folder: Path, *arguments: str):
        needs_viewer()
        folder.joinpath("temporary").mkdir(exist_ok=True)
        self.browser = program(folder / "chromium", "exec sleep 300")
        program(folder / "xdg-open", "")
        ffmpeg = program(folder / "ffmpeg", 'for last; do :; done; cat > "${last#file:}"')
        environment = {**os.environ, "KANSETSU_CHROMIUM": str(self.browser), "KANSETSU_FFMPEG": str(ffmpeg), "TMPDIR": str(folder / "temporary"),
                       "PATH": f"{folder}:{os.environ['PATH']}", "DISPLAY": ":0"}
        self.process = subprocess.Popen([BIN, "view", "pendulum", *arguments], env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        opener = self.browser if arguments else folder / "xdg-open"
        end = time.monotonic() + 60
        while not Path(f"{opener}.number").exists():
            assert time.monotonic() < end and self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)
        self.arguments = Path(f"{opener}.arguments").read_text().split("\n")
        self.url = next(a for a in self.arguments if a.startswith("http://127.0.0.1:"))
        self.port, self.target = int(re.match(r"http://127\.0\.0\.1:(\d+)", self.url)[1]), re.sub(r"http://[^/]*", "", self.url)

    def ask(self, target: str, *headers: str, host: str | None = None, method: str = "GET") -> tuple[int, str]:
        """Status and head of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall("\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", *headers]).encode() + b"\r\n\r\n")
            head = b""
            while b"\r\n\r\n" not in head and (piece := connection.recv(1 << 16)):
                head += piece
        return int(head.split()[1]), head.split(b"\r\n\r\n")[0].decode()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        _, report = self.process.communicate(timeout=60)
        return self.process.returncode, report


@pytest.mark.parametrize("arguments", [[], ["--png", "p.png"], ["--video", "v.mp4"]], ids=["browser", "picture", "film"])
def test_the_arguments_of_a_browser_do_not_let_others_in(arguments: list[str], tmp_path: Path):
    """Everybody on the machine can list the arguments of programs. What stands there leads this user's browser in, and nobody else's."""
    view = Started(tmp_path, *arguments)
    try:
        assert not any("token" in a for a in view.arguments)
        ticket = re.search(r"ticket=([0-9a-f]{32})", view.target)[1]
        status, head = view.ask(view.target)
        assert status == 303
        place = re.search(r"Location: (/\?token=([0-9a-f]{32})\S*)", head)
        assert place[2] != ticket and place[1].endswith(view.target.partition(ticket)[2]), "the page knows what it is asked for"
        assert view.ask(place[1])[0] == 200
        assert view.ask(f"/?token={ticket}")[0] == 403
        assert view.ask(view.target.replace(ticket, "0" * 32))[0] == 403
        assert view.ask(view.target, host="evil.example")[0] == 421
        assert view.ask(view.target, "Origin: http://evil.example")[0] == 403
        if os.geteuid() != 0:
            pytest.skip("only root can be somebody else as well")
        other = ("import socket, sys\nc = socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=20)\n"
                 "c.sendall(f'GET {sys.argv[2]} HTTP/1.1\\r\\nHost: 127.0.0.1:{sys.argv[1]}\\r\\n\\r\\n'.encode())\nprint(c.recv(100).split()[1].decode())")
        asked = subprocess.run(["/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable, "-c", other, str(view.port), view.target],
                               user=NOBODY, cwd="/", capture_output=True, text=True, timeout=60)
        assert asked.stdout.strip() == "403", asked.stderr
    finally:
        view.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("option", ["--png p.png", "--video v.mp4"])
def test_an_interrupted_picture_leaves_nothing_behind(option: str, number: int, tmp_path: Path):
    old = tmp_path / option.split()[1]
    old.write_text("precious")
    view = Started(tmp_path, *option.split())
    browser = int(Path(f"{view.browser}.number").read_text())
    code, report = view.end(number)
    assert code == 128 + number and f"{old.name} was not written" in report, report
    assert old.read_text() == "precious" and not [f for f in tmp_path.iterdir() if "part" in f.name]
    assert not list((tmp_path / "temporary").iterdir()), "the profile of the browser"
    with pytest.raises(ProcessLookupError):
        os.kill(browser, 0)


@pytest.mark.parametrize("option", ["--png p.png", "--video v.mp4"])
def test_a_picture_has_one_writer(option: str, tmp_path: Path):
    view = Started(tmp_path, *option.split())
    try:
        second = subprocess.run([BIN, "view", "pendulum", *option.split()], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert second.returncode == 3 and "another program is writing to it" in second.stderr
    finally:
        view.end()


def test_strangers_do_not_fill_the_memory(tmp_path: Path):
    """A picture may be large; who has no token is refused before any of it is taken."""
    view = Started(tmp_path, "--png", "p.png")
    try:
        for target in ["/picture", "/picture?token=" + "0" * 32, view.target.replace("/open", "/picture")]:
            assert view.ask(target, "Content-Length: 60000000", method="POST")[0] == 403
    finally:
        view.end()
