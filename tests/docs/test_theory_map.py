"""The theory pages say where each equation is in the code; these tests say whether it is still there.

Every table with the columns "equation | what | file | function" is read, on all pages of docs/theory, and the walks
"step | what | file | function" of ARCHITECTURE.md and CONTRIBUTING.md. Files are relative to
the repository's root; several functions are separated by commas; "–" in both columns means that the code does not need it.
Tables of docs/theory/sources.md also have a column "test": `file` "beginning of the test's name". They must be complete, and one of
the named tests must link the named file: a test that cannot run a function cannot notice that it is wrong.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402
import count_lines  # noqa: E402

THEORY = ROOT / "docs/theory"
HEADERS = [["equation", "what", "file", "function"], ["step", "what", "file", "function"]]
SOURCES_PAGE = THEORY / "sources.md"
NONE = "–"


@dataclass
class Row:
    page: Path
    equation: str
    file: str
    functions: list[str]
    test: str | None = None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.equation}"


def cells(line: str) -> list[str]:
    """Of a table row; a bar in code is written \\|."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def rows_of(page: Path) -> list[Row]:
    found, in_table = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            in_table = False
        elif cells(line)[:4] in HEADERS:
            in_table = True
        elif in_table and not set(line) <= set("|-: "):
            equation, _, file, functions, *test = cells(line)
            names = [name.strip().strip("`") for name in functions.split(",")]
            found.append(Row(page, equation, file.strip("`"), names, *test))
    return found


