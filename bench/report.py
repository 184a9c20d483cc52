#!/usr/bin/env python3
"""Makes rows, tables and pictures of what bench_driver measured.

usage: bench/report.py RAW [--json FILE] [--docs FOLDER] [--readme FILE] [--instructions FOLDER] [--gpu FILE]...
                       [--avx2 FILE] [--commit ID] [--command TEXT] [--date DATE] [--compile-seconds NAME=SECONDS]...

  RAW             JSON of bench_driver
  --json          write rows {model, algo, mode, lib, compiler, ns_median, ns_p99, ratio_to_best_peer, error, instructions}
                  there, with everything known about the run
  --docs          write benchmarks.md and images/benchmarks-*.svg there
  --readme        write a summary there, between the lines <!-- bench:begin --> and <!-- bench:end -->
  --instructions  folder of counts that callgrind wrote while bench_driver --instructions ran
  --gpu           rows measured on a GPU; a file that is not there is left out
  --avx2          JSON of a second run without AVX-512, for the targets of batches

ratio_to_best_peer is the time of the fastest peer for one state divided by the row's time per state: above 1, the row is
faster. Peers are Pinocchio (gcc, clang) and MuJoCo. Exits with 1 if one of them is missing (all ratios are empty then) or
if results disagree.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

import plots
from report_pictures import PICTURES
from report_rows import COLUMNS, LIMIT, best_peers, counted, disagreements, find, key, limit, lines_of, make_rows, missing_peers
from report_tables import describe_gaps, describe_run, gpu_table, instruction_table, losses, markdown, plain, table, thread_table
from report_targets import ratio_text, target_table

DOCS = """# Speed, compared with other libraries

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

*batch fp64* and *batch fp32* are the functions of the same names of `kansetsu::batch::Batch<double>` and `Batch<float>`, on one thread. Targets
*on AVX2* are of a second run on the same processor, `KANSETSU_ISA=avx2`, in which the peers may still use AVX-512.

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
    parser.add_argument("--avx2", type=Path, help="what the driver wrote when Kansetsu was told to leave AVX-512 unused")
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
    avx2 = make_rows(json.loads(args.avx2.read_text(encoding="utf-8"))) if args.avx2 else []
    extra = {"avx2": avx2, "gpu": load_gpu(args.gpu), "threads": [load_threads(file) for file in args.threads], "counted_flags": flags, "missing_peers": missing_peers(raw),
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
