"""Inverse kinematics, motion, code generation."""

import os
from pathlib import Path

import kansetsu as ks
import numpy as np
import pytest

DATA = Path(os.environ.get("KANSETSU_DATA_DIR", "/nowhere"))


def test_pose_of_an_arm():
    arm = ks.chain(6)
    tip = arm.links[-1]
    q = np.linspace(-0.6, 0.8, 6)
    target = ks.fk(arm, q)[tip]
    report = ks.ik.solve(arm, tip, target, q + 0.2)
    assert report.solved
    assert report.status == "solved"
    assert np.allclose(ks.fk(arm, report.q)[tip], target, atol=1e-7)  # the task's tolerance is 1e-8
    far = ks.ik.solve(arm, tip, [10, 0, 0], q)
    assert not far.solved
    assert 10 - 1.8 < far.distance < 10  # six rods of 0.3 m
    several = ks.ik.Solver(ks.ik.Problem(arm).pose(tip, target)).solve_all(q, 20)
    assert all(np.allclose(ks.fk(arm, r.q)[tip], target, atol=1e-7) for r in several)


def test_methods():
    model = ks.load("human28_ball")
    q = model.q0
    hand = np.asarray(ks.fk(model, q)["LowerArmL"])[:3, 3] + [0.1, 0.05, 0.2]
    for method in ("tangent", "log-quaternion", "euler"):
        problem = ks.ik.Problem(model).position("LowerArmL", hand)
        report = ks.ik.Solver(problem, method=method, euler_order="YXZ").solve(q)
        assert report.solved, method
        assert np.allclose(np.asarray(ks.fk(model, report.q)["LowerArmL"])[:3, 3], hand, atol=1e-7)
    with pytest.raises(ValueError, match="log-quaternion"):
        ks.ik.Solver(problem, method="quaternion")
    with pytest.raises(ValueError, match="twelve"):
        ks.ik.Solver(problem, euler_order="XXY")


def test_many_targets():
    arm = ks.chain(6)
    Q = np.asarray(arm.random_configuration(2, 50)) * 0.4
    targets = ks.fk(arm, Q)[arm.links[-1]]
    solver = ks.ik.ArmSolver(arm, arm.links[-1], threads=2)
    found, solved = solver.solve(targets, Q + 0.1)
    assert solved.mean() > 0.9
    assert np.allclose(ks.fk(arm, found)[arm.links[-1]][solved], targets[solved], atol=1e-8)
    one, ok = solver.solve(targets[3], Q[3] + 0.1)
    assert ok == solved[3]
    assert np.array_equal(one, found[3])  # a target's result depends on nothing but itself
    with pytest.raises(ks.Error, match="50 targets and 49 starts"):
        solver.solve(targets, Q[1:])


def test_levels_and_targets_that_move(human):
    q = human.q0
    feet = {foot: ks.fk(human, q)[foot] for foot in ("soleL", "soleR")}
    problem = ks.ik.Problem(human)
    for foot, pose in feet.items():
        problem.pose(foot, pose, name=foot)
    problem.position("gripR", [0.35, -0.2, 0.1], level=1, name="hand").posture(q, level=2, name="rest")
    solver = ks.ik.Solver(problem)
    first = solver.solve(q)
    assert [t.name for t in first.tasks] == ["soleL", "soleR", "hand", "rest"]
    assert first.tasks[0].met
    solver.set_target("hand", [0.3, -0.3, 0.2])
    second = solver.solve(first.q)
    for foot, pose in feet.items():
        assert np.allclose(ks.fk(human, second.q)[foot], pose, atol=1e-6)
    assert second.tasks[2].error < 0.5
    with pytest.raises(ks.Error, match="known: soleL, soleR, hand, rest"):
        solver.set_target("nose", [0, 0, 0])
    with pytest.raises(ks.Error, match="already"):
        problem.com([0, 0, 0], name="hand")
    with pytest.raises(ks.Error, match="nan"):
        solver.solve(np.full(human.nq, np.nan))


def test_differential(human):
    poses = ks.fk(human, human.q0)
    problem = ks.ik.Problem(human).pose("soleL", poses["soleL"]).position("gripL", poses["gripL"][:3, 3] + [0.0, 0.0, 0.05])
    step = ks.ik.Differential(problem, gain=0.2)
    q = np.asarray(human.q0)
    for _ in range(60):
        q = ks.integrate(human, q, step.step(q, 0.01), 0.01)
    assert np.allclose(ks.fk(human, q)["gripL"][2, 3], ks.fk(human, human.q0)["gripL"][2, 3] + 0.05, atol=1e-3)


def test_a_squat_and_what_it_takes(human):
    clip = ks.motion.squat(human, depth=0.2, count=1)
    analysis = ks.motion.analyze(human, clip)
    assert analysis.tau.shape == (len(clip), human.nv)
    assert analysis.summary["mean_vertical"] == pytest.approx(human.mass * 9.81, rel=0.01)
    assert {s.name for s in analysis.supports} == {"left", "right"}
    total = sum(s.wrench[:, 5] for s in analysis.supports)
    assert np.allclose(total.mean(), human.mass * 9.81, rtol=0.01)
    half = ks.motion.resample(human, clip, 50.0)
    assert len(half) == pytest.approx(len(clip) / 2, abs=1)
    smooth = ks.motion.low_pass(human, clip, 6.0)
    v, vdot = ks.motion.derivatives(human, smooth)
    assert v.shape == vdot.shape == (len(clip), human.nv)
    assert np.array_equal(ks.motion.Clip(human, clip.times, clip.q).q, clip.q)
    assert ks.motion.mirror(human, ks.motion.mirror(human, clip)).q == pytest.approx(clip.q)
    with pytest.raises(ks.Error, match=r"motion\.Clip"):
        ks.motion.Clip(human, [0, 1], clip.q[:3])


def test_it_walks(human, tmp_path):
    report = ks.motion.walk(human, speed=0.8, distance=2.0, record=tmp_path / "walk.mcap")
    assert not report["fallen"], report["cause"]
    assert report["steps"] >= 4
    run = ks.read(tmp_path / "walk.mcap")
    assert run.q()[-1, 0] - run.q()[0, 0] == pytest.approx(report["distance"], abs=0.3)
    clip = ks.motion.load(human, tmp_path / "walk.mcap")
    assert len(clip) == len(run)


@pytest.mark.skipif(not DATA.is_dir(), reason="no folder of recorded files")
def test_captured_motion(human):
    files = sorted(DATA.rglob("*.amc")) + sorted(DATA.rglob("*.bvh"))
    if not files:
        pytest.skip("no captured motion")
    capture = ks.motion.read_capture(files[0])
    assert capture.positions.shape == (len(capture), len(capture.bones), 3)
    assert len(ks.motion.retarget(human, capture).clip) >= len(capture) - 1


def test_bad_captures(tmp_path):
    bad = tmp_path / "bad.bvh"
    bad.write_text("HIERARCHY\nROOT hips\n{ nonsense")
    with pytest.raises(ks.LoadError, match="CAP") as caught:
        ks.motion.read_capture(bad)
    assert caught.value.diagnostics[0].line > 0


def test_code_for_a_model():
    code = ks.compile_model(ks.pendulum(2), "swing")
    assert code.name == "swing"
    assert "namespace swing" in code.text
    assert code.aba_operations > 10
    with pytest.raises(ks.Error):
        ks.compile_model(ks.pendulum(2), "not a name")
