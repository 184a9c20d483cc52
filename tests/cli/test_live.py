"""kansetsu view --live: a world that runs while it is watched, over a WebSocket (docs/formats/live.md)."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from kansetsu_protocol import needs_viewer

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")

BALL = """
[scene]
name = "ball"

[[body]]
name = "ball"
type = "sphere"
radius = 0.1
mass = 2.0
pose = {p = [0.0, 0.0, 5.0]}

[[environment]]
name = "floor"
type = "plane"
"""


class Refused(Exception):
    pass


class Viewer:
    """A WebSocket by hand: clients of libraries would not send what is refused."""

    def __init__(self, port: int, token: str, *, origin: str | None = None, host: str | None = None, buffer: int | None = None):
        self.connection = socket.socket()
        if buffer:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.connection.settimeout(20)
        self.connection.connect(("127.0.0.1", port))
        lines = [f"GET /live?token={token} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version: 13"]
        if origin:
            lines.append(f"Origin: {origin}")
        self.connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            raise Refused(head.split(b"\r\n")[0].decode())
        self.hello = self.receive()
        self.frames = Frames(self.hello["scene"])

    def _more(self):
        piece = self.connection.recv(1 << 16)
        if not piece:
            raise ConnectionError("closed")
        self.rest += piece

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            self._more()
        piece, self.rest = self.rest[:count], self.rest[count:]
        return piece

    def receive(self) -> bytes | dict:
        """The next message: a frame's bytes, or JSON."""
        payload, kind, last = b"", 0, False
        while not last:  # long messages come in pieces
            first, length = self._take(2)
            if length == 126:
                (length,) = struct.unpack(">H", self._take(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self._take(8))
            payload += self._take(length)
            kind, last = kind or first & 15, bool(first & 128)
        if kind == 8:
            raise ConnectionError("closed")
        return json.loads(payload) if kind == 1 else payload

    def message(self) -> dict:
        while not isinstance(found := self.receive(), dict):
            self.frames.next(found)  # later ones say what has changed since
        return found

    def frame(self) -> dict:
        while isinstance(found := self.receive(), dict):
            pass
        return self.frames.next(found)

    def after(self, seconds: float) -> dict:
        """The frame after so much simulated time."""
        start = self.frame()["time"]
        while (frame := self.frame())["time"] < start + seconds:
            pass
        return frame

    def send(self, **message):
        self.send_text(json.dumps(message).encode())

    def send_text(self, data: bytes):
        mask = os.urandom(4)
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data)) if len(data) < 65536 else b"\xff" + struct.pack(">Q", len(data))
        self.connection.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))


class Frames:
    """Messages of docs/formats/live.md, put together again; `sizes` counts their bytes."""

    def __init__(self, scene: dict):
        self.figures = [(f["nq"], f["nv"]) for f in scene["figures"]]
        self.fixed = sum(map(sum, self.figures)) + len(scene["numbers"])
        self.values, self.parts = [], ([], [])
        self.sizes: list[tuple[str, int]] = []

    def next(self, data: bytes) -> dict:
        at = 0

        def take(code: str):
            nonlocal at
            found = struct.unpack_from("<" + code, data, at)
            at += struct.calcsize("<" + code)
            return found[0] if len(found) == 1 else found

        kind, when = take("B"), take("d")
        self.sizes.append(("change" if kind else "whole", len(data)))
        assert kind == 0 or self.sizes[0][0] == "whole", "a change needs a frame before"
        events = [take(f"{take('I')}s") for _ in range(take("I"))]
        if take("B"):
            contacts = [take("4i") for _ in range(take("I"))]
            self.parts = contacts, [(take("4i"), take(f"{take('I')}s").decode()) for _ in range(take("I"))]
        count = self.fixed + 16 * len(self.parts[0]) + 9 * len(self.parts[1])
        self.values = ([] if kind == 0 else self.values[:count]) + [0.0] * max(0, count - (len(self.values) if kind else 0))
        while at < len(data):
            first, length = take("2I")
            run = take(f"{length}f")
            self.values[first:first + length] = run if length > 1 else [run]
        assert len(self.values) == count
        q, start = [], 0
        for nq, nv in self.figures:
            q.append(self.values[start:start + nq])
            start += nq + nv
        return {"time": when, "q": q, "contacts": len(self.parts[0]), "connections": [name for _, name in self.parts[1]], "events": events}


