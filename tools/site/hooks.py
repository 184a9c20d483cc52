"""What the site has beside docs/: the README as its first page, files of the project, the public headers, and the gallery."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from equations import equations  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "build/gallery"
DOXYGEN = shutil.which("doxygen")
PROJECT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
CSS = ".md-grid { max-width: 72rem } .md-typeset pre > code { font-size: .72rem } .md-typeset table:not([class]) td { vertical-align: top }\n"
CSS += ".equation { white-space: pre; overflow-x: auto; margin: 1em 0 1em 1.6em; position: relative; line-height: 1.9; font: 1.08em/1.9 'STIX Two Math', 'Cambria Math', 'Latin Modern Math', 'Noto Serif', Georgia, serif }\n"
CSS += ".equation b { font-weight: normal; position: absolute; right: .5em } .equation span { font: .8em sans-serif; opacity: .7 } .equation sub, .equation sup { font-size: .72em }\n"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def _moved(text: str, folder: str, page: str) -> str:
    """Links of a file in `folder` of the repository, as a page of the site: to other pages where there are any, else to nothing."""

    def one(match: re.Match[str]) -> str:
        bang, label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        name, _, anchor = target.partition("#")
        path = (ROOT / folder / name).resolve()
        if not path.is_relative_to(ROOT):
            return match[0]
        inside = path.relative_to(ROOT).as_posix()
        if inside == "README.md":
            found = "index.md"
        elif inside in PROJECT:
            found = f"project/{inside}"
        elif inside.startswith("docs/"):
            found = inside.removeprefix("docs/")
            if (ROOT / inside).is_dir():
                found += "/README.md"
        elif inside.startswith("include/kansetsu/"):
            found, anchor = f"reference/cpp/{Path(inside).parent.name}.md", ""
        else:
            return f"{label}" if label.startswith("`") else f"`{inside}`"
        up = "../" * page.count("/")
        return f"{bang}[{label}]({up}{found}{'#' + anchor if anchor else ''})"

    return LINK.sub(one, text)


def _main_page() -> str:
    """Where Doxygen begins: the modules as ARCHITECTURE.md describes them, with their headers."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    text = "/** \\mainpage C++ reference\n\nEverything is in namespace kansetsu; kansetsu/kansetsu.h includes all of it. [The site](../../index.html) has guides, theory and formats.\n\n"
    for module, what in rows:
        headers = sorted((ROOT / "include/kansetsu" / module).glob("*.h"))
        if headers:
            text += f"- **{module}** – {re.sub(r'[*@<>]', '', what)}: " + ", ".join(f'\\ref kansetsu/{module}/{h.name} "{h.name}"' for h in headers) + "\n"
    return text + "*/\n"


def _doxygen(site: Path) -> None:
    """The C++ reference: declarations with their comments, cross-references, and a search of its own."""
    made = ROOT / "build/site-cpp"
    made.mkdir(parents=True, exist_ok=True)
    (made / "main.dox").write_text(_main_page())
    subprocess.run(["doxygen", "tools/site/Doxyfile"], cwd=ROOT, check=True)
    shutil.copytree(made / "html", site / "reference/api", dirs_exist_ok=True)


def _headers() -> dict[str, str]:
    """One page per module: every public header as it is. They are written to be read."""
    pages: dict[str, str] = {}
    index = "# C++ reference\n\n"
    if DOXYGEN:
        index += '<a class="md-button" href="api/index.html">Classes, functions and types</a>\n\nwith cross-references and a search of their own. '
    index += "The public headers, module by module, are below; the search of this site covers them. `#include \"kansetsu/MODULE/NAME.h\"`.\n\n| module | headers |\n|---|---|\n"
    for folder in sorted(p for p in (ROOT / "include/kansetsu").iterdir() if p.is_dir()):
        headers = sorted(folder.glob("*.h"))
        links = ", ".join(f"[{h.stem}](cpp/{folder.name}.md#{h.stem})" for h in headers)
        index += f"| [{folder.name}](cpp/{folder.name}.md) | {links} |\n"
        text = f"# kansetsu/{folder.name}\n\n"
        for header in headers:
            text += f"## {header.name} {{#{header.stem}}}\n\n```cpp\n{header.read_text().strip()}\n```\n\n"
        pages[f"reference/cpp/{folder.name}.md"] = text
    pages["reference/cpp.md"] = index
    return pages


def _python() -> str:
    text = "# Python reference\n\nFrom the docstrings. The [guide](../guide/python.md) shows how they work together.\n\n"
    modules = ["kansetsu", "kansetsu.ik", "kansetsu.motion"]
    return text + "".join(f"## {name}\n\n::: {name}\n\n" for name in modules)


def _gallery() -> str:
    text = "# Gallery\n\nEvery picture opens the recording in the viewer: turn it, play it, plot its forces. The pages need no network.\n\n"
    pages = sorted(GALLERY.glob("*.html"))
    if not pages:
        return text + "This site was built without the `kansetsu` command, which makes them: `script/build`, then `script/site`.\n"
    for page in pages:
        title = page.stem.replace("_", " ")
        picture = f"![{title}](gallery/{page.stem}.png)" if page.with_suffix(".png").is_file() else title
        text += f"## {title}\n\n<a href=\"gallery/{page.name}\">{{}}</a>\n\n".replace("{}", f'<img alt="{title}" src="gallery/{page.stem}.png">' if picture != title else title)
    return text


def on_files(files: Files, config) -> Files:
    def add(name: str, content: str | bytes) -> None:
        files.append(File.generated(config, name, content=content))

    add("index.md", (ROOT / "README.md").read_text())
    for name in PROJECT:
        add(f"project/{name}", (ROOT / name).read_text())
    for name, text in _headers().items():
        add(name, text)
    add("reference/python.md", _python())
    add("gallery.md", _gallery())
    add("assets/site.css", CSS)
    add("assets/iframe-worker.js", (Path(__file__).parent / "iframe-worker.js").read_text())
    for made in sorted([*GALLERY.glob("*.html"), *GALLERY.glob("*.png")]):
        add(f"gallery/{made.name}", made.read_bytes())
    return files


def on_post_build(config) -> None:
    if DOXYGEN:
        _doxygen(Path(config["site_dir"]))


def on_page_markdown(markdown: str, page: Page, config, files: Files) -> str:
    name = page.file.src_uri
    if name == "index.md" or name.removeprefix("project/") in PROJECT:
        return _moved(markdown, "", name)
    if name.startswith("reference/") or name == "gallery.md":
        return markdown
    if name.startswith("theory/"):
        markdown = equations(markdown)
    return _moved(markdown, str(Path("docs") / Path(name).parent), name)


def on_config(config):
    def filled(entry):
        if isinstance(entry, dict):
            return {title: filled(value) for title, value in entry.items()}
        if isinstance(entry, list):
            return [filled(e) for e in entry]
        if isinstance(entry, str) and entry.endswith("/"):
            return [f"{entry}{p.name}" for p in sorted((ROOT / "docs" / entry).glob("*.md"))]
        return entry

    config["nav"] = filled(config["nav"])
    return config


