#!/usr/bin/env python3
"""Checks that modules include each other only along the layers, that these are drawn as they are, and that no file is too long.

usage: tools/check_layers.py [ROOT] [--draw | --self-test]

USES below holds the arrows. An arrow may be skipped, never reversed. Rules:

  layer    a file of a module includes only that module and the modules its arrows lead to. This holds for the unit tests
           in src/<module>/test/ too. Files in tests/ and bench/ may include anything.
  public   a header in include/ includes no private header, and of Eigen <Eigen/Core> only; examples and the consumer
           project include public headers only.
  kernel   a *_kernel.h includes neither Eigen nor containers of the standard library.
  umbrella include/kansetsu/kansetsu.h includes every public header but those of devices.
  length   no C++ file has more than 800 lines.
  arrow    USES is what the #includes of the modules come to (tests left out), less the arrows that follow from others; the
           DEPENDS of each src/<module>/CMakeLists.txt and the drawing in ARCHITECTURE.md are the same. --draw prints the drawing.

Prints "file:line: rule: what" for each violation and exits with 1 if there is any.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

# Direct arrows: the module uses these. Whatever they use is allowed as well.
USES = {
    "base": [],
    "spatial": ["base"],
    "geometry": ["spatial"],
    "model": ["geometry"],
    "scene": ["model"],
    "io": ["scene"],
    "kinematics": ["model"],
    "dynamics": ["kinematics"],
    "assembly": ["dynamics"],
    "constraint": ["dynamics"],
    "actuation": ["constraint"],
    "ik": ["kinematics"],
    "sim": ["scene", "actuation"],
    "motion": ["ik", "sim"],
    "batch": ["dynamics"],
    "codegen": ["batch"],
}
EVERYTHING = set(USES)

# Folders whose files belong to no module: may they include private headers of src/?
FREE_FOLDERS = {"apps": False, "python": False, "examples": False, "bench": True, "tests": True}

# Includes every public header but these.
UMBRELLA = Path("include/kansetsu/kansetsu.h")
NOT_IN_UMBRELLA = {"cuda.h", "dlpack.h", "eigen_abi.h"}

SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
MAX_LINES = 800
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONTAINERS = {"deque", "forward_list", "list", "map", "queue", "set", "stack", "string", "unordered_map",
              "unordered_set", "vector"}


def reachable(module):
    """The module itself and everything its arrows lead to."""
    found = {module}
    for used in USES[module]:
        found |= reachable(used)
    return found


def owner(path):
    """(module or None, allowed modules, may include private headers) of a file, by its path below the root."""
    parts = path.parts
    if path == UMBRELLA:
        return None, EVERYTHING, False
    is_header_tree = parts[:2] == ("include", "kansetsu")
    if is_header_tree or parts[0] == "src":
        module = parts[2] if is_header_tree else parts[1]
        return module, reachable(module) if module in USES else set(), not is_header_tree
    private = FREE_FOLDERS[parts[0]] and parts[:2] != ("tests", "consumer")
    return None, EVERYTHING, private


def target(root, path, quoted, name):
    """(module, is private) that an #include leads to, or None if it is not ours."""
    parts = Path(name).parts
    if parts[0] == "kansetsu" and len(parts) > 2:
        return parts[1], False
    if not quoted:
        return None
    beside = (root / path.parent / name).resolve()
    for tree, private in (("src", True), ("include/kansetsu", False)):
        if beside.is_file() and beside.is_relative_to(root / tree):
            return beside.relative_to(root / tree).parts[0], private
    if parts[0] in USES and len(parts) > 1:
        return parts[0], True
    return None


def check_include(root, path, quoted, name):
    """Yields (rule, what) for one #include."""
    module, allowed, may_use_private = owner(path)
    found = target(root, path, quoted, name)
    if found:
        used, private = found
        if used not in USES:
            yield "layer", f"'{name}' is of the unknown module '{used}'"
        elif used not in allowed:
            yield "layer", f"{module} must not use {used} ('{name}'); it may use {', '.join(sorted(allowed - {module}))}"
        if private and not may_use_private:
            yield "public", f"'{name}' is a private header"
    if path.parts[0] == "include" and name.startswith("Eigen/") and name != "Eigen/Core":
        yield "public", f"<{name}>: a public header includes <Eigen/Core> at most"
    if path.name.endswith("_kernel.h") and (name.startswith("Eigen/") or name in CONTAINERS):
        yield "kernel", f"<{name}>: no Eigen and no containers in kernels"


