"""Draws the benchmark's pictures as SVG: readable on light and dark pages, in colours that the colour-blind tell apart."""

import math
from html import escape

# Okabe and Ito's palette; each library keeps its colour everywhere. The second is for dark backgrounds.
COLORS = {"kansetsu": ("#0072b2", "#4aa8e0"), "fp64": ("#009e73", "#2fc79c"), "fp32": ("#cc79a7", "#e39fc5"),
          "pinocchio": ("#e69f00", "#f0b429"), "mujoco": ("#7f7f7f", "#a6a6a6"), "other": ("#d55e00", "#f07f2e")}
INK = {"page": ("#ffffff", "#0d1117"), "text": ("#1f2328", "#e6edf3"), "faint": ("#656d76", "#9198a1"),
       "grid": ("#d8dee4", "#30363d"), "strong": ("#57606a", "#b1bac4")}


def style():
    def rules(k):
        return "".join(f".f-{name}{{fill:{pair[k]}}}.s-{name}{{stroke:{pair[k]}}}" for name, pair in (COLORS | INK).items())

    return ("<style>text{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px}.small{font-size:10.5px}"
            ".title{font-size:15px;font-weight:600}.line{fill:none;stroke-width:2}"
            f"{rules(0)}@media (prefers-color-scheme:dark){{{rules(1)}}}</style>")


def text_width(text, size=12):
    return 0.58 * size * len(text)


class Picture:
    """Elements in drawing order, and the height they need."""

    def __init__(self, title, width=860):
        self.width, self.height, self.parts, self.title = width, 0, [], title
        self.text(20, 28, title, "title")

    def text(self, x, y, text, kind="", anchor="start", ink="text"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="f-{ink} {kind}">{escape(text)}</text>')
        self.height = max(self.height, y + 8)

    def bar(self, x, y, width, height, color, faded=False):
        opacity = ' opacity="0.6"' if faded else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height}" rx="1.5" '
                          f'class="f-{color}"{opacity}/>')

    def line(self, x1, y1, x2, y2, ink="grid", width=1, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="s-{ink}" stroke-width="{width}"{dashes}/>')

    def curve(self, points, color, dash="", marker=True):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="line s-{color}"{dashes}/>')
        if marker:
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" class="f-{color}"/>' for x, y in points]

    def legend(self, y, entries, x=20):
        """entries: (color, faded, text)"""
        for color, faded, text in entries:
            if x + 18 + text_width(text) > self.width - 20:
                x, y = 20, y + 18
            self.bar(x, y - 10, 12, 11, color, faded)
            self.text(x + 17, y, text)
            x += 17 + text_width(text) + 18
        return y

    def svg(self):
        height = math.ceil(self.height + 8)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" viewBox="0 0 {self.width} {height}" '
                f'role="img"><title>{escape(self.title)}</title>{style()}'
                f'<rect width="{self.width}" height="{height}" rx="6" class="f-page"/>' + "\n".join(self.parts) + "</svg>\n")


def nice_time(ns):
    if ns < 999.5:
        return f"{ns:.0f} ns"
    return f"{ns / 1e3:.3g} µs" if ns < 999.5e3 else f"{ns / 1e6:.3g} ms"


def nice_count(n):
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if n >= limit:
            return f"{n / limit:.3g}{unit}"
    return f"{n:.3g}"


def grouped_bars(title, note, groups, legend, most, unit="×"):
    """groups: [(label, [(color, faded, value, text, target or None)])]; bars longer than `most` are cut and end in an arrow."""
    picture = Picture(title)
    y = picture.legend(52, legend) + 20
    left, right, bar = 160, 130, 13
    scale = (picture.width - left - right) / most
    top = y
    y += 6
    marks = []
    for label, bars in groups:
        first = y
        for color, faded, value, text, target in bars:
            length = min(value, most) * scale
            picture.bar(left, y, length, bar - 2, color, faded)
            text += " →" if value > most else ""
            at = left + length + 5
            if target is not None and target <= most:
                mark = left + target * scale
                marks.append((mark, y - 2, y + bar))
                if at - 4 < mark < at + text_width(text, 10.5) + 4:  # the mark would cross the text
                    at = mark + 5
            picture.text(at, y + bar - 4, text, "small")
            y += bar
        picture.text(left - 10, (first + y) / 2 + 4, label, anchor="end")
        y += 11
    step = next(s for s in (0.25, 0.5, 1, 2, 5, 10, 20) if most / s <= 8)
    grid = Picture("", picture.width)
    for k in range(int(most / step + 1e-9) + 1):
        x = left + k * step * scale
        one = abs(k * step - 1) < 1e-9
        grid.line(x, top, x, y - 4, "strong" if one else "grid", 1.5 if one else 1)
        picture.text(x, y + 12, f"{k * step:g}{unit}", "small", "middle", "faint")
    picture.parts = picture.parts[:1] + grid.parts[1:] + picture.parts[1:]
    for x, y1, y2 in marks:
        picture.line(x, y1, x, y2, "text", 2)
    picture.text(20, y + 34, note, "small", ink="faint")
    return picture.svg()


def decades(low, high):
    return [10.0**k for k in range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)]


def log_panels(title, note, panels, legend, x_label, y_text, x_ticks, columns=3):
    """panels: [(name, {color or (color, dash): [(x, y)]})], all with the same axes, logarithmic."""
    picture = Picture(title)
    top = picture.legend(52, legend) + 18
    values = [y for _, series in panels for points in series.values() for _, y in points]
    ticks_y = decades(min(values), max(values))
    low, high = math.log10(ticks_y[0]), math.log10(ticks_y[-1])
    first, last = math.log10(x_ticks[0]), math.log10(x_ticks[-1])
    columns = min(columns, len(panels))
    width, height, gap = (picture.width - 46) / columns, 210, 50
    bottom = top
    for number, (name, series) in enumerate(panels):
        left = 20 + (number % columns) * width + 46
        right = 20 + (number % columns + 1) * width - 8
        y0 = top + (number // columns) * (height + gap) + 18
        bottom = y0 + height
        at_x = lambda x: left + (math.log10(x) - first) / max(last - first, 1e-9) * (right - left)  # noqa: E731,B023
        at_y = lambda y: bottom - (math.log10(y) - low) / (high - low) * height  # noqa: E731,B023
        picture.text(left, y0 - 8, name)
        for tick in ticks_y:
            picture.line(left, at_y(tick), right, at_y(tick))
            picture.text(left - 6, at_y(tick) + 4, y_text(tick), "small", "end", "faint")
        skip = 2 if len(x_ticks) > 5 else 1
        for k, tick in enumerate(x_ticks):
            picture.line(at_x(tick), y0, at_x(tick), bottom)
            if (len(x_ticks) - 1 - k) % skip == 0:
                picture.text(at_x(tick), bottom + 15, nice_count(tick) if tick >= 1e4 else f"{tick:g}", "small", "middle", "faint")
        for color, points in series.items():
            color, dash = color if isinstance(color, tuple) else (color, "")
            picture.curve([(at_x(x), at_y(y)) for x, y in points], color, dash)
    picture.text(20, bottom + 40, f"{x_label}. {note}", "small", ink="faint")
    return picture.svg()
