"""Writes small C3D files of any kind: three processors, whole numbers or floating point, force plates, events."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

INTEL, DEC, SGI = 84, 85, 86


@dataclass
class C3d:
    """What goes into the file; names of parameters are GROUP:NAME, values lists with dimensions."""

    processor: int = INTEL
    scale: float = -1.0  # negative: floating point
    rate: float = 100.0
    first: int = 1
    labels: list[str] = field(default_factory=list)
    points: list[list[tuple | None]] = field(default_factory=list)  # frame by frame
    signals: list[str] = field(default_factory=list)
    samples: int = 0  # of each signal per frame
    analog: list[list[float]] = field(default_factory=list)  # sample by sample, as scaled
    analog_scale: float = 1.0
    analog_offset: int = 0
    parameters: dict[str, tuple[str, list, list[int]]] = field(default_factory=dict)  # kind f, i or c

    def word(self, x: int) -> bytes:
        return struct.pack(">H" if self.processor == SGI else "<H", x & 0xFFFF)

    def real(self, x: float) -> bytes:
        if self.processor == SGI:
            return struct.pack(">f", x)
        if self.processor == INTEL:
            return struct.pack("<f", x)
        if x == 0:
            return bytes(4)
        b = struct.pack("<f", 4 * x)  # DEC: words exchanged, the exponent two larger
        return b[2:4] + b[0:2]

    def parameter(self, group: int, name: str, kind: str, values: list, dims: list[int]) -> bytes:
        if kind == "c":
            data = b"".join(v.encode().ljust(dims[0]) for v in values)
        else:
            data = b"".join(self.real(v) if kind == "f" else self.word(int(v)) for v in values)
        body = bytes([{"c": 255, "i": 2, "f": 4}[kind], len(dims), *dims]) + data + b"\0"
        return bytes([len(name), group]) + name.encode() + self.word(2 + len(body)) + body

    def all_parameters(self, data_block: int) -> bytes:
        frames, n = len(self.points), len(self.signals)
        width = max([len(x) for x in self.labels] or [1])
        table = {
            "POINT:USED": ("i", [len(self.labels)], []),
            "POINT:SCALE": ("f", [self.scale], []),
            "POINT:RATE": ("f", [self.rate], []),
            "POINT:DATA_START": ("i", [data_block], []),
            "POINT:FRAMES": ("i", [frames], []),
            "POINT:UNITS": ("c", ["mm"], [2]),
            "POINT:LABELS": ("c", self.labels, [width, len(self.labels)]),
            "ANALOG:USED": ("i", [n], []),
            "ANALOG:GEN_SCALE": ("f", [1.0], []),
            "ANALOG:RATE": ("f", [self.rate * max(self.samples, 1)], []),
            "ANALOG:SCALE": ("f", [self.analog_scale] * n, [n]),
            "ANALOG:OFFSET": ("i", [self.analog_offset] * n, [n]),
            "ANALOG:UNITS": ("c", ["V"] * n, [1, n]),
            "ANALOG:LABELS": ("c", self.signals, [max([len(x) for x in self.signals] or [1]), n]),
            **self.parameters,
        }
        groups: dict[str, int] = {}
        out = b""
        for key, (kind, values, dims) in table.items():
            group, name = key.split(":")
            if group not in groups:
                groups[group] = len(groups) + 1
                out += bytes([len(group), 256 - groups[group]]) + group.encode() + self.word(3) + b"\0"
            out += self.parameter(groups[group], name, kind, values, dims)
        return out + b"\0\0"

    def number(self, x: float, scale: float) -> bytes:
        return self.real(x) if self.scale < 0 else self.word(round(x / scale))

    def to_bytes(self) -> bytes:
        frames = len(self.points)
        blocks = (4 + len(self.all_parameters(0)) + 511) // 512
        start = 2 + blocks
        head = bytes([2, 0x50]) + self.word(len(self.labels)) + self.word(len(self.signals) * self.samples)
        head += self.word(self.first) + self.word(self.first + frames - 1) + self.word(0) + self.real(self.scale)
        head += self.word(start) + self.word(self.samples) + self.real(self.rate)
        out = head.ljust(512, b"\0") + bytes([1, 0x50, blocks, self.processor]) + self.all_parameters(start)
        out = out.ljust(512 * (start - 1), b"\0")
        for k, frame in enumerate(self.points):
            for p in frame:
                for x in p or (0, 0, 0):
                    out += self.number(x, abs(self.scale))
                out += self.number(0, 1) if p else (self.real(-1.0) if self.scale < 0 else self.word(-1))
            for row in self.analog[k * self.samples : (k + 1) * self.samples]:
                for x in row:
                    raw = x / self.analog_scale + self.analog_offset
                    out += self.real(raw) if self.scale < 0 else self.word(round(raw))
        return out.ljust((len(out) + 511) // 512 * 512, b"\0")


def add_plate(file: C3d, kind: int, signals: list[list[float]], corners, origin, matrix=None) -> None:
    """One plate whose signals are all those of the file."""
    count = len(signals[0])
    file.signals = [f"S{i + 1}" for i in range(count)]
    file.analog = signals
    file.parameters |= {
        "FORCE_PLATFORM:USED": ("i", [1], []),
        "FORCE_PLATFORM:TYPE": ("i", [kind], [1]),
        "FORCE_PLATFORM:ZERO": ("i", [1, 0], [2]),
        "FORCE_PLATFORM:CORNERS": ("f", [x for c in corners for x in c], [3, 4, 1]),
        "FORCE_PLATFORM:ORIGIN": ("f", list(origin), [3, 1]),
        "FORCE_PLATFORM:CHANNEL": ("i", list(range(1, count + 1)), [count, 1]),
    }
    if matrix is not None:
        file.parameters["FORCE_PLATFORM:CAL_MATRIX"] = (
            "f", [matrix[r][c] for c in range(6) for r in range(6)], [6, 6, 1])