class Live:
    def __init__(self, *arguments: str, command: str = "view"):
        self.process = subprocess.Popen([BIN, command, *arguments, "--live", "--no-browser"], stderr=subprocess.PIPE, text=True)
        while line := self.process.stderr.readline():
            if found := re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", line.strip()):
                self.port, self.token = int(found[1]), found[2]
                return
        raise RuntimeError("no address")

    def watch(self) -> Viewer:
        return Viewer(self.port, self.token)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=10) == 0


@pytest.fixture(scope="module", autouse=True)
def with_viewer():
    needs_viewer()


@pytest.fixture
def ball(tmp_path: Path):
    scene = tmp_path / "ball.toml"
    scene.write_text(BALL)
    live = Live(str(scene))
    yield live
    live.stop()


@pytest.fixture
def standing():
    live = Live(str(ROOT / "examples/scenes/standing.toml"))
    yield live
    live.stop()


def test_a_world_streams_pauses_steps_and_starts_again(ball: Live):
    viewer = ball.watch()
    assert viewer.hello["type"] == "hello" and viewer.hello["playing"] and viewer.hello["gravity"] == [0, 0, -9.81]
    assert [f["name"] for f in viewer.hello["scene"]["figures"]] == ["ball"]
    frame = viewer.after(0.3)
    # It falls: ½·g·t² to the error of the integrator, ½·g·h·t = 1.5e-3 m at t = 0.3 s.
    assert frame["q"][0][2] == pytest.approx(5 - 0.5 * 9.81 * frame["time"] ** 2, abs=5e-3)
    viewer.send(type="pause")
    assert viewer.message() == {"type": "state", "playing": False, "speed": 1.0, "recording": False}
    paused = None
    viewer.connection.settimeout(0.5)
    try:  # what was under way arrives, then nothing
        while True:
            paused = viewer.frame()
    except TimeoutError:
        pass
    viewer.connection.settimeout(20)
    viewer.send(type="step")
    stepped = viewer.frame()
    assert paused is None or stepped["time"] == pytest.approx(paused["time"] + 1 / 60, abs=2e-3)  # two steps of the world
    viewer.send(type="reset")
    while (again := viewer.frame())["time"] > 0:
        pass
    assert again["q"][0][2] == 5


PILE = """
[scene]
name = "pile"

[[environment]]
name = "floor"
type = "plane"
""" + "".join(f"""
[[body]]
name = "box {i}"
type = "box"
size = [0.2, 0.2, 0.2]
mass = 1.0
pose = {{p = [{0.3 * (i % 5)}, {0.3 * (i // 5)}, 0.1]}}
""" for i in range(20))


def test_what_rests_is_not_sent_again(tmp_path: Path):
    (tmp_path / "pile.toml").write_text(PILE)
    live = Live(str(tmp_path / "pile.toml"))
    try:
        viewer = live.watch()
        viewer.after(1.0)
        viewer.frames.sizes.clear()
        viewer.frames.sizes.append(("whole", 0))
        viewer.after(0.3)
        whole = Viewer(live.port, live.token)
        whole.frame()
        kind, size = whole.frames.sizes[0]
        changes = [bytes for _, bytes in viewer.frames.sizes[1:]]
        assert kind == "whole" and size > 4 * whole.frames.fixed
        assert max(changes) < size / 20, "boxes that lie still take next to nothing"
        viewer.send(type="drag", figure=3, link=0, point=[0, 0, 0], target=[0, 0, 2])
        moving = viewer.after(0.5)
        assert moving["q"][3][2] > 0.3 and moving["q"][4][2] == pytest.approx(0.1, abs=1e-3)  # the slop of contacts is 1e-4 m
    finally:
        live.stop()


