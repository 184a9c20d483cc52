"""Charts of people beside instruments, as SVG."""

from __future__ import annotations

import numpy
from plate_walks import Stance

Curve = tuple[numpy.ndarray, numpy.ndarray, str, bool]  # times, values, colour, whether it is an instrument's


def chart(panels: list[tuple[str, float, float, list[Curve]]]) -> str:
    """Panels below each other, each with its title, lowest and highest value and curves; instruments are thick and pale."""
    width, height, left = 720, 150, 50
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {len(panels) * (height + 15) + 10}" font-size="11" '
        'font-family="sans-serif">',
        "<style>text{fill:#555}path{fill:none}</style>",
    ]
    for row, (title, low, high, curves) in enumerate(panels):
        top = 20 + row * (height + 15)
        start = min(times[0] for times, *_ in curves)
        span = max(times[-1] for times, *_ in curves) - start

        def place(value: float, top=top, low=low, high=high) -> float:
            return top + height * (1 - (value - low) / (high - low))

        out.append(f'<text x="{left}" y="{top - 5}">{title}</text>')
        for value in (low, 0, high):
            y = place(value)
            if value == low and place(low) - place(0) < 15:  # their names would overlap
                continue
            out.append(f'<text x="5" y="{y + 4:.1f}">{value:g}</text><path d="M{left},{y:.1f} H{width - 10}" stroke="#ddd"/>')
        for times, values, colour, measured in curves:
            points = " L".join(
                f"{left + (width - left - 10) * (t - start) / span:.1f},{place(v):.1f}" for t, v in zip(times, values, strict=False)
            )
            style = 'stroke-width="5" opacity="0.3"' if measured else 'stroke-width="1.5"'
            out.append(f'<path d="M{points}" stroke="{colour}" {style}/>')
    return "\n".join(out) + "\n</svg>\n"


def others_picture(stances: list[Stance]) -> str:
    panels = []
    for i, (what, low, high) in enumerate((("vertical force [N]", -50, 1050), ("force along the walk [N]", -250, 250))):
        curves, shift = [], 0.0
        for s, colour in zip(stances, ("#2471a3", "#c0392b", "#7d3c98"), strict=False):
            times = s.times - s.times[0] + shift
            curves += [(times, s.theirs[i], colour, True), (times, s.ours[i], colour, False)]
            shift = times[-1] + 0.1
        panels.append((what + ": " + ", ".join(f"{s.person} {s.side}" for s in stances), low, high, curves))
    return chart(panels)
