"""Pictures of a benchmark, each a function of its data: SVG, or nothing where there is nothing to draw."""

import re

import plots
from report_rows import OURS, PEERS, find, key, lines_of
from report_targets import TARGETS, ratio_text


def is_main(column):
    return column not in (("kansetsu", "clang"), ("pinocchio", "gcc"))


def color_of(column):
    return column[0] if column[0] in plots.COLORS else "other"


def single_picture(data, model="human28"):
    groups = []
    for ours, shown in lines_of([r for r in data["rows"] if r["model"] == model]):
        if ours["ratio_to_best_peer"] is None or ours["mode"] != "single":
            continue
        bars = [(color_of(c), not is_main(c), 1 / shown[c]["ratio_to_best_peer"], plots.nice_time(shown[c]["ns_median"]), None)
                for c in data["columns"] if c in shown]
        groups.append((ours["algo"], bars))
    legend = [(color_of(c), not is_main(c), " ".join(c)) for c in data["columns"]]
    return groups and plots.grouped_bars(f"{model}, one state: time relative to the fastest peer (shorter is better)",
                                         "1× is the fastest of Pinocchio and MuJoCo. Bars that end in an arrow are longer.", groups, legend, 2.5)


def batch_picture(data, model="human28"):
    targets = {(algo, mode): target for algo, mode, target, _ in TARGETS}
    kinds = [("single", "kansetsu", "one state"), ("batch fp64", "fp64", "batch, double"), ("batch fp32", "fp32", "batch, single precision")]
    groups, most = [], 1
    for algo in dict.fromkeys(r["algo"] for r in data["rows"] if r["model"] == model):
        bars = []
        for mode, color, _ in kinds:
            row = find(data["rows"], model=model, algo=algo, mode=mode)
            if not row or row["ratio_to_best_peer"] is None:
                continue
            ratio, target = row["ratio_to_best_peer"], targets.get((algo, mode))
            most = max(most, ratio, target or 0)
            bars.append((color, False, ratio, f"{ratio_text(ratio)}×  {plots.nice_time(row['ns_median'])}", target))
        if bars:
            groups.append((algo, bars))
    legend = [(color, False, text) for _, color, text in kinds]
    return groups and plots.grouped_bars(f"{model}, one core: times as fast as the fastest peer for one state (longer is better)",
                                         "Upright marks are the targets. Times are per state.", groups, legend, most * 1.02)


def chain_picture(data):
    series = {"kansetsu": ("kansetsu", "single", [OURS]), "fp64": ("kansetsu", "batch fp64", [OURS]), "pinocchio": ("pinocchio", "single", PEERS[:2]),
              "mujoco": ("mujoco", "single", PEERS[2:])}
    panels = []
    lengths = set()
    for algo in dict.fromkeys(r["algo"] for r in data["rows"]):
        lines = {}
        for color, (_, mode, columns) in series.items():
            best = {}
            for row in data["rows"]:
                chain = re.fullmatch(r"chain(\d+)", row["model"])
                if chain and row["algo"] == algo and row["mode"] == mode and key(row) in columns:
                    best[int(chain[1])] = min(row["ns_median"], best.get(int(chain[1]), float("inf")))
            if len(best) > 1:
                lines[color] = sorted(best.items())
                lengths |= set(best)
        if lines:
            panels.append((algo, lines))
    legend = [("kansetsu", False, "kansetsu"), ("fp64", False, "kansetsu, batch fp64"), ("pinocchio", False, "pinocchio (faster compiler)"),
              ("mujoco", False, "mujoco")]
    return panels and plots.log_panels("Chains: time per state over the number of links", "One core, both axes logarithmic.", panels, legend,
                                       "Number of links", plots.nice_time, sorted(lengths))


def gpu_picture(data, model="human28"):
    panels, counts = [], set()
    for algo in dict.fromkeys(r["algo"] for r in data["gpu"] if r["model"] == model):
        lines = {}
        for r in data["gpu"]:
            if r["model"] == model and r["algo"] == algo:
                lines.setdefault((r["precision"], ""), []).append((r["states"], r["states_per_s_device"]))
                if r.get("states_per_s_host"):
                    lines.setdefault((r["precision"], "5 4"), []).append((r["states"], r["states_per_s_host"]))
                counts.add(r["states"])
        panels.append((algo, {k: sorted(v) for k, v in lines.items()}))
    legend = [("fp32", False, "fp32"), ("fp64", False, "fp64")]
    return panels and plots.log_panels(f"{model} on {data['gpu'][0]['device']}: states per second (higher is better)",
                                       "Full lines: on the device; dashed: host to host.", panels, legend, "States per call",
                                       plots.nice_count, sorted(counts))


PICTURES = {"human28": single_picture, "batch": batch_picture, "chains": chain_picture, "gpu": gpu_picture}
