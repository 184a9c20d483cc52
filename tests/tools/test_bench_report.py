"""Tests of bench/report.py: what bench_driver writes goes in, rows, tables and pictures come out."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import report  # noqa: E402
import report_targets  # noqa: E402

KEYS = ["model", "algo", "mode", "lib", "compiler", "ns_median", "ns_p99", "ratio_to_best_peer", "error", "instructions"]


def measured(lib, compiler, ns, *, model="human28", algo="aba", mode="single", variant="", error=1e-14):
    return {"model": model, "algo": algo, "mode": mode, "variant": variant, "lib": lib, "compiler": compiler, "ns_median": ns,
            "ns_p99": 1.5 * ns, "error": error}


def raw_run(rows, instruction_set="avx512"):
    library = {"version": "1.0", "compiler": "gcc 12", "flags": "-O3", "instruction_set": instruction_set}
    names = dict.fromkeys(row["lib"] for row in rows)
    return {"cpu": "A CPU", "processors": 2, "core": 0, "governor": "unknown", "load_at_start": "0.10 0.2 0.3", "load_at_end": "1.0 0.2 0.3",
            "states": 1024, "checked": 50, "repetitions": 9, "clock_overhead_ns": 10,
            "libraries": [{"lib": name, **library} for name in names],
            "models": [{"name": m, "nv": 34, "bodies": 29} for m in dict.fromkeys(r["model"] for r in rows)], "missing_models": [],
            "left_out": [{"model": "chain1024", "algo": "minverse", "mode": "single", "lib": "kansetsu", "compiler": "gcc",
                          "reason": "a call takes 31 ms, more than 20 ms"}],
            "rows": rows}


def all_rows():
    return [measured("kansetsu", "gcc", 1000), measured("kansetsu", "gcc", 250, mode="batch fp64"),
            measured("kansetsu", "gcc", 100, mode="batch fp32", error=1e-5), measured("kansetsu", "clang", 1100),
            measured("pinocchio", "clang", 5500, variant="local"), measured("pinocchio", "clang", 5000, variant="world"),
            measured("pinocchio", "gcc", 9000), measured("mujoco", "wheel", 4000)]


def run(tmp_path, raw, *options):
    (tmp_path / "raw.json").write_text(json.dumps(raw), encoding="utf-8")
    status = report.main([str(tmp_path / "raw.json"), "--json", str(tmp_path / "out.json"), "--date", "2026-01-01 00:00 UTC", *options])
    return status, json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))


def test_rows_have_exactly_the_documented_keys_and_ratios_above_one_where_faster(tmp_path, capsys):
    status, out = run(tmp_path, raw_run(all_rows()))
    assert status == 0
    assert all(list(row) == KEYS for row in out["rows"])
    ratios = {(r["lib"], r["compiler"], r["mode"]): r["ratio_to_best_peer"] for r in out["rows"]}
    assert ratios == {("kansetsu", "gcc", "single"): 4, ("kansetsu", "gcc", "batch fp64"): 16, ("kansetsu", "gcc", "batch fp32"): 40,
                      ("kansetsu", "clang", "single"): pytest.approx(4000 / 1100), ("pinocchio", "clang", "single"): 0.8,
                      ("pinocchio", "gcc", "single"): pytest.approx(4 / 9), ("mujoco", "wheel", "single"): 1}
    printed = capsys.readouterr().out
    line = next(text for text in printed.splitlines() if "batch fp64" in text)
    assert line.split() == ["human28", "aba", "batch", "fp64", "250", "5000", "9000", "4000", "375", "16.0", "1e-14"]


def test_a_library_of_several_ways_counts_with_its_fastest_and_ours_are_told_apart():
    rows = report.make_rows(raw_run([measured("kansetsu", "gcc", 900, algo="crba", variant="dense"),
                                     measured("kansetsu", "gcc", 800, algo="crba", variant="sparse"), *all_rows()]))
    assert [r["mode"] for r in rows if r["algo"] == "crba"] == ["single", "single sparse"]
    assert [r["ns_median"] for r in rows if r["lib"] == "pinocchio" and r["compiler"] == "clang"] == [5000]


@pytest.mark.parametrize("peer", [("pinocchio", "gcc"), ("pinocchio", "clang"), ("mujoco", "wheel")])
def test_a_missing_peer_leaves_the_ratios_empty_and_fails(tmp_path, capsys, peer):
    status, out = run(tmp_path, raw_run([r for r in all_rows() if (r["lib"], r["compiler"]) != peer]), "--docs", str(tmp_path / "docs"))
    assert status == 1
    assert {row["ratio_to_best_peer"] for row in out["rows"]} == {None}
    assert " ".join(peer) + " is missing" in capsys.readouterr().err
    assert "not measured" in (tmp_path / "docs/benchmarks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("change", "status"), [
    ({"error": 1e-9}, 1), ({"error": 1e-9, "model": "chain128"}, 0), ({"error": 1e-5, "mode": "batch fp32"}, 0),
    ({"error": 1e-5, "mode": "batch fp64"}, 1),
    ({"error": 2e-3, "mode": "batch fp32", "model": "chain128"}, 1),
    ({"error": 2e-3, "mode": "batch fp32", "model": "chain128", "algo": "aba_derivatives"}, 0), ({"error": 1e300}, 1), ({"error": None}, 0)])
def test_results_that_disagree_fail(tmp_path, capsys, change, status):
    odd = measured("kansetsu", "gcc", 1000, algo="rnea") | change
    assert run(tmp_path, raw_run([*all_rows(), odd]))[0] == status
    assert ("differs by" in capsys.readouterr().err) == (status == 1)


def test_targets_are_judged_and_smaller_without_avx512():
    def judged(instruction_set):
        raw = raw_run(all_rows(), instruction_set)
        data = raw | {"rows": report.make_rows(raw), "gpu": [], "threads": []}
        return {row[0]: row for row in report.target_table(data)}

    table = judged("avx512")
    assert table["aba, single"][-2:] == ["4.00 ×", "yes"]
    assert table["aba, batch fp64"][-2:] == ["16.0 ×", "yes"]
    assert table["rnea, single"][-1] == "not measured"
    assert judged("avx2")["aba, batch fp64"][2].startswith("≥ 12.75 ×")


def test_a_second_run_without_avx512_is_judged_by_the_smaller_targets(tmp_path):
    (tmp_path / "avx2.json").write_text(json.dumps(raw_run(all_rows(), "avx2")), encoding="utf-8")
    run(tmp_path, raw_run(all_rows()), "--avx2", str(tmp_path / "avx2.json"), "--docs", str(tmp_path))
    assert "| aba, batch fp64 on AVX2 | human28 | ≥ 12.75 × | 16.0 × | yes |" in (tmp_path / "benchmarks.md").read_text(encoding="utf-8")


def test_threads_get_an_efficiency():
    rows = [*all_rows(), measured("kansetsu", "gcc", 800, mode="threads 1 fp64"), measured("kansetsu", "gcc", 125, mode="threads 8 fp64")]
    raw = raw_run(rows)
    data = raw | {"rows": report.make_rows(raw), "gpu": [], "threads": []}
    assert [(n, round(e, 3)) for *_, n, _, e in report_targets.efficiencies(data["rows"])] == [(1, 1.0), (8, 0.8)]
    assert "| human28 | aba | fp64 | 8 | 125 | 0.80 |" in report.thread_table(data)
    assert next(report_targets.thread_targets(data))[-1] == "**no**"


def test_threads_of_a_machine_with_more_cores_are_read_from_a_file(tmp_path):
    rows = [measured("kansetsu", "gcc", 800, mode="threads 1 fp64"), measured("kansetsu", "gcc", 110, mode="threads 8 fp64")]
    file = tmp_path / "many.json"
    file.write_text(json.dumps(raw_run(rows) | {"processors": 16, "date": "today", "command": "bench_driver --threads 1,8"}), encoding="utf-8")
    assert run(tmp_path, raw_run(all_rows()), "--threads", str(file), "--docs", str(tmp_path / "docs"))[0] == 0
    text = (tmp_path / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert "16 processors, today: `bench_driver --threads 1,8`" in text and "| 0.91·n | yes |" in " ".join(text.split())


def test_docs_pictures_readme_and_gpu_rows(tmp_path):
    chains = [measured(lib, compiler, ns * n, model=f"chain{n}") for n in (8, 16)
              for lib, compiler, ns in (("kansetsu", "gcc", 50), ("pinocchio", "gcc", 90), ("pinocchio", "clang", 80), ("mujoco", "wheel", 10))]
    gpu = [{"model": "human28", "algo": "aba", "precision": "fp32", "states": states, "device": "A GPU", "date": "2026-01-01", "command": "bench_gpu",
            "states_per_s_device": 6e8, "states_per_s_host": 1e8, "error": 1e-5} for states in (8192, 1 << 20)]
    (tmp_path / "gpu.json").write_text(json.dumps({"rows": gpu}), encoding="utf-8")
    (tmp_path / "README.md").write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n", encoding="utf-8")
    status, _ = run(tmp_path, raw_run(all_rows() + chains), "--docs", str(tmp_path / "docs"), "--readme", str(tmp_path / "README.md"),
                    "--gpu", str(tmp_path / "gpu.json"), "--gpu", str(tmp_path / "none.json"), "--compile-seconds", "gcc=1.5")
    assert status == 0
    page = (tmp_path / "docs/benchmarks.md").read_text(encoding="utf-8")
    for text in ("| aba, GPU fp32, 1048576 states | human28 |", "600 M/s", "chain8, aba, single: 5.00 × the time", "| aba | single | 400 |",
                 "minverse (single): kansetsu gcc: a call takes more than 20 ms", "2026-01-01 00:00 UTC"):
        assert text in page
    for name in ("human28", "batch", "chains", "gpu"):
        picture = ElementTree.parse(tmp_path / f"docs/images/benchmarks-{name}.svg").getroot()
        width, height = float(picture.get("width")), float(picture.get("height"))
        for text in picture.iter("{http://www.w3.org/2000/svg}text"):
            room = {"start": width - float(text.get("x")), "end": float(text.get("x")), "middle": width}[text.get("text-anchor")]
            assert 6 * len(text.text) < room and float(text.get("y")) < height, text.text
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("before\n<!-- bench:begin -->\n| human28 ") and readme.endswith("<!-- bench:end -->\nafter\n")
    assert "| aba | 1 µs | 4 µs (mujoco) | 4.00 | 250 ns | 16.0 | 100 ns | 40.0 |" in readme
    assert "old" not in readme


def test_readme_without_markers_is_refused():
    with pytest.raises(SystemExit):
        report.replace_between_markers("nothing", "text")


def test_instruction_counts_come_from_callgrind(tmp_path):
    tag = {"model": "human28", "algo": "aba", "mode": "single", "variant": "world", "lib": "pinocchio", "compiler": "clang",
           "flags": "-O3 -march=x86-64-v3", "instruction_set": "native", "states": 16}
    (tmp_path / "count.1").write_text(f"version: 1\ndesc: Trigger: Client Request: {json.dumps(tag)}\nevents: Ir\ntotals: 320000\n", encoding="utf-8")
    (tmp_path / "count").write_text("version: 1\ndesc: Trigger: Program termination\nevents: Ir\ntotals: 0\n", encoding="utf-8")
    counts, flags = report.counted(tmp_path)
    rows = report.make_rows(raw_run(all_rows()), counts)
    assert {row["instructions"] for row in rows if row["lib"] == "pinocchio" and row["compiler"] == "clang"} == {20000}
    assert {row["instructions"] for row in rows if row["lib"] == "kansetsu"} == {None}
    assert flags[("pinocchio", "clang")].startswith("-O3 -march=x86-64-v3")
