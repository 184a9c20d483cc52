#!/usr/bin/env python3
"""Draws the built-in figure human28, standing, with the axes of its hinges.

usage: tools/draw_figure.py > docs/images/human28.svg

The numbers are those of src/model/human28.cc: where each joint sits on its parent, and about which axes it turns. A
test keeps the drawing in docs/ equal to what this prints.
"""

import math
import sys

# joint, parent joint, position on the parent link [m], axes from the parent on; written for the left side.
TRUNK = [("waist", "base", (0, 0, 0.12), "zxy"), ("neck", "waist", (0, 0, 0.45), "zxy")]
LIMBS = [
    ("hip", "base", (0, 0.09, 0), "zxy"),
    ("knee", "hip", (0, 0, -0.40), "y"),
    ("ankle", "knee", (0, 0, -0.40), "yxz"),
    ("shoulder", "waist", (0, 0.18, 0.38), "yxz"),
    ("elbow", "shoulder", (0, 0, -0.30), "y"),
]
PELVIS_HEIGHT = 0.88
GRIP = (0, 0, -0.33)  # on the forearm
SOLE = [(-0.05, -0.06), (0.14, -0.06), (0.14, 0.06), (-0.05, 0.06)]  # on the foot, 0.08 below the ankle
CROWN = 0.25  # above the neck

AZIMUTH, ELEVATION = math.radians(36), math.radians(8)  # where the viewer stands: in front, to the figure's left
SCALE, WIDTH, HEIGHT, FLOOR = 300, 640, 620, 560  # [px/m] and [px]
AXIS_LENGTH = 0.085  # [m]
UNIT = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}

STYLE = """
  .body { stroke: #8a94a3; stroke-linecap: round; fill: none }
  .edge { stroke: #ffffff; stroke-linecap: round; fill: none }
  .skin { fill: #8a94a3; stroke: #ffffff; stroke-width: 1.5 }
  .leader { stroke: #8a94a3; stroke-width: 1 }
  .bone { stroke: #4b5563; stroke-width: 2; fill: none }
  .joint { fill: #ffffff; stroke: #4b5563; stroke-width: 2 }
  .x { stroke: #d9480f; fill: #d9480f } .y { stroke: #2b8a3e; fill: #2b8a3e } .z { stroke: #1c7ed6; fill: #1c7ed6 }
  .axis { stroke-width: 3; stroke-linecap: round }
  .floor { fill: none; stroke: #8a94a3; stroke-dasharray: 3 5 }
  text { font: 14px sans-serif; fill: #1f2933; stroke: none }
  @media (prefers-color-scheme: dark) {
    .body { stroke: #5b6675 } .edge { stroke: #161b22 } .skin { fill: #5b6675; stroke: #161b22 }
    .bone, .joint { stroke: #d5dae1 } .joint { fill: #1f2933 }
    .x { stroke: #ff922b; fill: #ff922b } .y { stroke: #69db7c; fill: #69db7c } .z { stroke: #74c0fc; fill: #74c0fc }
    text { fill: #e4e7eb }
  }
"""


def add(a, b, scale=1.0):
    return tuple(x + scale * y for x, y in zip(a, b, strict=True))


def project(p):
    """World point (x forward, y left, z up) to the page."""
    right = -p[0] * math.sin(AZIMUTH) + p[1] * math.cos(AZIMUTH)
    near = p[0] * math.cos(AZIMUTH) + p[1] * math.sin(AZIMUTH)
    up = p[2] * math.cos(ELEVATION) - near * math.sin(ELEVATION)
    return WIDTH / 2 + SCALE * right, FLOOR - SCALE * up


def joints():
    """name: (position in the world, axes), the right side mirrored."""
    found = {"base": ((0, 0, PELVIS_HEIGHT), "")}
    for name, parent, at, axes in TRUNK:
        found[name] = (add(found[parent][0], at), axes)
    for side, sign in (("L", 1), ("R", -1)):
        for name, parent, at, axes in LIMBS:
            above = found.get(parent + side) or found[parent]
            found[name + side] = (add(above[0], (at[0], sign * at[1], at[2])), axes)
    return found


