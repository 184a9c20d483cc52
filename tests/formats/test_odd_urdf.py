"""Odd URDF files of other projects are accepted or refused as MANIFEST.md says, with the line of each fault.

The line of a fault is that of the element that is wrong; for something missing, of the element that lacks it; for a
duplicate, of its second occurrence; for a cycle, of any joint in it; for mismatched tags, of either tag.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, Request, State, check, data_files, evaluate

ACCEPT, WARN, REFUSE = "accept", "accept-with-warning", "refuse"  # an accepted file may have warnings, too


@dataclass(frozen=True)
class Expected:
    verdict: str
    why: str
    faults: tuple[set[int], ...] = ()  # of each fault that must be reported, the lines that are right


EXPECTED = {
    "dart__invalid": Expected(REFUSE, "plain text, not XML", ({1},)),
    "dart__issue838": Expected(ACCEPT, "a material defined once and used twice"),
    "dart__joint_properties": Expected(ACCEPT, "limits, damping and friction; no link has mass"),
    "dart__missing_mesh": Expected(WARN, "the mesh file does not exist", ({6},)),
    "dart__missing_package": Expected(WARN, "the package of the mesh is not found", ({6},)),
    "drake__joint_parsing_test": Expected(REFUSE, "two curvilinear joints", ({166}, {180})),
    "drake__joint_parsing_test_tag_mismatch_1": Expected(REFUSE, "a fixed joint is no drake:joint", ({5},)),
    "drake__two_unnamed_boxes": Expected(ACCEPT, "collision elements need no names"),
    "drake__zero_dof_robot": Expected(ACCEPT, "one link"),
    "drake_inline__BodyNameBroken": Expected(REFUSE, "a link without a name", ({2},)),
    "drake_inline__JointLinkMissing": Expected(REFUSE, "the parent link is not declared", ({5},)),
    "drake_inline__JointNameBroken": Expected(REFUSE, "a joint without a name", ({2},)),
    "drake_inline__JointNoChild": Expected(REFUSE, "a joint without a child", ({2},)),
    "drake_inline__JointNoParent": Expected(REFUSE, "a joint without a parent", ({2},)),
    "drake_inline__JointZeroAxis": Expected(REFUSE, "axis 0 0 0", ({7},)),
    "drake_inline__MimicBadJoint": Expected(REFUSE, "mimic of a joint that does not exist", ({7},)),
    "drake_inline__MimicNoJoint": Expected(REFUSE, "mimic without a joint attribute", ({7},)),
    "drake_inline__MimicSameJoint": Expected(REFUSE, "a joint that mimics itself", ({7},)),
    "pinocchio__3DOF_planar": Expected(ACCEPT, "three prismatic joints; no link has mass"),
    "pinocchio__link_and_joint_identical_name": Expected(ACCEPT, "links and joints are named apart"),
    "ros_urdf__fail_pr2_desc_bracket": Expected(
        REFUSE, "rpy with a stray brace; base_link is not declared", ({9}, {10})),
    "ros_urdf__fail_pr2_desc_double": Expected(
        REFUSE, "base_link is not declared; a second link of the same name", ({11}, {31})),
    "ros_urdf__fail_pr2_desc_double_joint": Expected(
        REFUSE, "base_link is not declared; a second joint of the same name, whose child is no link",
        ({10}, {21}, {28})),
    "ros_urdf__fail_pr2_desc_loop": Expected(REFUSE, "two joints in a circle", ({5, 11, 12, 22, 28, 29},)),
    "ros_urdf__fail_pr2_desc_two_trees": Expected(
        REFUSE, "two trees, below links that are not declared", ({10}, {27})),
    "ros_urdf__fail_three_links_one_joint": Expected(REFUSE, "a joint closed by </link>", ({21, 24},)),
    "ros_urdf__no_visual": Expected(ACCEPT, "a link without a visual; misspelt XML declaration"),
    "ros_urdf__one_link": Expected(ACCEPT, "one link; misspelt XML declaration"),
    "ros_urdf__pr2_desc_no_joint": Expected(ACCEPT, "one link, no joint"),
    "ros_urdf__singularity": Expected(ACCEPT, "rpy at gimbal lock; misspelt XML declaration"),
    "ros_urdf__test_robot": Expected(ACCEPT, "R2D2"),
    "ros_urdf__two_links_one_joint": Expected(ACCEPT, "a fixed joint; misspelt XML declaration"),
    "sdformat__fixed_joint_reduction_simple": Expected(ACCEPT, "links welded in many ways"),
    "sdformat__joint_mimic_rack_pinion": Expected(ACCEPT, "a prismatic joint mimics a continuous one"),
    "sdformat__parser_urdf_atlas": Expected(ACCEPT, "Atlas with Gazebo's extensions"),
    "sdformat_inline__ParseWhitespace": Expected(ACCEPT, "blanks and newlines around values"),
    "sdformat_inline__explicit_zero_mass": Expected(WARN, "mass 0, inertia not", ({2, 3, 4, 6},)),
    "sdformat_inline__no_inertial_block": Expected(WARN, "no link has mass", ({1, 2},)),
    "sdformat_inline__zero_mass_intermediate_link": Expected(WARN, "a massless link between two joints", ({9},)),
}

DEVIATIONS = {
    "dart__missing_mesh": "dynamics need no mesh: a warning, as in most loaders",
    "dart__missing_package": "dynamics need no mesh: a warning, as in most loaders",
    "drake__joint_parsing_test": "there is no curvilinear joint: refused rather than replaced by another joint",
    "sdformat_inline__explicit_zero_mass": "the link is kept: massless links are legal",
    "sdformat_inline__zero_mass_intermediate_link": "the links are kept: massless links are legal",
}

DOFS = {  # what the model must consist of: number of links, moving joints
    "pinocchio__link_and_joint_identical_name": (2, []),
    "ros_urdf__no_visual": (1, []),
    "ros_urdf__one_link": (1, []),
    "ros_urdf__singularity": (3, []),
    "ros_urdf__test_robot": (17, ["right_front_wheel_joint", "right_back_wheel_joint", "left_front_wheel_joint",
                                  "left_back_wheel_joint", "gripper_extension", "left_gripper_joint",
                                  "right_gripper_joint", "head_swivel"]),
    "ros_urdf__two_links_one_joint": (2, []),
    "sdformat__joint_mimic_rack_pinion": (3, ["upper_joint"]),
    "sdformat_inline__explicit_zero_mass": (1, []),
    "sdformat_inline__zero_mass_intermediate_link": (3, ["joint1_2", "joint2_3"]),
}

MODELS = data_files("odd_models/urdf/*.urdf")
needs_data = pytest.mark.skipif("KANSETSU_DATA_DIR" not in os.environ, reason="KANSETSU_DATA_DIR is not set")


def verdict_of_manifest(row: str) -> str | None:
    """None where the manifest leaves it open."""
    stated = re.search(r"EXPECTED[^:]*: (rejected|error|accepted with warnings|accepted|warning)", row)
    return stated and {"rejected": REFUSE, "error": REFUSE, "accepted": ACCEPT}.get(stated[1], WARN)


@needs_data
def test_table_follows_the_manifest():
    folder = Path(os.environ["KANSETSU_DATA_DIR"])
    assert {path.stem for path in folder.glob("odd_models/urdf/*.urdf")} == set(EXPECTED)
    assert len(DEVIATIONS) <= 6
    rows = re.findall(r"^\| (\S+)\.urdf \|(.*EXPECTED.*)$", (folder / "MANIFEST.md").read_text(), re.MULTILINE)
    stated = {name: verdict_of_manifest(row) for name, row in rows}
    assert set(stated) == set(EXPECTED)
    differing = {name for name, verdict in stated.items() if verdict not in (None, EXPECTED[name].verdict)}
    assert differing <= set(DEVIATIONS)


@pytest.mark.parametrize("model", MODELS)
def test_verdict_and_lines(model: Path):
    expected = EXPECTED[model.stem]
    report = check(model, "--allow-partial")  # meshes of some are not there
    assert report.exit_code == (BAD_FILE if expected.verdict == REFUSE else OK), report
    assert report.ok == (expected.verdict != REFUSE) == (not report.errors)
    found = {d.line for d in (report.errors if expected.verdict == REFUSE else report.warnings)}
    for right_lines in expected.faults:
        assert found & right_lines, f"{expected.why}: expected a line of {right_lines}, found {found}"
    for d in report.errors:
        assert Path(d.file).name == model.name and d.code and d.message and d.hint, d


@pytest.mark.parametrize("model", [p for p in MODELS if p.id is None or p.id in DOFS])
def test_accepted_model_is_whole(model: Path):
    links, joints = DOFS[model.stem]
    reply = evaluate(model, Request(["fk"], [State()]))
    assert (len(reply.results[0]["fk"]), sorted(reply.dofs)) == (links, sorted(joints))
