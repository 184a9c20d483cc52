"""Tables and lists of a benchmark, as text and as Markdown."""

import re

import plots
from report_rows import key, label, lines_of
from report_targets import efficiencies, ratio_text, thread_runs

# Factors that are no bigger news than noise.
EVEN = 1.05


def number(value):
    return f"{value:.0f}" if value < 9999.5 else f"{value / 1e3:.1f} k" if value < 9999.5e3 else f"{value / 1e6:.1f} M"


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
