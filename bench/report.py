#!/usr/bin/env python3
"""Makes rows, tables and pictures of what bench_driver measured.

usage: bench/report.py RAW [--json FILE] [--docs FOLDER] [--readme FILE] [--instructions FOLDER] [--gpu FILE]...
                       [--commit ID] [--command TEXT] [--date DATE] [--compile-seconds NAME=SECONDS]...

  RAW             JSON of bench_driver
  --json          write rows {model, algo, mode, lib, compiler, ns_median, ns_p99, ratio_to_best_peer, error, instructions}
                  there, with everything known about the run
  --docs          write benchmarks.md and images/benchmarks-*.svg there
  --readme        write a summary there, between the lines <!-- bench:begin --> and <!-- bench:end -->
  --instructions  folder of counts that callgrind wrote while bench_driver --instructions ran
  --gpu           rows measured on a GPU; a file that is not there is left out

ratio_to_best_peer is the time of the fastest peer for one state divided by the row's time per state: above 1, the row is
faster. Peers are Pinocchio (gcc, clang) and MuJoCo. Exits with 1 if one of them is missing (all ratios are empty then) or
if results disagree.
"""

import argparse
import datetime
import json
import re
import sys
from pathlib import Path

import plots

OURS = ("kansetsu", "gcc")  # the product build
PEERS = [("pinocchio", "clang"), ("pinocchio", "gcc"), ("mujoco", "wheel")]
COLUMNS = [OURS, ("kansetsu", "clang"), *PEERS]
ROW = ["model", "algo", "mode", "lib", "compiler", "ns_median", "ns_p99", "ratio_to_best_peer", "error", "instructions"]

# Factors that are no bigger news than noise.
EVEN = 1.05

# ---- targets -----------------------------------------------------------------------------------------------------------

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

# ---- how far results may differ ------------------------------------------------------------------------------------------

# Relative to the largest number of a result. On a chain of n links rounding errors grow with n, as its mass matrix is the worse
# conditioned the longer it is. The limits lie some three times above what was seen (fp32, which has 5e8 times the rounding of
# fp64: 1e-5 in aba of human28, 8e-5 in aba of chain1024, 1e-2 in aba_derivatives of chain128) and far above it in fp64.
LIMIT = {"fp64": 1e-10, "fp32": 1e-4}


def limit(row):
    precision = "fp32" if "fp32" in row["mode"] else "fp64"
    chain = re.fullmatch(r"chain(\d+)", row["model"])
    if not chain:
        return LIMIT[precision]
    n = int(chain[1])
    quadratic = precision == "fp64" or row["algo"] == "aba_derivatives"
    return LIMIT[precision] * max(1, (n / 8) ** 2 if quadratic else n / 64)


def disagreements(rows):
    return [f"{row['model']} {label(row)}: {row['lib']} {row['compiler']} differs by {row['error']:.1e}, more than {limit(row):.0e}"
            for row in rows if row["error"] is not None and not row["error"] <= limit(row)]


# ---- rows ----------------------------------------------------------------------------------------------------------------


def key(row):
    return row["lib"], row["compiler"]


def missing_peers(raw):
    present = {key(row) for row in raw["rows"]}
    return [" ".join(peer) for peer in PEERS if peer not in present]


def counted(folder):
    """Instructions per state by (model, algo, mode, variant, lib, compiler), and the flags they were counted with."""
    counts, flags = {}, {}
    for file in sorted(folder.glob("*")) if folder else []:
        text = file.read_text(encoding="utf-8", errors="replace")
        tag = re.search(r"^desc: Trigger: Client Request: (\{.*\})$", text, re.M)
        total = re.search(r"^totals: (\d+)", text, re.M)
        if not tag or not total:
            continue
        t = json.loads(tag[1])
        counts[tuple(t[k] for k in ("model", "algo", "mode", "variant", "lib", "compiler"))] = round(int(total[1]) / t["states"])
        flags[t["lib"], t["compiler"]] = f"{t['flags']}, instruction set {t['instruction_set']}"
    return counts, flags