def test_a_viewer_that_was_slow_gets_a_whole_frame_and_is_right_again(tmp_path: Path):
    rain = '[scene]\nname = "rain"\n' + "".join(f'[[body]]\nname = "drop {i}"\ntype = "sphere"\nradius = 0.1\nmass = 1.0\npose = {{p = [{i}.0, 0.0, 0.0]}}\n' for i in range(400))
    (tmp_path / "rain.toml").write_text(rain)
    live = Live(str(tmp_path / "rain.toml"))
    try:
        slow, quick = Viewer(live.port, live.token, buffer=8192), live.watch()
        while sum(size for _, size in quick.frames.sizes) < 3_000_000:  # three times what the buffers of the other one hold, which reads nothing
            quick.frame()
        quick.send(type="pause")
        for viewer in (slow, quick):
            viewer.connection.settimeout(1.0)
            try:
                while True:
                    viewer.last = viewer.frame()
            except TimeoutError:
                pass
        assert "whole" in [kind for kind, _ in slow.frames.sizes[1:]], "it missed some"
        assert slow.last == quick.last, "both have the same picture"
        assert len(slow.frames.sizes) < len(quick.frames.sizes)
    finally:
        live.stop()


def test_gravity_changes_while_it_runs(ball: Live):
    viewer = ball.watch()
    viewer.after(0.1)
    viewer.send(type="gravity", value=[0, 0, 30])
    low = viewer.after(0.05)["q"][0][2]
    assert viewer.after(0.6)["q"][0][2] > low + 0.5, "it rises"


def test_a_body_is_dragged_held_and_let_go(ball: Live):
    viewer = ball.watch()
    target = [1.0, 0.5, 4.5]
    viewer.send(type="drag", figure=0, link=0, point=[0, 0, 0], target=target)
    frame = viewer.after(2)
    # A spring of m·(9/s)² carries the weight at 9.81/81 = 0.12 m below the target.
    assert frame["q"][0][:3] == pytest.approx([1.0, 0.5, 4.5 - 9.81 / 81], abs=0.05) and frame["connections"] == ["drag"]
    viewer.send(type="grab", figure=0, link=0, point=[0, 0, 0.1])
    viewer.send(type="drop")
    held = viewer.after(0.5)
    later = viewer.after(1.5)
    assert later["connections"] == ["grip"]
    assert later["q"][0][2] == pytest.approx(held["q"][0][2], abs=0.25), "it swings about the point, within the ball"
    viewer.send(type="release", figure=0, link=0)
    assert viewer.after(1.5)["q"][0][2] < 1, "it falls to the floor"


def test_nothing_moves_while_nobody_watches(ball: Live):
    viewer = ball.watch()
    before = viewer.after(0.2)["time"]
    viewer.connection.close()
    time.sleep(1.0)
    assert ball.watch().frame()["time"] < before + 0.6


def test_the_figure_stands_until_its_controller_is_turned_off(standing: Live):
    viewer = standing.watch()
    strengths = {c["name"]: c["value"] for c in viewer.hello["controls"] if c["unit"] == "×"}
    assert strengths == {"posture": 1, "noise": 1}
    targets = [c for c in viewer.hello["controls"] if c["name"].startswith("posture/")]
    assert len(targets) == 28 and all(c["unit"] == "rad" and c["min"] < c["max"] for c in targets)
    frame = viewer.after(0.3)
    assert frame["contacts"] == 2 and frame["q"][0][2] > 0.85
    viewer.send(type="control", name="posture", value=0)
    assert viewer.after(1.5)["q"][0][2] < 0.6, "it falls"
    assert {c["name"]: c["value"] for c in standing.watch().hello["controls"] if c["unit"] == "×"} == {"posture": 0, "noise": 1}


MOTOR = """
[scene]
name = "motor"

[[figure]]
name = "door"
[[figure.link]]
name = "frame"
[[figure.link]]
name = "leaf"
mass = 1.0
com = [0.5, 0.0, 0.0]
inertia = [0.01, 0.1, 0.1]
[[figure.joint]]
name = "hinge"
type = "revolute"
parent = "frame"
child = "leaf"
axis = [0.0, 0.0, 1.0]
lower = -1.0
upper = 2.0
[[figure.actuator]]
name = "servo"
joint = "hinge"
kp = 200.0
kd = 20.0
[[figure.actuator]]
name = "motor"
joint = "hinge"
control_range = [-3.0, 3.0]
"""


