"""Tests of the scripts in tools/."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_isa_symbols  # noqa: E402
import check_layers  # noqa: E402
import check_tolerances  # noqa: E402
import coverage  # noqa: E402
import numpy  # noqa: E402
import test_summary  # noqa: E402
import treadmill_walk  # noqa: E402


def test_check_layers_finds_exactly_the_planted_violations():
    assert check_layers.self_test() == []


def test_arrows_have_no_cycle_and_may_be_skipped():
    for module in check_layers.USES:  # ends only if there is no cycle
        assert "base" in check_layers.reachable(module)
    assert "spatial" in check_layers.reachable("sim")
    assert "io" not in check_layers.reachable("dynamics")


def test_tolerances_of_clean_modules_have_their_reasons():
    lines = ["CHECK(a < 1e-9);", "CHECK(b < 1e-9);  // rounding", "CHECK(c < 1e-9);", "CHECK(d < 1e-8);", "// of steps", "CHECK(e < 1e-4);", "x = 1;", "CHECK(f < kSmall);"]
    assert check_tolerances.bare_lines(lines, "//") == [1, 4]
    run = subprocess.run([sys.executable, ROOT / "tools/check_tolerances.py"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_check_layers_accepts_this_repository():
    run = subprocess.run([sys.executable, ROOT / "tools/check_layers.py"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_cmake_links_modules_along_the_same_arrows():
    for module in check_layers.USES:
        declaration = ROOT / "src" / module / "CMakeLists.txt"
        if not declaration.is_file():
            continue
        words = declaration.read_text(encoding="utf-8").replace(")", " ").split()
        depends = [word for word in words if word in check_layers.USES and word != module]
        assert set(depends) <= check_layers.reachable(module), declaration


def test_the_product_is_configured_without_test_frameworks(tmp_path):
    """`script/bootstrap build` installs none: `cmake --preset release` of the README ended in an error."""

    def configure(name, *options):
        command = ["cmake", "--preset", "release", "-B", tmp_path / name, "-DKANSETSU_VIEWER=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_doctest=ON", *options]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    plain = configure("plain")
    assert plain.returncode == 0, plain.stderr
    assert "Tests are not built: doctest or RapidCheck is not installed" in plain.stdout
    assert configure("wanted", "-DKANSETSU_TESTS=ON").returncode != 0, "asked for by name, it is an error"


def test_isa_symbols_flags_shared_code_outside_the_namespace():
    nm_output = """kernels.cc.o:
0000000000000000 W void kansetsu::kernel::avx512::sweep<double>(double const*)
0000000000000000 W std::vector<int, std::allocator<int> >::push_back(int const&)
0000000000000010 T kansetsu::kernel::avx512::table()
0000000000000000 V kansetsu::detail::coefficients
0000000000000000 t local_helper
"""
    assert check_isa_symbols.foreign_functions("avx512", nm_output) == [
        "std::vector<int, std::allocator<int> >::push_back(int const&)"
    ]
    assert len(check_isa_symbols.foreign_functions("avx2", nm_output)) == 2


REPORT = """<testsuite>
  <testcase name="test_base" status="run"><system-out>[doctest] run with "--help" for options
[doctest] test cases:  12 |  12 passed | 0 failed | 3 skipped
[doctest] assertions: 100 | 100 passed | 0 failed |</system-out></testcase>
  <testcase name="test_io" status="fail"><failure/><system-out>
[doctest] test cases: 5 | 3 passed | 2 failed | 0 skipped</system-out></testcase>
  <testcase name="test_leaky" status="fail"><failure/><system-out>
[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped</system-out></testcase>
  <testcase name="test_crash" status="fail"><failure/><system-out>Segmentation fault</system-out></testcase>
  <testcase name="example" status="run"><system-out/></testcase>
  <testcase name="off" status="disabled"/>
  <testcase classname="a" name="test_python"/>
  <testcase classname="a" name="test_python_skipped"><skipped message="no data"/></testcase>
  <testcase classname="a" name="test_python_error"><error/></testcase>
</testsuite>"""


def test_summary_counts_cases_not_programs():
    assert test_summary.count_report(REPORT) == {"passed": 12 + 3 + 1 + 1 + 1, "failed": 2 + 1 + 1 + 1, "skipped": 5}


def test_summary_prints_one_line_and_fails_with_the_tests(tmp_path, capsys):
    good = tmp_path / "good.xml"
    good.write_text("<testsuites><testsuite><testcase name='a'/></testsuite></testsuites>", encoding="utf-8")
    bad = tmp_path / "bad.xml"
    bad.write_text(REPORT, encoding="utf-8")

    assert test_summary.main([good]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed, 0 skipped\n"
    assert test_summary.main([good, bad]) == 1
    assert capsys.readouterr().out == "19 passed, 5 failed, 5 skipped\n"


def test_coverage_counts_lines_of_modules_and_not_of_tests(tmp_path):
    def file(path, covered, count):
        return {"filename": str(tmp_path / path), "summary": {"lines": {"covered": covered, "count": count}}}
    files = [file("src/io/a.cc", 1, 2), file("src/io/b.h", 3, 4), file("src/io/test/a_test.cc", 5, 5), file("tests/x.cc", 7, 7), file("src/sim/c.cc", 0, 9)]
    assert dict(coverage.by_module(files, tmp_path)) == {"io": [4, 6], "sim": [0, 9]}


def test_plates_that_are_late_are_found_without_contacts_and_feet_on_the_other_belt_are_no_swings():
    times = numpy.arange(0, 6, 0.001)
    force = 400 * (numpy.sin(2 * numpy.pi * times) > -0.9)  # 0.14 s of nothing
    assert treadmill_walk.swings(times, force) == []
    force[1000:1400] = 0
    ((begin, end),) = treadmill_walk.swings(times, force)
    assert (round(begin, 3), round(end, 3)) == (1, 1.399)
    grf = numpy.zeros((len(times), 19))
    grf[:, 0] = times
    grf[:, 3] = grf[:, 12] = 300 + 50 * numpy.sin(9 * (times - 0.013))
    column = {"time": times[::10], **{f"{side}/fz [N]": 300 + 50 * numpy.sin(9 * times[::10]) for side in ("left", "right")}}
    assert abs(treadmill_walk.delay_of(column, grf) - 0.013) < 1e-9  # a whole number of its steps of 1 ms