def line(a, b, kind, width=None):
    (x1, y1), (x2, y2) = project(a), project(b)
    stroke = f' stroke-width="{width}"' if width else ""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{stroke}/>'


def polygon(points, kind):
    page = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(project, points))
    return f'<polygon class="{kind}" points="{page}"/>'


def circle(at, radius, kind):
    x, y = project(at)
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def label(at, text, column, dy):
    """Text in a column beside the figure, with a line from the joint."""
    (x, y), left = project(at), column < WIDTH / 2
    end, anchor = (column + 6, "end") if left else (column - 6, "start")
    return [f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}" x2="{end}" y2="{y + dy:.1f}"/>',
            f'<text x="{column}" y="{y + dy + 5:.1f}" text-anchor="{anchor}">{text}</text>']


def limbs(found):
    """(from, to, thickness [px]) of every link, far ones first."""
    at = {name: position for name, (position, _) in found.items()}
    bones = [(at["base"], at["waist"], 46), (at["waist"], at["neck"], 30), (at["hipR"], at["hipL"], 40)]
    bones += [(at["waist"], add(at["waist"], (0, 0, 0.33)), 60), (at["shoulderR"], at["shoulderL"], 34)]
    for side in "RL":
        bones += [(at["hip" + side], at["knee" + side], 34), (at["knee" + side], at["ankle" + side], 27)]
        bones += [(at["shoulder" + side], at["elbow" + side], 25)]
        bones += [(at["elbow" + side], add(at["elbow" + side], GRIP), 20)]
    return sorted(bones, key=lambda bone: bone[0][1] + bone[1][1])


def foot(ankle):
    corners = [add(ankle, (x, y, -0.08)) for x, y in SOLE]
    instep = [add(ankle, (x, y, -0.03)) for x, y in SOLE]
    return [polygon(corners, "skin"), polygon(instep, "skin"), polygon([*corners[1:3], *instep[2:0:-1]], "skin"),
            polygon([*corners[2:4], *instep[3:1:-1]], "skin")]


def drawing():
    found = joints()
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           "<title>human28: 13 links, 28 hinges, a free base</title>", f"<style>{STYLE}</style>"]
    ground = [(-0.35, -0.45, 0), (0.45, -0.45, 0), (0.45, 0.45, 0), (-0.35, 0.45, 0)]
    out.append(polygon(ground, "floor"))
    for side in "RL":
        out += foot(found["ankle" + side][0])
    for a, b, thickness in limbs(found):
        out += [line(a, b, "edge", thickness + 3), line(a, b, "body", thickness)]
    neck = found["neck"][0]
    out.append(circle(add(neck, (0, 0, CROWN - 0.105)), f"{0.105 * SCALE:.1f}", "skin"))
    out += [line(a, b, "bone") for a, b, _ in limbs(found)]

    for name, dy in (("neck", -14), ("shoulderL", 0), ("elbowL", 0), ("waist", 8), ("hipL", 12), ("kneeL", 0),
                     ("ankleL", -6)):
        position, axes = found[name]
        out += label(position, f"{name.removesuffix('L')} {' '.join(axes)}", 450, dy)
    out += label(found["base"][0], "free base, 6", 190, 0)
    for position, axes in found.values():
        for axis in axes:
            out.append(line(position, add(position, UNIT[axis], AXIS_LENGTH), f"axis {axis}"))
            out.append(circle(add(position, UNIT[axis], AXIS_LENGTH), 3.5, axis))
        out.append(circle(position, 5, "joint"))

    for row, (axis, what) in enumerate((("x", "forward"), ("y", "left"), ("z", "up"))):
        y = 40 + 22 * row
        out.append(f'<line class="axis {axis}" x1="30" y1="{y}" x2="58" y2="{y}"/>')
        out.append(f'<text x="68" y="{y + 5}">hinge about {axis} ({what})</text>')
    caption = "human28: 13 links with mass, 28 hinges and a free base, 69 kg, 1.70 m"
    out.append(f'<text x="30" y="{HEIGHT - 16}">{caption}</text>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__, end="")
        sys.exit(0 if sys.argv[1] in ("-h", "--help") else 2)
    sys.stdout.write(drawing())