PAGES = [*sorted(THEORY.glob("*.md")), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
ROWS = [row for page in PAGES for row in rows_of(page)]


def contains(text: str, name: str) -> bool:
    """Whether a function, type or operator of that name is declared or defined in the text. a::b: both."""
    *scopes, last = name.split("::")
    if last.startswith("operator"):
        found = last in text
    else:
        word = re.escape(last)
        found = re.search(rf"\b(?:struct|class|enum class)\s+{word}\b|\b{word}\s*(?:<[^;\n]*>)?\(|\b{word}\s*(?:<\w+>)?\s*[{{=]", text)
    return bool(found) and all(re.search(rf"\b(?:struct|class|namespace)\s+{re.escape(s)}\b|\b{re.escape(s)}::", text)
                               for s in scopes)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_equation_is_where_the_page_says(row: Row):
    if NONE in (row.file, row.functions[0]):
        assert (row.file, row.functions) == (NONE, [NONE])
        return
    path = ROOT / row.file
    assert path.is_file(), row.file
    text = path.read_text(encoding="utf-8")
    missing = [name for name in row.functions if not contains(text, name)]
    assert not missing, f"not in {row.file}: {missing}"


def numbers(equation: str) -> set[int]:
    """{3, 5, 6, 7} of "(3), (5)–(7)"."""
    found: set[int] = set()
    for first, last in re.findall(r"\((\d+)\)(?:–\((\d+)\))?", equation):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def section(key: str) -> str:
    """Of the page of sources, from the heading of a document to the next."""
    parts = re.split(r"^## ", SOURCES_PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith(f"{key}\n"))


def first_cells(key: str) -> list[str]:
    return [cells(line)[0] for line in section(key).splitlines() if line.startswith("| ")]


def named_tests(cell: str) -> list[tuple[str, str]]:
    return re.findall(r'`([\w.]+)` "([^"]+)"', cell)


TEST_FILES: dict[str, list[Path]] = {}
for folder in ("src", "tests"):
    for path in sorted((ROOT / folder).rglob("*")):
        if path.name.endswith("_test.cc") or (path.name.startswith("test_") and path.suffix == ".py"):
            TEST_FILES.setdefault(path.name, []).append(path)


def files_of(file: str, name: str) -> list[Path]:
    """Those that are called `file` and have a test whose name begins with `name`."""
    texts = {path: path.read_text(encoding="utf-8") for path in TEST_FILES.get(file, [])}
    return [path for path, text in texts.items() if f'("{name}' in text or f"def {name}(" in text]


def is_test(file: str, name: str) -> bool:
    return bool(files_of(file, name))


def can_run(test: Path, code: str) -> bool:
    """A unit test links its own module and those that this one uses, a test of the documents nothing, all others everything."""
    folder, module = test.relative_to(ROOT).parts[:2]
    if folder == "src":
        return check_layers.owner(Path(code))[0] in check_layers.reachable(module)
    return module != "docs" and (test.suffix == ".py" or not code.startswith("apps/"))


@pytest.mark.parametrize("key, last, others", [
    ("Tazz13", 40, {"Fig. 2", "§2.4 step 1", "§2.4 step 2", "§2.4 step 3", "§2.4 step 4", "§2.5.1", "§2.5.2", "§2.5.3", "§2.8 Θ"}),
    ("Yama01", 19, {"§2.2", "§2.3", "Fig. 1"}),
    ("NY00", 36, {"(20b)", "Table 1", "Table 2", "Fig. 1", "Fig. 2", "Fig. 4"}),
], ids=["Tazz13", "Yama01", "NY00"])
def test_no_numbered_equation_is_missing(key: str, last: int, others: set[str]):
    found = first_cells(key)
    assert set().union(*map(numbers, found)) == set(range(1, last + 1))
    assert others <= set(found), others - set(found)
    joined = " ".join(found)
    if key == "NY00":
        assert all(name in joined for name in ("(9a)", "(20a)", "Table 3", "Fig. 3", "Fig. 5"))


def test_every_listing_of_the_quaternion_article_has_a_row():
    listings = {"quat2mat", "mat2quat", "quat2axis", "axis2quat", "quat_ln", "quat_exp", "ypr2mat", "mat2ypr", "dr_dq", "dq_ln_domain", "ComputeQuatJacobian",
                "UpdateQuatPose", "dmat_euler_domain", "ComputeEulerJacobian", "UpdateEulerPose", "EffectorPos", "table of RMS", "table of times", "Fig. 1"}
    text = section("Tmps")
    assert not [name for name in listings if name not in text]


def test_every_formula_of_the_slides_has_a_row():
    formulas = {"M⁶, F⁶", "m · f", "spatial velocity", "spatial force", "ᴮX_A", "ᴮX_A⁻ᵀ", "r ×", "v_J = s q̇", "v × m, v ×* f", "derivative", "acceleration", "I_O",
                "f = I a + v ×* I v", "constrained motion", "vᵢ", "aᵢ", "fᵢ − fᵢ₊₁", "τᵢ = sᵢᵀ fᵢ"}
    assert formulas <= set(first_cells("Neka")), formulas - set(first_cells("Neka"))


@pytest.mark.parametrize("row", [row for row in ROWS if row.page == SOURCES_PAGE], ids=str)
def test_each_equation_of_the_documents_names_a_test(row: Row):
    assert row.test is not None
    if row.test == NONE:
        assert row.file == NONE
        return
    named = named_tests(row.test)
    assert named, row.test
    assert not [test for test in named if not is_test(*test)]
    assert any(can_run(path, row.file) for test in named for path in files_of(*test)), f"none of these can run {row.file}"


def test_a_test_runs_what_it_links():
    unit, vectors, docs = ROOT / "src/spatial/test/euler_test.cc", ROOT / "tests/vectors/tree_test.cc", ROOT / "tests/docs/test_errata.py"
    assert can_run(unit, "include/kansetsu/spatial/euler.h") and not can_run(unit, "src/model/joint_type.cc")
    assert can_run(vectors, "src/dynamics/aba_kernel.h") and not can_run(vectors, "apps/cli/ik_experiment.cc")
    assert not can_run(docs, "src/assembly/load.cc") and can_run(ROOT / "tests/cli/test_ik_methods.py", "apps/cli/ik_experiment.cc")


def test_errata_are_complete_and_each_has_its_test():
    rows = {cells(line)[0]: cells(line)[4] for line in section("Errata").splitlines() if line.startswith("| ") and not line.startswith("| erratum")}
    expected = {f"A{i}" for i in range(1, 22)} | {f"B{i}" for i in range(1, 24)}
    assert expected <= set(rows), expected - set(rows)
    assert not {key: test for key, test in rows.items() if test != "misprint" and not named_tests(test)}
    assert not {key: test for key, cell in rows.items() for test in named_tests(cell) if not is_test(*test)}
    used = set(re.findall(r"\*\*([AB]\d+)\*\*", SOURCES_PAGE.read_text(encoding="utf-8")))
    assert used <= set(rows)


def test_each_experiment_of_the_documents_has_its_command():
    rows = [cells(line) for line in section("Their experiments").splitlines() if line.startswith("| [")]
    assert {row[0] for row in rows} == {"[Tmps]", "[Yama01]", "[NY00]"}  # the others print no figures
    subjects = set(re.findall(r"`kansetsu bench ([\w-]+)", " ".join(row[2] for row in rows)))
    assert subjects == {"ik-seed", "ik-lines", "walk-seed"}
    bench = (ROOT / "apps/cli/bench.cc").read_text(encoding="utf-8")
    assert not [subject for subject in subjects if f'options.subject == "{subject}"' not in bench]
    assert all(all(row) for row in rows)


@pytest.mark.parametrize("page", ["aba.md", "rnea.md", "gears.md", "derivatives.md", "response.md", "assembly.md"])
def test_each_page_has_a_map(page: str):
    assert any(row.page.name == page for row in ROWS)


def test_names_are_found_as_declarations_only():
    text = "/// uses solve here\nstruct Box { int size() const; };\ntemplate <class T> void fill<T>(T x);\nint Box::rest(int);"
    assert contains(text, "Box") and contains(text, "size") and contains(text, "fill") and contains(text, "Box::rest")
    assert not contains(text, "solve") and not contains(text, "Bo") and not contains(text, "Can::rest")


SOURCES = [path for folder in ("include", "src", "apps", "tests", "docs") for path in (ROOT / folder).rglob("*")
           if path.suffix in {".h", ".cc", ".md"}]
KEY = re.compile(r"\[((?:RBDA|Tmps|Neka|[A-Z][A-Za-z]{1,5}\d{2}))\]")  # [RBDA], [Tazz13], [EW21]


def test_every_source_key_is_in_the_references():
    known = set(re.findall(r"^\| \*\*\[(\w+)\]\*\*", (ROOT / "docs/references.md").read_text(encoding="utf-8"), re.MULTILINE))
    used = {key: path for path in SOURCES for key in KEY.findall(path.read_text(encoding="utf-8"))}
    assert known and set(used) <= known, {key: str(used[key]) for key in set(used) - known}


PATH = re.compile(r"`((?:src|include|apps|bench|tests|tools|docs|script|viewer)/[\w./*-]+)`")


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_and_folders_that_a_page_names_exist(page: str):
    named = set(PATH.findall((ROOT / page).read_text(encoding="utf-8")))
    assert len(named) > 10
    assert not [path for path in sorted(named) if "NNNN" not in path and not list(ROOT.glob(path.rstrip("/")))]


PLANS = [cells(line) for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
         if line.startswith("| ") and len(cells(line)) == 6 and cells(line)[-1].isdigit()]


@pytest.mark.parametrize("row", PLANS, ids=lambda row: row[0])
def test_lines_of_a_plan_are_those_of_its_files(row: list[str]):
    slack = 0.05  # a change or two is no reason to write a new number
    files = {path for name in PATH.findall(row[2] + row[3]) for path in ROOT.glob(name.rstrip("/"))}
    assert int(row[-1]) == pytest.approx(sum(map(count_lines.count, files)), rel=slack)


def test_every_plan_has_its_lines():
    assert len(PLANS) == 15
