"""Bad URDF files are refused with the line of every fault and a hint, and never crash the reader.

In the texts below every line marked FAULT must be reported; of the lines marked EITHER, at least one.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, CheckReport, check, run

UNIT_INERTIA = '\n<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
MASS = f'<inertial><mass value="1"/>{UNIT_INERTIA}</inertial>'
LINKS = "".join(f'<link name="{name}">{MASS}</link>\n' for name in "abc")
GOOD_JOINT = '<joint name="ab" type="continuous"><parent link="a"/><child link="b"/></joint>\n'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "continuous") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(body: str) -> str:
    return f'<?xml version="1.0"?>\n<robot name="r">\n{body}\n</robot>\n'


def two_links(joint_text: str) -> str:
    return robot(f'<link name="a"/>\n<link name="b">{MASS}</link>\n{joint_text}')


def link_with(inertial: str) -> str:
    return robot(f'<link name="a">\n<inertial>\n{inertial}\n</inertial>\n</link>')


BAD_VALUES = {
    "negative mass": link_with(f'<mass value="-1"/> FAULT{UNIT_INERTIA}'),
    "mass is not a number": link_with(f'<mass value="heavy"/> FAULT{UNIT_INERTIA}'),
    "mass without value": link_with(f"<mass/> FAULT{UNIT_INERTIA}"),
    "infinite mass": link_with(f'<mass value="inf"/> FAULT{UNIT_INERTIA}'),
    "mass out of range": link_with(f'<mass value="1e999"/> FAULT{UNIT_INERTIA}'),
    "negative moment of inertia": link_with(
        '<mass value="1"/>\n<inertia ixx="-1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/> FAULT'),
    "indefinite inertia": link_with(
        '<mass value="1"/>\n<inertia ixx="1" iyy="1" izz="1" ixy="2" ixz="0" iyz="0"/> FAULT'),
    "NaN inertia": link_with('<mass value="1"/>\n<inertia ixx="nan" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/> FAULT'),
    "inertia out of range": link_with(
        '<mass value="1"/>\n<inertia ixx="1e999" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/> FAULT'),
    "NaN origin": two_links(joint("j", "a", "b", '\n<origin xyz="0 nan 0"/> FAULT\n')),
    "infinite origin": two_links(joint("j", "a", "b", '\n<origin xyz="0 0 inf"/> FAULT\n')),
    "origin out of range": two_links(joint("j", "a", "b", '\n<origin xyz="0 0 -1e999"/> FAULT\n')),
    "two numbers for three": two_links(joint("j", "a", "b", '\n<origin xyz="0 0"/> FAULT\n')),
    "four numbers for three": two_links(joint("j", "a", "b", '\n<origin rpy="0 0 0 0"/> FAULT\n')),
    "decimal comma": two_links(joint("j", "a", "b", '\n<origin xyz="0,5 0 0"/> FAULT\n')),
    "zero axis": two_links(joint("j", "a", "b", '\n<axis xyz="0 0 0"/> FAULT\n')),
    "NaN axis": two_links(joint("j", "a", "b", '\n<axis xyz="0 nan 1"/> FAULT\n')),
    "NaN limit": two_links(
        joint("j", "a", "b", '\n<limit lower="nan" upper="1" effort="1" velocity="1"/> FAULT\n', kind="revolute")),
    "unknown joint type": two_links(joint("j", "a", "b", kind="rotary") + " FAULT"),
    "joint without type": two_links('<joint name="j"><parent link="a"/><child link="b"/></joint> FAULT'),
}

BAD_STRUCTURE = {
    "cycle": robot(f'{LINKS}{joint("ab", "a", "b")}\n{joint("bc", "b", "c")} EITHER\n{joint("cb", "c", "b")} EITHER'),
    "cycle without a root": robot(f'{LINKS}{joint("ab", "a", "b")} EITHER\n{joint("bc", "b", "c")} EITHER\n'
                                  f'{joint("ca", "c", "a")} EITHER'),
    "joint from a link to itself": robot(f'{LINKS}{joint("ab", "a", "b")}\n{joint("cc", "c", "c")} FAULT'),
    "two roots": robot(f'<link name="a"/> EITHER\n<link name="b"/>\n<link name="c"/> EITHER\n{GOOD_JOINT}'),
    "two parents": robot(f'{LINKS}{joint("ac", "a", "c")} EITHER\n{joint("ab", "a", "b")}\n'
                         f'{joint("bc", "b", "c")} EITHER'),
    "duplicate link": robot(f'<link name="a"/>\n<link name="b"/>\n<link name="b"/> FAULT\n{GOOD_JOINT}'),
    "duplicate joint": robot(f'{LINKS}{joint("j", "a", "b")}\n{joint("j", "b", "c")} FAULT'),
    "no link": '<robot name="r"> FAULT\n</robot>\n',
    "joint without parent": two_links('<joint name="j" type="continuous"><child link="b"/></joint> FAULT'),
    "joint without child": two_links('<joint name="j" type="continuous"><parent link="a"/></joint> FAULT'),
    "undeclared parent": two_links(joint("j", "nowhere", "b") + " FAULT"),
    "undeclared child": two_links(joint("j", "a", "nowhere") + " FAULT"),
    "mimic of a missing joint": two_links(joint("j", "a", "b", '\n<mimic joint="nobody"/> FAULT\n')),
    "mimic of itself": two_links(joint("j", "a", "b", '\n<mimic joint="j"/> FAULT\n')),
    "mimic in a circle": robot(LINKS + joint("ab", "a", "b", '\n<mimic joint="bc"/> EITHER\n')
                               + joint("bc", "b", "c", '\n<mimic joint="ab"/> EITHER\n')),
    "mimic with a NaN": robot(LINKS + joint("ab", "a", "b") + joint(
        "bc", "b", "c", '\n<mimic joint="ab" multiplier="nan"/> FAULT\n')),
    "root element is not robot": '<model name="r"><link name="a"/></model> FAULT\n',
}

BAD_XML = {
    "mismatched tags": robot("<link name='a'><inertial></link> FAULT"),
    "open quote": robot('<link name="a/> FAULT'),
    "truncated": '<robot name="r"> EITHER\n<link name="a"> EITHER\n<inertial> EITHER\n',
    "second root element": '<robot name="r">\n<link name="a"/>\n</robot>\n<robot name="s"/> FAULT\n',
    "unexpanded macro": '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"> EITHER\n'
                        '<xacro:macro name="leg"> EITHER\n<link name="a"/>\n</xacro:macro>\n</robot>\n',
    "unexpanded property": '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"> EITHER\n<link name="a">\n'
                           f'<inertial>\n<mass value="${{m}}"/> EITHER{UNIT_INERTIA}\n</inertial>\n</link>\n</robot>\n',
}

MANY_FAULTS = robot("""
<link name="a"><inertial>
  <mass value="-1"/> FAULT
  <inertia ixx="1" iyy="1" izz="nan" ixy="0" ixz="0" iyz="0"/> FAULT