def make_rows(raw, counts=None):
    """One row per model, algorithm, mode and library. Where a peer has several ways, its fastest; our first way is "single",
    the others are "single <way>"."""
    chosen = {}
    for measured in raw["rows"]:
        row = dict(measured)
        identity = tuple(row[k] for k in ("model", "algo", "mode", "variant", "lib", "compiler"))
        row["instructions"] = (counts or {}).get(identity)
        ours = row["lib"] == OURS[0]
        same = (row["model"], row["algo"], row["mode"], *key(row))
        if ours and row["mode"] == "single" and same in chosen:
            row["mode"] = f"single {row['variant']}"
            same = (row["model"], row["algo"], row["mode"], *key(row))
        if same not in chosen or row["ns_median"] < chosen[same]["ns_median"]:
            chosen[same] = row
    rows = list(chosen.values())
    best = {} if missing_peers(raw) else best_peers(rows)
    for row in rows:
        peer = best.get((row["model"], row["algo"]))
        row["ratio_to_best_peer"] = peer["ns_median"] / row["ns_median"] if peer else None
    return [{k: row[k] for k in ROW} for row in rows]


def best_peers(rows):
    best = {}
    for row in rows:
        at = row["model"], row["algo"]
        if key(row) in PEERS and row["mode"] == "single" and (at not in best or row["ns_median"] < best[at]["ns_median"]):
            best[at] = row
    return best


def find(rows, **wanted):
    """The first row with these values; ours by gcc unless a library is named."""
    if "lib" not in wanted:
        return find(rows, lib=OURS[0], compiler=OURS[1], **wanted) or find(rows, lib=OURS[0], compiler="clang", **wanted)
    return next((row for row in rows if all(row[k] == v for k, v in wanted.items())), None)


def lines_of(rows):
    """One line per model, algorithm and mode of ours: (our row, {column: row})."""
    groups = {}
    for row in rows:
        groups.setdefault((row["model"], row["algo"]), []).append(row)
    for members in groups.values():
        for mode in dict.fromkeys(r["mode"] for r in members if r["lib"] == OURS[0]):
            shown = {key(r): r for r in members if r["mode"] == (mode if r["lib"] == OURS[0] else "single")}
            yield shown.get(OURS) or shown[("kansetsu", "clang")], shown


# ---- text ----------------------------------------------------------------------------------------------------------------


def label(row):
    return f"{row['algo']}, {row['mode']}"


def number(value):
    return f"{value:.0f}" if value < 9999.5 else f"{value / 1e3:.1f} k" if value < 9999.5e3 else f"{value / 1e6:.1f} M"


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}"


def table(rows, columns):
    """Cells as text, header first."""
    head = ["model", "algorithm", "mode"] + [f"{lib} {compiler}" for lib, compiler in columns] + ["p99", "ratio", "error", "instructions"]
    out = [head]
    for ours, shown in lines_of(rows):
        cells = [ours["model"], ours["algo"], ours["mode"]]
        cells += [number(shown[c]["ns_median"]) if c in shown else "" for c in columns]
        cells += [number(ours["ns_p99"]), ratio_text(ours["ratio_to_best_peer"]), "" if ours["error"] is None else f"{ours['error']:.0e}",
                  "" if ours["instructions"] is None else number(ours["instructions"])]
        out.append(cells)
    return out


