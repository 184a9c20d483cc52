#!/usr/bin/env python3
"""Checks that objects compiled for a wider instruction set lend no code to the rest of the program.

usage: tools/check_isa_symbols.py ISA OBJECT...

An inline function that the compiler did not inline is emitted into every object that uses it, and the linker keeps any one
of the copies. If it keeps the copy of an AVX-512 object, the baseline path calls AVX-512 code and dies on an older
processor. So every such function in an object for ISA must have the namespace ISA in its name (the kernels), or must
have been inlined (KANSETSU_HD). Prints the others and exits with 1 if there are any.
"""

import re
import subprocess
import sys


def foreign_functions(isa, nm_output):
    """Shared (weak) functions without the namespace isa in their demangled name; nm_output is that of nm -C."""
    weak = re.findall(r"^[0-9a-f]+ [Ww] (.*)$", nm_output, re.MULTILINE)
    return [name for name in weak if f"{isa}::" not in name]


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    isa, *objects = arguments
    nm = subprocess.run(["nm", "-C", "--defined-only", *objects], capture_output=True, text=True, check=True)
    found = sorted(set(foreign_functions(isa, nm.stdout)))
    for name in found:
        print(f"{isa}: not inlined and outside namespace {isa}: {name}")
    print(f"check_isa_symbols: {isa}, {len(objects)} objects, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
