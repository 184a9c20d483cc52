"""Programs shown in the documentation are files that are compiled and run, and print what is shown below them.

A block ```cpp whose first line is a comment naming a file holds that file, word for word. A block ```text that follows it
holds what the program prints. Programs are looked for in $KANSETSU_EXAMPLES_DIR, or else in build/examples/cpp.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("KANSETSU_EXAMPLES_DIR") or ROOT / "build/examples/cpp")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"// (\S+\.(?:cc|h))\n")


@dataclass
class Snippet:
    page: Path
    file: Path
    text: str
    output: str | None  # of the ```text block that follows

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.file.relative_to(ROOT)}"


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def snippets_of(page: Path) -> list[Snippet]:
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    found = []
    for i, (language, text) in enumerate(blocks):
        named = NAMED.match(text) if language == "cpp" else None
        if not named:
            continue
        follows = blocks[i + 1] if i + 1 < len(blocks) else ("", "")
        output = follows[1] if follows[0] == "text" else None
        found.append(Snippet(page, ROOT / named[1], text[named.end():], output))
    return found


SNIPPETS = [snippet for page in pages() for snippet in snippets_of(page)]
each_snippet = pytest.mark.parametrize("snippet", SNIPPETS, ids=str)


def test_the_readme_shows_the_quickstart_and_its_output():
    shown = [s for s in SNIPPETS if s.page == ROOT / "README.md" and s.file.name == "quickstart.cc"]
    assert len(shown) == 1 and shown[0].output


@each_snippet
def test_snippet_equals_its_file(snippet: Snippet):
    assert snippet.text == snippet.file.read_text(encoding="utf-8")


@each_snippet
def test_output_is_what_the_program_prints(snippet: Snippet):
    program = PROGRAMS / snippet.file.stem
    if snippet.output is None:
        pytest.skip("no output is shown")
    if not program.is_file():
        pytest.skip(f"{program} is not built")
    run = subprocess.run([program], capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert run.stdout == snippet.output