def plain(cells):
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join("  ".join(c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip() for row in cells)


def markdown(cells, left=3):
    """Ratios below 1 bold. Columns from `left` on are numbers."""
    out = ["| " + " | ".join(cells[0]) + " |", "|" + "|".join("---" if i < left else "--:" for i in range(len(cells[0]))) + "|"]
    for row in cells[1:]:
        shown = [f"**{c}**" if name == "ratio" and c and float(c) < 1 else c for name, c in zip(cells[0], row)]
        out.append("| " + " | ".join(shown) + " |")
    return "\n".join(out)


def losses(rows):
    return [f"{ours['model']}, {label(ours)}: {1 / ours['ratio_to_best_peer']:.2f} × the time of the fastest peer"
            for ours, _ in lines_of(rows) if ours["ratio_to_best_peer"] is not None and ours["ratio_to_best_peer"] < 1 / EVEN]


def verdict(met):
    return "not measured" if met is None else "yes" if met else "**no**"


def single_and_batch_targets(data):
    wide = any(lib["lib"] == OURS[0] and lib["instruction_set"] == "avx512" for lib in data["libraries"])
    for algo, mode, target, beyond in TARGETS:
        if mode != "single" and not wide:
            target = round(BATCH_ON_AVX2 * target, 2)
        row = find(data["rows"], model="human28", algo=algo, mode=mode)
        ratio = row and row["ratio_to_best_peer"]
        yield [f"{algo}, {mode}", "human28", f"≥ {target:g} ×" + (f" ({beyond})" if beyond else ""),
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


def thread_table(data):
    tables = []
    for where, run in thread_runs(data):
        cells = [[m, a, p, str(n), number(ns), f"{e:.2f}"] for m, a, p, n, ns, e in efficiencies(run)]
        if cells:
            head = ["model", "algorithm", "precision", "threads", "ns per state", "efficiency"]
            tables.append(f"{where}:\n\n" + markdown([head, *cells]) + "\n\n")
    if not tables:
        return ""
    return ("## Threads\n\nBatches on several threads. *efficiency* is the time on one thread divided by n times the time on n threads; 1 is "
            "perfect.\n\n" + "".join(tables))


def gpu_table(data):
    if not data["gpu"]:
        return ""
    cells = [["model", "algorithm", "precision", "states", "states/s on the device", "states/s host to host", "error"]]
    for r in data["gpu"]:
        host = r.get("states_per_s_host")
        cells.append([r["model"], r["algo"], r["precision"], str(r["states"]), plots.nice_count(r["states_per_s_device"]),
                      plots.nice_count(host) if host else "", "" if r.get("error") is None else f"{r['error']:.0e}"])
    runs = dict.fromkeys(f"- {r['device']}, {r['date']}: `{r['command']}`" for r in data["gpu"])
    return ("## GPU\n\nFunctions of many states on a GPU, buffers on the device, or copied there and back (host to host). *error* is against "
            "the CPU on the same inputs.\n\n" + "\n".join(runs) + "\n\n![States per second on the GPU](images/benchmarks-gpu.svg)\n\n"
            + markdown(cells) + "\n\n")


def instruction_table(data):
    columns = [c for c in data["columns"] if any(r["instructions"] for r in data["rows"] if key(r) == c)]
    cells = [["model", "algorithm", "mode"] + [" ".join(c) for c in columns]]
    for ours, shown in lines_of(data["rows"]):
        if any(shown[c]["instructions"] for c in columns if c in shown):
            counts = [shown[c]["instructions"] if c in shown else None for c in columns]
            cells.append([ours["model"], ours["algo"], ours["mode"]] + [number(n) if n else "" for n in counts])
    if len(cells) == 1:
        return ""
    flags = "\n".join(f"- {' '.join(k)}: {v}" for k, v in data["counted_flags"].items())
    return ("## Instructions\n\nInstructions per state, counted by Valgrind's callgrind over a few states. Valgrind knows no AVX-512, so these "
            "are counts of other code than the times above: Kansetsu's AVX2 kernels, and Pinocchio compiled with `-march=x86-64-v3`.\n\n"
            + flags + "\n\n" + markdown(cells) + "\n\n")


def describe_run(data):
    out = [f"CPU: {data['cpu']}, {data['processors']} processors, one thread pinned to core {data['core']}, governor {data['governor']}",
           f"load average at start {data['load_at_start']}, at end {data['load_at_end']}",
           f"date: {data['date']}; commit: {data['commit']}; command: `{data['command']}`"]
    for lib in data["libraries"]:
        out.append(f"{lib['lib']} {lib['version']}: {lib['compiler']}, {lib['flags']}, instruction set {lib['instruction_set']}")
    for name, seconds in data["compile_seconds"].items():
        out.append(f"compile time of a file that calls RNEA, CRBA and ABA through the public headers, {name} -O2: {seconds} s")
    return out


def describe_gaps(data):
    """What was not measured and why, equal reasons together."""
    out = []
    if data["missing_models"]:
        out.append(f"models left out, their files were not there: {', '.join(data['missing_models'])}")
    groups = {}
    for gap in data["left_out"]:
        what = gap["model"] + (f" {gap['algo']} ({gap['mode']})" if "algo" in gap else "")
        reason = re.sub(r"takes [\d.]+ ms, more", "takes more", " ".join(gap["reason"].split()))
        groups.setdefault((reason, what), []).append(f"{gap['lib']} {gap['compiler']}")
    for (reason, what), libraries in groups.items():
        out.append(f"{what}: {', '.join(dict.fromkeys(libraries))}: {reason}")
    return out


DOCS = """# Speed, beside other libraries

Made by `{command}`; do not edit. Times are nanoseconds per state, lower is better. **ratio** is the time of the fastest peer for one
state divided by Kansetsu's (gcc, the product build) per state: above 1 Kansetsu is faster, and **bold** marks where it is not. The fastest
peer is the fastest of Pinocchio compiled by gcc, Pinocchio compiled by clang, and MuJoCo, in any of their ways. Batch rows are compared with
the same single-state peer: neither peer computes several states in one register, and Pinocchio's batches are the same code on threads.

## Targets

{targets}

![Time relative to the fastest peer, human28](images/benchmarks-human28.svg)

![How many times faster than the fastest peer, human28, one core](images/benchmarks-batch.svg)

![Time over the number of links of a chain](images/benchmarks-chains.svg)

## Where Kansetsu is slower

{losses}

## This run

{machine}

Not measured:

{gaps}

## How it is measured

All libraries run in one process, each in its own plug-in, on the same models and the same {states} random states (joints anywhere,
everything moving, random torques), which are cycled through. For each model and algorithm they take turns, {repetitions} times; each number is
the median over the turns of the median over all calls of a turn, *p99* (Kansetsu's) the median of the 99th percentiles. Calls under 1 µs are
timed in small groups; what takes more than 20 ms per call is left out, and what is so slow that half a second per repetition is not
enough goes through fewer states (`states` in the rows). A batch call takes all {states} states, fewer (but at least
64) where it would take more than 2 ms or its results more than 64 MB.

Before anything is timed, results are compared: *error* is the largest difference to Pinocchio's result (over up to {checked} states), relative to
the largest number in the result. More than {limit64:.0e} in double or {limit32:.0e} in single precision fails the run. For a chain of n links the
limits grow by (n/8)², in single precision by n/64 except for aba_derivatives, as the mass matrix of a long chain is ill conditioned: chain1024 may
differ by {chain64:.0e} and {chain32:.0e}, the single-precision aba_derivatives of chain128 by {derivatives32:.0e}.

Every joint with its own coordinate has a rotor inertia of 0.01 kg·m² in all libraries. Links joined by fixed joints are merged for all. *panda_gripper* is
the Panda with its fingers, the second of which mimics the first; *robotiq85* is the Robotiq 2F-85 with one coordinate and five mimic joints
(its file has no masses: 50 g per link). Pinocchio supports mimic joints in kinematics, `rnea` and `crba`; its forward dynamics of these models
is `crba`, `rnea` and a Cholesky factorisation. MuJoCo has soft constraints for them and is left out there.

Kansetsu is called through its public functions. Pinocchio is compiled from its headers with `-O3 -march=native` by both compilers and the faster
of its conventions (local, world) counts. MuJoCo is the library of its wheel, through the functions its pipeline consists of
(`mj_kinematics`, `mj_comPos`, `mj_comVel`, `mj_rne`, `mj_makeM`, `mj_factorM`, `mj_solveM`), and has no analytic derivatives. KDL and DART, where they
are shown, are Debian's packages as they come; they do not count as peers for the ratio.

| algorithm | Kansetsu | Pinocchio | MuJoCo |
|---|---|---|---|
| fk | `fk` | `forwardKinematics` | `mj_kinematics` |
| jacobians | `joint_axes` | `computeJointJacobians` | `mj_comPos` after `mj_kinematics` |
| rnea | `rnea` | `rnea` | `mj_rne` with accelerations, after kinematics |
| crba | `crba`, both triangles; *sparse*: lower triangle, compressed rows | `crba`, upper triangle | `mj_makeM`, sparse |
| aba | `aba` | `aba` | `mj_makeM`, `mj_factorM`, `mj_rne`, `mj_solveM` |
| minverse | `mass_matrix_inverse`, both triangles | `computeMinverse`, upper triangle | `mj_solveM` on the identity |
| rnea_derivatives | `rnea_derivatives`: ∂q, ∂v and M | `computeRNEADerivatives`: the same | |
| aba_derivatives | `aba_derivatives`: v̇, ∂q, ∂v and M⁻¹ | `computeABADerivatives`: the same | |

*batch fp64* and *batch fp32* are the functions of the same names of `kansetsu::batch::Batch<double>` and `Batch<float>`, on one thread.

## All numbers

{tables}

{threads}{gpu}{instructions}"""


def bullets(lines, otherwise):
    return "\n".join(f"- {line}" for line in lines) or otherwise


def docs_text(data):
    models = list(dict.fromkeys(r["model"] for r in data["rows"]))
    nv = {m["name"]: m["nv"] for m in data["models"]}
    tables = []
    for model in models:
        cells = [row[1:] for row in table([r for r in data["rows"] if r["model"] == model], data["columns"])]
        used = [i for i in range(len(cells[0])) if any(row[i] for row in cells[1:])]
        tables.append(f"### {model}, nv {nv[model]}\n\n" + markdown([[row[i] for i in used] for row in cells], 2))
    return DOCS.format(
        command=data["command"], targets=markdown(target_table(data), 2), losses=bullets(losses(data["rows"]), "Nowhere by more than 5 %."),
        machine=bullets(describe_run(data), ""), gaps=bullets(describe_gaps(data), "Nothing."), states=data["states"],
        repetitions=data["repetitions"], checked=data["checked"], limit64=LIMIT["fp64"], limit32=LIMIT["fp32"],
        chain64=limit({"mode": "single", "model": "chain1024", "algo": "aba"}),
        chain32=limit({"mode": "batch fp32", "model": "chain1024", "algo": "aba"}),
        derivatives32=limit({"mode": "batch fp32", "model": "chain128", "algo": "aba_derivatives"}), tables="\n\n".join(tables), threads=thread_table(data), gpu=gpu_table(data),
        instructions=instruction_table(data)).rstrip() + "\n"


def readme_text(data):
    """A small table of human28 and the way to the rest."""
    cells = [["human28", "one state", "fastest peer", "ratio", "batch fp64", "ratio", "batch fp32", "ratio"]]
    best = best_peers(data["rows"])
    for row, _ in lines_of(data["rows"]):
        if row["model"] != "human28" or row["mode"] != "single":
            continue
        peer = best.get(("human28", row["algo"]))
        line = [row["algo"], plots.nice_time(row["ns_median"]), f"{plots.nice_time(peer['ns_median'])} ({peer['lib']})" if peer else "",
                ratio_text(row["ratio_to_best_peer"])]
        for mode in ("batch fp64", "batch fp32"):
            batch = find(data["rows"], model="human28", algo=row["algo"], mode=mode)
            line += [plots.nice_time(batch["ns_median"]), ratio_text(batch["ratio_to_best_peer"])] if batch else ["", ""]
        cells.append(line)
    judged = [row[-1] for row in target_table(data)]
    slower = len(losses(data["rows"]))
    count = sum(1 for row, _ in lines_of(data["rows"]) if row["ratio_to_best_peer"] is not None)
    return (f"{markdown(cells, 1)}\n\nTime per state on one core ({data['cpu']}, {data['date'][:10]}, load {data['load_at_start'].split()[0]}); *ratio* is the "
            f"fastest peer's time for one state divided by ours, so above 1 we are faster. {judged.count('yes')} of the "
            f"{len(judged) - 1 - judged.count('not measured')} targets measured are met, and {slower} of {count} rows are slower than the fastest peer.")


def replace_between_markers(text, content):
    begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
    if begin not in text or end not in text:
        raise SystemExit(f"bench: no lines {begin} and {end} to write between")
    before, rest = text.split(begin, 1)
    return before + begin + "\n" + content.strip() + "\n" + end + rest.split(end, 1)[1]


# ---- pictures ------------------------------------------------------------------------------------------------------------


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


# ---- main ----------------------------------------------------------------------------------------------------------------


def load_gpu(files):
    rows = []
    for file in files:
        if file.exists():
            content = json.loads(file.read_text(encoding="utf-8"))
            rows += content["rows"] if isinstance(content, dict) else content
    return rows


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    for option in ("--json", "--docs", "--readme", "--instructions"):
        parser.add_argument(option, type=Path)
    parser.add_argument("--gpu", type=Path, action="append", default=[])
    parser.add_argument("--threads", type=Path, action="append", default=[], help="what the driver wrote on a machine with more cores")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--command", default="script/bench --docs")
    parser.add_argument("--date", default=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))
    parser.add_argument("--compile-seconds", action="append", default=[])
    return parser.parse_args(arguments)


def load_threads(file):
    raw = json.loads(file.read_text(encoding="utf-8"))
    return f"{raw['cpu']}, {raw['processors']} processors, {raw['date']}: `{raw['command']}`", make_rows(raw, {})


def gather(args):
    raw = json.loads(args.raw.read_text(encoding="utf-8"))
    counts, flags = counted(args.instructions)
    data = {"date": args.date, "commit": args.commit, "command": args.command,
            "compile_seconds": {name: float(s) for name, s in (item.split("=") for item in args.compile_seconds)},
            **{k: v for k, v in raw.items() if k != "rows"}, "rows": make_rows(raw, counts)}
    present = list(dict.fromkeys(key(row) for row in data["rows"]))
    extra = {"gpu": load_gpu(args.gpu), "threads": [load_threads(file) for file in args.threads], "counted_flags": flags, "missing_peers": missing_peers(raw),
             "columns": [c for c in COLUMNS if c in present] + [c for c in present if c not in COLUMNS]}
    return data, data | extra


def write_docs(folder, data):
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        picture = draw(data)
        if picture:
            (images / f"benchmarks-{name}.svg").write_text(picture, encoding="utf-8")
    (folder / "benchmarks.md").write_text(docs_text(data), encoding="utf-8")


def main(arguments=None):
    args = parse(arguments)
    record, data = gather(args)
    if args.json:
        args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print("\n".join(describe_run(data)))
    print("\nns per state; ratio = fastest peer's time for one state / kansetsu gcc's, above 1 kansetsu is faster\n")
    print(plain(table(data["rows"], data["columns"])))
    problems = disagreements(data["rows"])
    problems += [f"{peer} is missing: the ratios are left empty, there is nothing to compare with" for peer in data["missing_peers"]]
    if args.docs:
        write_docs(args.docs, data)
    if args.readme:
        args.readme.write_text(replace_between_markers(args.readme.read_text(encoding="utf-8"), readme_text(data)), encoding="utf-8")
    for problem in problems:
        print(f"bench: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
