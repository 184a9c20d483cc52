"""The theory pages say where each equation is in the code; these tests say whether it is still there.

Every table with the columns "equation | what | file | function" is read, on all pages of docs/theory. Files are relative to
the repository's root; several functions are separated by commas; "–" in both columns means that the code does not need it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THEORY = ROOT / "docs/theory"
HEADER = ["equation", "what", "file", "function"]
NONE = "–"


@dataclass
class Row:
    page: Path
    equation: str
    file: str
    functions: list[str]

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
        elif cells(line) == HEADER:
            in_table = True
        elif in_table and not set(line) <= set("|-: "):
            equation, _, file, functions = cells(line)
            names = [name.strip().strip("`") for name in functions.split(",")]
            found.append(Row(page, equation, file.strip("`"), names))
    return found


ROWS = [row for page in sorted(THEORY.glob("*.md")) for row in rows_of(page)]


def contains(text: str, name: str) -> bool:
    """Whether a function, type or operator of that name is declared or defined in the text. a::b: both."""
    *scopes, last = name.split("::")
    if last.startswith("operator"):
        found = last in text
    else:
        word = re.escape(last)
        found = re.search(rf"\b(?:struct|class|enum class)\s+{word}\b|\b{word}\s*(?:<[^;\n]*>)?\(|\b{word}\s*[{{=]", text)
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


def test_all_equations_of_seed_000_are_mapped():
    mapped = set().union(*(numbers(row.equation) for row in ROWS if row.page.name == "aba.md"))
    assert mapped == set(range(1, 41))


@pytest.mark.parametrize("page", ["aba.md", "rnea.md", "gears.md", "derivatives.md", "response.md", "assembly.md"])
def test_each_page_has_a_map(page: str):
    assert any(row.page.name == page for row in ROWS)


def test_names_are_found_as_declarations_only():
    text = "/// uses solve here\nstruct Box { int size() const; };\ntemplate <class T> void fill<T>(T x);\nint Box::rest(int);"
    assert contains(text, "Box") and contains(text, "size") and contains(text, "fill") and contains(text, "Box::rest")
    assert not contains(text, "solve") and not contains(text, "Bo") and not contains(text, "Can::rest")


SOURCES = [path for folder in ("include", "src", "apps", "tests", "docs") for path in (ROOT / folder).rglob("*")
           if path.suffix in {".h", ".cc", ".md"}]
KEY = re.compile(r"\[((?:RBDA|Tmps|Neka|S\d{3}|[A-Z][A-Za-z]{1,5}\d{2}))\]")  # [RBDA], [S000], [EW21]


def test_every_source_key_is_in_the_references():
    known = set(re.findall(r"^\| \*\*\[(\w+)\]\*\*", (ROOT / "docs/references.md").read_text(encoding="utf-8"), re.MULTILINE))
    used = {key: path for path in SOURCES for key in KEY.findall(path.read_text(encoding="utf-8"))}
    assert known and set(used) <= known, {key: str(used[key]) for key in set(used) - known}