</inertial></link>
<link name="b"/>
<link name="b"/> FAULT
<joint name="ab" type="continuous"><parent link="a"/><child link="b"/>
  <axis xyz="0 0 0"/> FAULT
  <origin xyz="1 2"/> FAULT
  <mimic joint="nobody"/> FAULT
</joint>
<joint name="ax" type="rotary"> FAULT
  <parent link="a"/>
  <child link="x"/> FAULT
</joint>
""")


def marked_lines(text: str, mark: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if mark in line}


def write(folder: Path, text: str) -> Path:
    """The text with its marks made comments; after the last tag that is legal XML, too."""
    path = folder / "bad.urdf"
    path.write_text(text.replace(" FAULT", " <!-- FAULT -->").replace(" EITHER", " <!-- EITHER -->"))
    return path


def assert_refused(report: CheckReport, path: Path) -> None:
    assert report.exit_code == BAD_FILE and not report.ok and report.errors, report
    for d in report.errors:
        assert Path(d.file).name == path.name and d.code and d.message and d.hint, d


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for cases in (BAD_VALUES, BAD_STRUCTURE, BAD_XML)
                                  for name, text in cases.items()] + [pytest.param(MANY_FAULTS, id="many faults")])
def test_refused_with_lines(tmp_path: Path, text: str):
    path = write(tmp_path, text)
    report = check(path)
    assert_refused(report, path)
    found, either = {d.line for d in report.errors}, marked_lines(text, "EITHER")
    assert marked_lines(text, "FAULT") <= found, report
    assert not either or either & found, report


@pytest.mark.parametrize("name", ["unexpanded macro", "unexpanded property"])
def test_xacro_is_named(tmp_path: Path, name: str):
    report = check(write(tmp_path, BAD_XML[name]))
    assert any("xacro" in (d.message + d.hint).lower() for d in report.errors), report


def test_expanded_xacro_is_accepted(tmp_path: Path):
    """Its name space may stay."""
    text = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a">' + MASS + "</link></robot>"
    assert check(write(tmp_path, text)).exit_code == OK


def test_impossible_inertia_is_a_warning(tmp_path: Path):
    """1 + 1 < 3: no mass distribution does that, but files of real robots do (ANYmal, HyQ, Romeo): they must load."""
    text = link_with('<mass value="1"/>\n<inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/> FAULT')
    report = check(write(tmp_path, text))
    assert report.exit_code == OK and report.ok
    assert marked_lines(text, "FAULT") <= {d.line for d in report.warnings}, report


GARBAGE = {
    "empty": b"",
    "blank": b" \n\n",
    "zeros": b"\0" * 100,
    "program": b"\x7fELF\x02\x01\x01",
    "random": random.Random(1).randbytes(4096),
    "UTF-16": '<robot name="r"/>'.encode("utf-16"),
    "names that are not UTF-8": b'<robot name="r"><link name="\xff\xfe"/><link name="\xff\xfe"/></robot>',
    "brackets": b"<" * 100_000,
    "deep": b"<a>" * 100_000,
    "deep robot": b'<robot name="r">' + b"<link>" * 100_000,
}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "garbage.urdf"
    path.write_bytes(content)
    assert_refused(check(path), path)


def test_directory_is_refused(tmp_path: Path):
    path = tmp_path / "folder.urdf"
    path.mkdir()
    assert_refused(check(path), path)


def test_missing_file_is_refused(tmp_path: Path):
    assert_refused(check(tmp_path / "missing.urdf"), tmp_path / "missing.urdf")


def test_text_report_reads_like_a_compiler(tmp_path: Path):
    text = BAD_VALUES["zero axis"]
    path = write(tmp_path, text)
    result = run("check", path)
    (line,) = marked_lines(text, "FAULT")
    assert result.exit_code == BAD_FILE and f"{path}:{line}: error[" in result.stderr
