"""kansetsu view: what its server gives, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from kansetsu_protocol import needs_viewer

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")


class Server:
    def __init__(self, *arguments: str):
        self.process = subprocess.Popen([BIN, "view", *arguments, "--no-browser"], stderr=subprocess.PIPE, text=True)
        while line := self.process.stderr.readline():
            if found := re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", line.strip()):
                self.port, self.token = int(found[1]), found[2]
                return
        raise RuntimeError("no address")

    def ask(self, target: str, *headers: str, method="GET", host=None, body=b"", token=True) -> tuple[int, dict, bytes]:
        """Status, headers and body; spoken by hand, since clients tidy paths up."""
        if token:
            target += ("&" if "?" in target else "?") + "token=" + self.token
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", "Connection: close", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            try:
                connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            except ConnectionError:
                pass  # refused before all of it was sent
            data = b""
            while piece := connection.recv(1 << 16):
                data += piece
        head, _, rest = data.partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        return int(status.split()[1]), {k.lower(): v for k, v in (f.split(": ", 1) for f in fields)}, rest


@pytest.fixture(scope="module")
def server():
    needs_viewer()
    server = Server("human28")
    yield server
    server.process.terminate()
    assert server.process.wait(timeout=10) == 0


def test_page_and_recording_are_there(server: Server):
    status, headers, page = server.ask("/")
    assert status == 200 and b"<!doctype html>" in page[:40].lower()
    assert "default-src 'none'" in headers["content-security-policy"] and headers["x-frame-options"] == "DENY"
    assert json.loads(server.ask("/info")[2]) == {"name": "human28", "live": False}
    status, _, recording = server.ask("/recording")
    assert status == 200 and recording.startswith(b"\x89MCAP0\r\n") and recording.endswith(b"\x89MCAP0\r\n")
    status, headers, nothing = server.ask("/recording", method="HEAD")
    assert status == 200 and int(headers["content-length"]) == len(recording) and nothing == b""
    size = len(recording)
    for wanted, piece in [("0-7", recording[:8]), (f"{size - 8}-", recording[-8:]), ("-8", recording[-8:]), (f"5-{size + 99}", recording[5:])]:
        status, headers, body = server.ask("/recording", f"Range: bytes={wanted}")
        assert status == 206 and body == piece, wanted
        assert headers["content-range"].endswith(f"/{size}")
    for wanted in [f"{size}-", "9-3", "a-b", "-0", "--1", "1"]:
        assert server.ask("/recording", f"Range: bytes={wanted}")[0] == 416, wanted


def test_strangers_are_refused(server: Server):
    assert server.ask("/", token=False)[0] == 403
    assert server.ask("/recording?token=" + "0" * 32, token=False)[0] == 403
    assert server.ask("/recording?token=", token=False)[0] == 403
    assert server.ask("/", host="evil.example")[0] == 421  # a name that was made to lead here
    assert server.ask("/", host=f"evil.example:{server.port}")[0] == 421
    assert server.ask("/", host=f"localhost:{server.port}")[0] == 200
    for origin in ["http://evil.example", "null", f"https://127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}.evil.example"]:
        assert server.ask("/info", f"Origin: {origin}")[0] == 403, origin
    assert server.ask("/info", f"Origin: http://127.0.0.1:{server.port}")[0] == 200


def test_there_are_no_files_to_reach(server: Server):
    for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/recording/../../etc/passwd", "/index.html", "/recording/"]:
        status, _, body = server.ask(path)
        assert status == 404 and b"root:" not in body, path


def test_other_methods_and_large_messages_are_refused(server: Server):
    assert server.ask("/recording", method="DELETE")[0] == 405
    assert server.ask("/picture", method="POST", body=b"x" * 100000)[0] == 413
    assert server.ask("/", "X-Long: " + "x" * 100000)[0] in (431, 413)
    assert server.ask("/live", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")[0] == 404


def test_it_listens_on_loopback_only(server: Server):
    inode_lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    mine = [line.split()[1] for line in inode_lines if line.split()[1].endswith(f":{server.port:04X}") and line.split()[3] == "0A"]
    assert mine == [f"0100007F:{server.port:04X}"]


def test_garbage_does_not_end_it(server: Server):
    for garbage in [b"\x00\xff" * 500, b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n"]:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            with contextlib.suppress(OSError):  # a server may hang up on garbage in the middle of it
                connection.sendall(garbage)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass
    assert server.ask("/info")[0] == 200


def test_bad_use_is_reported(server: Server, tmp_path: Path):
    def run(*arguments):
        result = subprocess.run([BIN, "view", *map(str, arguments)], capture_output=True, text=True)
        return result.returncode, result.stderr
    assert run("no_such_thing")[0] == 3
    code, text = run(tmp_path / "no.mcap")
    assert code == 3 and "REC001" in text
    assert run("human28", "--strip", "3")[0] == 2
    assert run("human28", "--png", tmp_path / "a.png", "--size", "big")[0] == 2
    assert run("human28", "--camera", "below")[0] == 2
    assert run("human28", "--html", tmp_path / "human.html")[0] == 0
    assert 'id="recording"' in (tmp_path / "human.html").read_text()