def test_controls_of_actuators_are_sliders_and_stay_after_a_reset(tmp_path: Path):
    (tmp_path / "door.toml").write_text(MOTOR, encoding="utf-8")
    live = Live(str(tmp_path / "door.toml"))
    try:
        viewer = live.watch()
        assert [(c["name"], c["min"], c["max"], c["unit"]) for c in viewer.hello["controls"]] == [("servo", -1, 2, "rad"), ("motor", -3, 3, "")]
        viewer.send(type="control", name="servo", value=1.5)
        assert viewer.after(2)["q"][0][0] == pytest.approx(1.5, abs=0.01)
        viewer.send(type="reset")
        assert viewer.after(2)["q"][0][0] == pytest.approx(1.5, abs=0.01)
        assert live.watch().hello["controls"][0]["value"] == 1.5
    finally:
        live.stop()


BOX = """<mujoco><option timestep="0.002"/><worldbody>{ground}
<body pos="0 0 {height}"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("ground", "height", "rest"), [
    ("", 0.3, 0.1),  # a floor at z = 0
    ("", -0.4, -0.4),  # the floor is below the box where it starts
    ('<geom type="plane" size="1 1 1" pos="0 0 -1"/>', 0.0, -0.9),  # the file's own ground stays the only one
])
def test_a_robot_without_ground_does_not_fall_for_ever(ground: str, height: float, rest: float, tmp_path: Path):
    (tmp_path / "box.xml").write_text(BOX.format(ground=ground, height=height), encoding="utf-8")
    live = Live(str(tmp_path / "box.xml"))
    try:
        assert live.watch().after(1.5)["q"][0][2] == pytest.approx(rest, abs=0.002)
    finally:
        live.stop()


def test_a_scene_without_ground_stays_as_it_is(tmp_path: Path):
    (tmp_path / "fall.toml").write_text('[[figure]]\nname = "man"\nmodel = "human28"\n', encoding="utf-8")
    live = Live(str(tmp_path / "fall.toml"))
    try:
        assert live.watch().after(1)["q"][0][2] < -3
    finally:
        live.stop()


@pytest.mark.parametrize(("limits", "target"), [("lower = 5.0", 6.0), ("upper = -5.0", -6.0)])
def test_a_joint_with_one_limit_has_a_slider_that_can_be_moved(limits: str, target: float, tmp_path: Path):
    """The other end was half a turn from zero, on the wrong side of the limit: the first message of the slider ended the server."""
    door = MOTOR[: MOTOR.index("[[figure.actuator]]")]
    controller = '[[controller]]\nname = "hold"\nfigure = "door"\nkind = "pd"\nkp = 10.0\nkd = 1.0\ntarget = {hinge = %g}\n' % (target - 0.5)
    (tmp_path / "door.toml").write_text(re.sub(r"lower = .*\nupper = .*", limits, door) + controller, encoding="utf-8")
    live = Live(str(tmp_path / "door.toml"))
    try:
        viewer = live.watch()
        slider = next(c for c in viewer.hello["controls"] if c["name"] == "hold/hinge")
        assert slider["min"] < slider["max"] and 5 in (abs(slider["min"]), abs(slider["max"]))
        viewer.send(type="control", name="hold/hinge", value=target)
        viewer.send(type="step")
        assert viewer.message()["type"] == "state"
        assert {c["name"]: c["value"] for c in live.watch().hello["controls"]}["hold/hinge"] == target
    finally:
        live.stop()


def test_a_recording_follows_the_simulation_back_in_time(ball: Live, tmp_path: Path):
    viewer = ball.watch()
    file = f"http://127.0.0.1:{ball.port}/recording.mcap?token={ball.token}"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(file)
    viewer.after(0.3)
    viewer.send(type="record", on=True)
    assert viewer.message()["recording"] is True
    assert ball.watch().hello["recording"] is True
    viewer.send(type="reset")
    viewer.after(0.2)
    viewer.send(type="record", on=False)
    assert viewer.message()["recording"] is False
    (tmp_path / "live.mcap").write_bytes(urllib.request.urlopen(file).read())
    found = json.loads(subprocess.run([BIN, "info", tmp_path / "live.mcap", "--json"], capture_output=True, check=True).stdout)
    assert found["complete"] and found["figures"][0]["name"] == "ball" and found["frames"] > 3
    assert found["start"] < 0.1, "the frames from before the reset are gone"


def test_limbs_can_be_pulled_hard_without_breaking_the_world(standing: Live):
    viewer = standing.watch()
    links = len(viewer.hello["scene"]["figures"][0]["links"])
    for link in range(0, links, 3):
        viewer.send(type="drag", figure=0, link=link, point=[0, 0, 0.1], target=[30, -20, 50])
        frame = viewer.after(0.05)
        assert all(abs(x) < 100 for x in frame["q"][0]), link
    viewer.send(type="drop")
    assert viewer.after(0.1)["q"]


def test_what_makes_no_sense_is_answered_and_changes_nothing(ball: Live):
    viewer = ball.watch()
    bad = [b"no JSON", b"[]", b"{}", b'{"type": "explode"}', b'{"type": "drag", "figure": 0, "link": 7, "point": [0,0,0], "target": [0,0,0]}',
           b'{"type": "drag", "figure": -1, "link": 0, "point": [0,0,0], "target": [0,0,0]}',
           b'{"type": "drag", "figure": 0, "link": 0, "point": [0,0], "target": [0,0,0]}', b'{"type": "gravity", "value": [0, 0, 1e99]}',
           b'{"type": "gravity", "value": [0, 0, null]}', b'{"type": "control", "name": "none", "value": 1}', b'{"type": "speed", "value": "fast"}', b'{"type": "record"}',
           b'{"type": "record", "on": 1}']
    for text in bad:
        viewer.send_text(text)
        assert viewer.message()["type"] == "problem", text
    assert viewer.frame()["q"]


def test_strangers_and_long_messages_are_refused(ball: Live):
    own = f"http://127.0.0.1:{ball.port}"
    with pytest.raises(Refused, match="403"):
        Viewer(ball.port, "0" * 32)
    with pytest.raises(Refused, match="403"):
        Viewer(ball.port, ball.token, origin="http://evil.example")
    with pytest.raises(Refused, match="421"):
        Viewer(ball.port, ball.token, host="evil.example")
    assert Viewer(ball.port, ball.token, origin=own).hello["type"] == "hello"
    viewer = ball.watch()
    viewer.send_text(b'{"type": "drag", "padding": "' + b"x" * (17 << 10) + b'"}')
    with pytest.raises(OSError):
        while True:
            viewer.receive()
    assert ball.watch().frame()["q"], "others go on"


def test_no_message_ends_the_server(ball: Live):
    viewer = ball.watch()
    body = b'"point": [0,0,0], "target": [0,0,0]}'
    bad = ["é".encode(), b"\xff\xfe", b'{"type": "\xff"}', '{"type": "関節"}'.encode(), b'{"type": "drag", "figure": 0, "link": 4294967296, ' + body,
           b'{"type": "drag", "figure": 4294967296, "link": 0, ' + body, b'{"type": "drag", "figure": 0.5, "link": 0, ' + body,
           b'{"type": "drag", "figure": 0, "link": 18446744073709551616, ' + body, b'{"type": "drag", "figure": 0, "link": true, ' + body,
           b"[" * 8000, b'{"type": "control", "name": "\xc3", "value": 1}', b"\0", b""]
    for text in bad:
        try:  # bytes that are no UTF-8 end the connection, as WebSockets want it
            viewer.send_text(text)
            assert viewer.message()["type"] == "problem", text
        except (ConnectionError, OSError):
            viewer = ball.watch()
        assert ball.process.poll() is None, text
    assert ball.watch().frame()["q"]


def test_connections_without_the_token_do_not_keep_others_waiting(ball: Live):
    silent = []
    for k in range(100):
        connection = socket.create_connection(("127.0.0.1", ball.port), timeout=20)
        if k % 2:
            connection.sendall(b"GET /live HTTP/1.1\r\nHost: 127")
        silent.append(connection)
    start = time.monotonic()
    assert ball.watch().frame()["q"]
    assert time.monotonic() - start < 3  # at once, where thirty seconds were possible
    for connection in silent:
        connection.close()


def test_a_viewer_that_never_reads_is_let_go(ball: Live):
    lazy, busy = ball.watch(), ball.watch()
    lazy.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sent = 0
    for _ in range(100):  # each is answered to everybody
        for _ in range(200):
            busy.send(type="speed", value=1)
        sent += 200
        for _ in range(200):
            assert busy.message()["type"] == "state"
        if ball.process.poll() is not None:
            break
    with open(f"/proc/{ball.process.pid}/status") as status:
        memory = int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])
    assert memory < 500_000, f"{memory} KiB after {sent} messages"  # the world, the page and bounded queues
    assert ball.watch().frame()["q"]


def raw(live: Live, data: bytes, seconds: float = 10) -> bytes:
    """What the server says to these bytes until it closes or is silent."""
    with socket.create_connection(("127.0.0.1", live.port), timeout=seconds) as connection:
        connection.settimeout(seconds)
        said = b""
        try:
            connection.sendall(data)
            while piece := connection.recv(1 << 16):
                said += piece
                if len(said) > 1 << 20:
                    break
        except OSError:
            pass
        return said


def frame(opcode: int, data: bytes, *, masked: bool = True, claim: int | None = None, reserved: int = 0, last: bool = True) -> bytes:
    """A WebSocket frame that may claim another length, bits that mean nothing, or no mask."""
    size = len(data) if claim is None else claim
    head = bytes([(0x80 if last else 0) | reserved << 4 | opcode])
    flag = 0x80 if masked else 0
    head += bytes([flag | size]) if size < 126 else bytes([flag | 126]) + struct.pack(">H", size) if size < 65536 else bytes([flag | 127]) + struct.pack(">Q", size)
    return head + (b"\0\0\0\0" if masked else b"") + data


def test_no_frame_ends_the_server(ball: Live):
    """What no WebSocket client sends: each ends its own connection at most."""
    text = b'{"type": "pause"}'
    bad = [frame(1, text, masked=False), frame(1, text, reserved=7), *[frame(op, text) for op in (3, 7, 11, 15)], frame(9, b"x" * 126), frame(9, b"", last=False),
           frame(1, b"", claim=1 << 62), frame(1, b"", claim=(1 << 64) - 1), frame(1, b"x", claim=17 << 10), frame(0, text), frame(1, text, last=False) * 3,
           frame(1, b"\xff\xfe\xfd"), frame(1, b"\xe3\x81", last=False) + frame(0, b"x"), frame(8, b"x"), frame(8, struct.pack(">H", 0) + b"\xff"), frame(8, b""),
           frame(2, os.urandom(1000)), frame(9, b"ping") * 2000, frame(1, b"1e999"), frame(1, b'{"type": "speed", "value": 1e999}'),
           frame(1, b'{"type": "speed", "value": -1e308}'), frame(1, b'{"type": "rewind", "time": -1e12}'), frame(1, b'{"type": "gravity", "value": [1e308, 1e308, 1e308]}'),
           frame(1, b'{"type": "speed", "type": "reset", "value": {}}'), frame(1, b"-" * 16000), frame(1, b'{"a":' * 2000)]
    for data in bad:
        viewer = ball.watch()
        viewer.connection.settimeout(0.2)
        try:
            viewer.connection.sendall(data)
            viewer.receive()
        except (OSError, ValueError):
            pass
        viewer.connection.close()
        assert ball.process.poll() is None, data[:80]
    assert ball.watch().frame()["q"]


def test_no_request_ends_the_server(ball: Live):
    host = f"Host: 127.0.0.1:{ball.port}\r\n".encode()
    path = f"/?token={ball.token}".encode()
    bad = [b"\0" * 4096, os.urandom(4096), b"GET", b"GET \r\n\r\n", b"GET / HTTP/9.9\r\n" + host + b"\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\xff\xfe / HTTP/1.1\r\n" + host + b"\r\n",
           b"GET " + path + b" HTTP/1.1\r\n" + host + b"X: " + b"a" * (20 << 10) + b"\r\n\r\n",
           b"GET " + path + b" HTTP/1.1\r\n" + host + b"".join(b"X%d: y\r\n" % i for i in range(3000)) + b"\r\n",
           b"POST " + path + b" HTTP/1.1\r\n" + host + b"Content-Length: 99999999999999999999\r\n\r\n", b"POST " + path + b" HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n",
           b"POST " + path + b" HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
           b"POST " + path + b" HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
           b"GET /live?token=" + ball.token.encode() + b" HTTP/1.1\r\n" + host + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
           b"GET /live?token=" + ball.token.encode() + b" HTTP/1.1\r\n" + host + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \xff\r\nSec-WebSocket-Version: 99\r\n\r\n",
           b"GET /../../etc/passwd?token=" + ball.token.encode() + b" HTTP/1.1\r\n" + host + b"\r\n", b"GET /mesh/%2e%2e/x?token=" + ball.token.encode() + b" HTTP/1.1\r\n" + host + b"\r\n",
           b"GET /recording?token=" + ball.token.encode() + b" HTTP/1.1\r\n" + host + b"Range: bytes=18446744073709551615-\r\n\r\n",
           b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]
    for data in bad:
        said = raw(ball, data, seconds=0.5)
        assert b"root:" not in said and not said.startswith(b"HTTP/1.1 101"), data[:80]
        assert ball.process.poll() is None, data[:80]
    assert ball.watch().frame()["q"]


def test_headers_that_come_slowly_do_not_keep_a_place(ball: Live):
    """A byte now and then does not start the five seconds anew."""
    slow = [socket.create_connection(("127.0.0.1", ball.port), timeout=20) for _ in range(70)]
    start = time.monotonic()
    closed = 0
    while time.monotonic() - start < 9 and closed < len(slow):
        closed = 0
        for connection in slow:
            try:
                connection.sendall(b"G")
            except OSError:
                closed += 1
        time.sleep(0.5)
        if int(time.monotonic() - start) == 2:
            assert ball.watch().frame()["q"], "others are served meanwhile"
    assert closed == len(slow)
    assert ball.watch().frame()["q"]


def test_a_second_host_is_refused(ball: Live):
    with pytest.raises(Refused, match="400"):
        Viewer(ball.port, ball.token, host=f"127.0.0.1:{ball.port}\r\nHost: evil.example")
    with pytest.raises(Refused, match="400"):
        Viewer(ball.port, ball.token, origin=f"http://127.0.0.1:{ball.port}\r\nOrigin: http://evil.example")


def test_bad_use_is_reported(tmp_path: Path):
    def run(*arguments):
        result = subprocess.run([BIN, "view", *map(str, arguments), "--live"], capture_output=True, text=True, timeout=60)
        return result.returncode, result.stderr
    assert run("no_such_thing")[0] == 3
    assert run("run.mcap")[0] == 2
    code, text = run("human28", "--png", tmp_path / "a.png")
    assert code == 2 and "--live" in text


def test_two_arms_draw_the_same_lines_while_they_are_watched():
    arms = ROOT / "examples/scenes/two_arms.toml"
    live = Live("ik-lines", "--arm", f"{arms}#white", "--arm", f"{arms}#red", command="bench")
    try:
        viewer = live.watch()
        assert [f["name"] for f in viewer.hello["scene"]["figures"]] == ["log quaternion", "Euler angles"]
        begin, later = viewer.frame(), viewer.after(0.5)
        assert later["time"] > begin["time"] and later["q"][0] != begin["q"][0] and later["q"][0] != later["q"][1]
        viewer.send(type="reset")
        while viewer.frame()["time"] >= later["time"]:
            pass
    finally:
        live.stop()
