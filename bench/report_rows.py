"""Rows of a benchmark: {model, algo, mode, lib, compiler, ns_median, …} of what bench_driver measured, and how far results may differ."""

import json
import re

OURS = ("kansetsu", "gcc")  # the product build
PEERS = [("pinocchio", "clang"), ("pinocchio", "gcc"), ("mujoco", "wheel")]
COLUMNS = [OURS, ("kansetsu", "clang"), *PEERS]
ROW = ["model", "algo", "mode", "lib", "compiler", "ns_median", "ns_p99", "ratio_to_best_peer", "error", "instructions"]

# Relative to the largest number of a result. On a chain of n links rounding errors grow with n, as its mass matrix is the worse
# conditioned the longer it is. The limits lie some three times above what was seen (fp32, which has 5e8 times the rounding of
# fp64: 1e-5 in aba of human28, 8e-5 in aba of chain1024, 1e-2 in aba_derivatives of chain128) and far above it in fp64.
LIMIT = {"fp64": 1e-10, "fp32": 1e-4}


def label(row):
    return f"{row['algo']}, {row['mode']}"


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