def check_file(root, path):
    """Yields (line, rule, what) for one file; path is relative to root."""
    module, _, _ = owner(path)
    if module is not None and module not in USES:
        yield 1, "layer", f"'{module}' is no module; a new one needs its arrows in tools/check_layers.py"
        return
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    if len(lines) > MAX_LINES:
        yield len(lines), "length", f"{len(lines)} lines, more than {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        if match := INCLUDE.match(line):
            for rule, what in check_include(root, path, match[1] == '"', match[2]):
                yield number, rule, what


def check_umbrella(root):
    """Yields what include/kansetsu/kansetsu.h lacks."""
    lines = (root / UMBRELLA).read_text(encoding="utf-8").splitlines()
    included = {match[2] for line in lines if (match := INCLUDE.match(line))}
    for path in sorted((root / "include/kansetsu").glob("*/*.h")):
        name = path.relative_to(root / "include").as_posix()
        if path.name not in NOT_IN_UMBRELLA and name not in included:
            yield f"'{name}' is missing"


def source_files(root):
    """All C++ files of the repository, relative to root."""
    for tree in ("include/kansetsu", "src", *FREE_FOLDERS):
        for path in sorted((root / tree).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and "node_modules" not in path.parts:
                yield path.relative_to(root)


def check(root):
    """All violations as printable lines, and the number of files looked at."""
    root = root.resolve()
    files = list(source_files(root))
    found = [f"{path}:{line}: {rule}: {what}" for path in files for line, rule, what in check_file(root, path)]
    found += [f"{UMBRELLA}:1: umbrella: {what}" for what in check_umbrella(root)]
    found += [f"{place}:1: arrow: {what}" for place, what in check_arrows(root)]
    return found, len(files)


def include_graph(root):
    """module -> the modules that its sources and public headers include, tests left out."""
    graph = {module: set() for module in USES}
    for path in source_files(root):
        module, _, _ = owner(path)
        if module not in USES or "test" in path.parts:
            continue
        for line in (root / path).read_text(encoding="utf-8").splitlines():
            match = INCLUDE.match(line)
            found = match and target(root, path, match[1] == '"', match[2])
            if found and found[0] in USES and found[0] != module:
                graph[module].add(found[0])
    return graph


def reduced(graph):
    """The graph without the arrows that follow from others."""
    def below(module, seen=()):
        fresh = graph[module] - {module, *seen}  # a cycle is the layer rule's to report
        return fresh.union(*(below(used, (module, *seen)) for used in fresh))

    return {module: {used for used in uses if not any(used in below(other, (module,)) for other in uses)}
            for module, uses in graph.items()}


def drawing(graph):
    """The graph as ARCHITECTURE.md shows it, lowest layer first."""
    rows = [f"    {module:<11} → {', '.join(used for used in USES if used in graph[module])}" for module in USES]
    return "\n".join(row.removesuffix(" → ").rstrip() for row in rows)


def check_arrows(root):
    """Yields (place, what) where the arrows of USES, of CMake, of ARCHITECTURE.md and of the includes differ."""
    real = reduced(include_graph(root))
    for module, uses in USES.items():
        if set(uses) != real[module]:
            yield "tools/check_layers.py", f"{module} uses {sorted(uses)} here, by its #includes {sorted(real[module])}"
        lists = root / "src" / module / "CMakeLists.txt"
        match = re.search(r"kansetsu_module\(NAME \w+(?: DEPENDS ((?:[a-z]+ ?)+))?", lists.read_text(encoding="utf-8"))
        depends = set((match[1] or "").split()) if match else set()
        if depends != real[module]:
            yield f"src/{module}/CMakeLists.txt", f"DEPENDS {sorted(depends)}, by its #includes {sorted(real[module])}"
    if drawing(real) not in (root / "ARCHITECTURE.md").read_text(encoding="utf-8"):
        yield "ARCHITECTURE.md", "the drawn layers must be those of tools/check_layers.py --draw"


# path, text, rules it must break
SELF_TEST = [
    ("include/kansetsu/base/id.h", "#include <compare>\n", []),
    ("src/base/id.cc", '#include "kansetsu/base/id.h"\n', []),
    ("src/base/up.cc", "#include <kansetsu/spatial/spatial.h>\n", ["layer"]),
    ("src/dynamics/aba_kernel.h", '#include "spatial/small.h"\n#include <array>\n', []),
    ("src/dynamics/eigen_kernel.h", "#include <Eigen/Core>\n  #  include <vector>\n", ["kernel", "kernel"]),
    ("src/kinematics/fk.cc", '#include "kansetsu/base/id.h"\n#include "dynamics/aba_kernel.h"\n', ["layer"]),
    ("src/kinematics/beside.cc", '#include "../dynamics/aba_kernel.h"\n', ["layer"]),
    ("src/kinematics/test/fk_test.cc", "#include <kansetsu/dynamics/aba.h>\n", ["layer"]),
    ("src/kinematics/test/alloc_test.cc", '#include "no_alloc.h"\n', []),
    ("src/io/urdf/urdf.cc", "#include <kansetsu/model/model.h>\n#include <kansetsu/kinematics/fk.h>\n", ["layer"]),
    ("src/motion/gait.cc", "#include <kansetsu/ik/solve.h>\n#include <kansetsu/constraint/rows.h>\n", []),
    ("src/ik/solve.cc", "#include <kansetsu/dynamics/aba.h>\n", ["layer"]),
    ("src/batch/cpu/aba.cc", '#include "dynamics/aba_kernel.h"\n#include <kansetsu/sim/world.h>\n', ["layer"]),
    ("src/newcomer/a.cc", "\n", ["layer"]),
    ("src/sim/world.cc", "#include <kansetsu/newcomer/a.h>\n", ["layer"]),
    ("include/kansetsu/model/model.h", "#include <Eigen/Core>\n#include <Eigen/Dense>\n", ["public"]),
    ("include/kansetsu/dynamics/aba.h", '#include "dynamics/aba_kernel.h"\n', ["public"]),
    ("examples/cpp/a.cc", '#include <kansetsu/sim/world.h>\n#include "dynamics/aba_kernel.h"\n', ["public"]),
    ("tests/consumer/main.cc", '#include "dynamics/aba_kernel.h"\n', ["public"]),
    ("tests/invariants/a_test.cc", '#include "dynamics/aba_kernel.h"\n#include <kansetsu/sim/world.h>\n', []),
    ("apps/cli/main.cc", '#include "command.h"\n#include <kansetsu/io/urdf.h>\n', []),
    ("src/model/long.cc", "\n" * (MAX_LINES + 1), ["length"]),
    ("src/model/just_right.cc", "\n" * MAX_LINES, []),
    ("src/model/comment.cc", "// #include <kansetsu/dynamics/aba.h>\n", []),
]


def self_test():
    """Writes a small tree with known violations and compares what is found."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text, _ in SELF_TEST:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        wrong = []
        for name, _, expected in SELF_TEST:
            found = [rule for _, rule, _ in check_file(root, Path(name))]
            if found != expected:
                wrong.append(f"{name}: expected {expected}, found {found}")
        graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
        if reduced(graph) != {"a": set(), "b": {"a"}, "c": {"b"}}:
            wrong.append(f"reduced() made {reduced(graph)} of {graph}")
        if include_graph(root)["motion"] != {"ik", "constraint"} or include_graph(root)["codegen"]:
            wrong.append(f"include_graph() found {include_graph(root)['motion']} for motion")
        if len(list(source_files(root))) != len(SELF_TEST):
            wrong.append("not every file was looked at")
        return wrong


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--draw", action="store_true", help="print the layers as they are")
    parser.add_argument("--self-test", action="store_true", help="check the checker instead")
    options = parser.parse_args(arguments)
    if options.draw:
        print(drawing(reduced(include_graph(options.root.resolve()))))
        return 0
    if options.self_test:
        problems, count = self_test(), len(SELF_TEST)
    else:
        problems, count = check(options.root)
    print("\n".join([*problems, f"check_layers: {count} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
