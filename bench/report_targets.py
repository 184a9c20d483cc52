"""What the benchmark is to reach, and whether it does."""

import re

import plots
from report_rows import OURS, find, key, lines_of

# Ratio to the fastest peer: (algorithm, mode, at least, what is hoped for beyond it), human28.
TARGETS = [("aba", "single", 4, "goal 6, stretch 8"), ("rnea", "single", 2.5, ""), ("crba", "single", 1.7, ""), ("fk", "single", 3, ""),
           ("jacobians", "single", 2, ""), ("rnea_derivatives", "single", 2.5, ""), ("aba_derivatives", "single", 2.5, ""),
           ("aba", "batch fp64", 15, "stretch 25"), ("rnea", "batch fp64", 9, ""), ("crba", "batch fp64", 6.5, ""),
           ("fk", "batch fp64", 10, ""), ("aba", "batch fp32", 28, "stretch 50")]
FLOORS = [("panda7", 1.8), ("anymal_c", 1.8)]  # every algorithm, one state
BATCH_ON_AVX2 = 0.85  # the part of a batch target that counts without AVX-512
THREADS, EFFICIENCY = 8, 0.85
# human28: (algorithm, precision or None, states, states per second on the device, beyond)
GPU_TARGETS = [("aba", "fp32", 1 << 20, 0.5e9, "goal 0.8 G, stretch 1.5 G"), ("aba", "fp32", 8192, 0.2e9, ""),
               ("aba", "fp64", None, 0.28e9, ""), ("aba_derivatives", None, None, 20e6, "")]


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}"


def verdict(met):
    return "not measured" if met is None else "yes" if met else "**no**"


def single_and_batch_targets(data):
    """Of this run, and of the batches of a second one where AVX-512 was left unused."""
    wide = any(lib["lib"] == OURS[0] and lib["instruction_set"] == "avx512" for lib in data["libraries"])
    for algo, mode, target, beyond in TARGETS:
        share = 1 if mode == "single" or wide else BATCH_ON_AVX2
        yield ratio_target(data["rows"], algo, mode, round(share * target, 2), beyond)
    for algo, mode, target, _ in TARGETS if data.get("avx2") else []:
        if mode != "single":
            yield ratio_target(data["avx2"], algo, mode, round(BATCH_ON_AVX2 * target, 2), where=" on AVX2")


def ratio_target(rows, algo, mode, target, beyond="", where=""):
    row = find(rows, model="human28", algo=algo, mode=mode)
    ratio = row and row["ratio_to_best_peer"]
    return [f"{algo}, {mode}{where}", "human28", f"≥ {target:g} ×" + (f" ({beyond})" if beyond else ""),
            f"{ratio_text(ratio)} ×" if ratio else "", verdict(ratio >= target if ratio else None)]


def floor_targets(data):
    for model, floor in FLOORS:
        rows = [r for r, _ in lines_of(data["rows"]) if r["model"] == model and r["mode"] == "single" and r["ratio_to_best_peer"]]
        worst = min(rows, key=lambda r: r["ratio_to_best_peer"], default=None)
        below = [r for r in rows if r["ratio_to_best_peer"] < floor]
        measured = f"{ratio_text(worst['ratio_to_best_peer'])} × ({worst['algo']}); {len(below)} of {len(rows)} below" if worst else ""
        yield ["every algorithm, single", model, f"≥ {floor:g} ×", measured, verdict(not below if worst else None)]


def efficiencies(rows):
    """(model, algorithm, precision, threads, ns per state, efficiency) of every row measured on threads."""
    for row in rows:
        found = re.fullmatch(r"threads (\d+) (fp\d+)", row["mode"])
        if not found or key(row) != OURS:
            continue
        one = find(rows, model=row["model"], algo=row["algo"], mode=f"threads 1 {found[2]}")
        if one:
            n = int(found[1])
            yield row["model"], row["algo"], found[2], n, row["ns_median"], one["ns_median"] / (n * row["ns_median"])


def thread_runs(data):
    """(where, rows) of this run and of those on machines with more cores."""
    yield "this run", data["rows"]
    yield from data["threads"]


def thread_targets(data):
    rows = [e for _, run in thread_runs(data) for e in efficiencies(run) if e[:4] == ("human28", "aba", "fp64", THREADS)]
    measured = rows[0][5] if rows else None
    yield [f"aba, {THREADS} threads", "human28", f"≥ {EFFICIENCY}·n", f"{measured:.2f}·n" if rows else "",
           verdict(measured >= EFFICIENCY if rows else None)]


def gpu_targets(data):
    for algo, precision, states, target, beyond in GPU_TARGETS:
        rows = [r for r in data["gpu"] if r["model"] == "human28" and r["algo"] == algo and precision in (None, r["precision"])
                and states in (None, r["states"])]
        best = max((r["states_per_s_device"] for r in rows), default=None)
        where = f"{algo}, GPU {precision or ''}".rstrip() + (f", {states} states" if states else "")
        yield [where, "human28", f"≥ {plots.nice_count(target)}/s" + (f" ({beyond})" if beyond else ""),
               f"{plots.nice_count(best)}/s" if best else "", verdict(best >= target if best else None)]


def target_table(data):
    head = ["algorithm and mode", "model", "target", "measured", "met"]
    return [head, *single_and_batch_targets(data), *floor_targets(data), *thread_targets(data), *gpu_targets(data)]
