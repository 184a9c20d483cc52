"""Rollouts in shards and on Ray: the same bits as in one process."""

import itertools
import os
import signal

import kansetsu as ks
import numpy as np
import pytest
from kansetsu._command import command
from kansetsu._progress import Bar
from test_py_package import run as run_python


def falling():
    world = ks.World.load("human28")
    man = world["human28"]
    world.add_controller("posture", man, "pd", {j: {"value": 0.0, "kp": 300.0, "kd": 15.0} for j in man.model.joints})
    return world


def swinging():
    world = ks.World()
    world.add(ks.chain(3), name="arm")
    return world


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def test_shards_are_the_whole():
    whole = ks.rollouts.run(falling, range(70), seconds=0.03, seed=4, noise=0.2)
    assert list(whole["run"]) == list(range(70))
    assert len(set(whole["hash"])) == 70
    parts = [
        ks.rollouts.run(falling, ks.rollouts.shard_of(70, k, 3), seconds=0.03, seed=4, noise=0.2, threads=1 + k % 2) for k in (2, 0, 1)
    ]
    assert same(ks.rollouts.merge(parts), whole)
    assert [len(ks.rollouts.shard_of(10, k, 4)) for k in range(4)] == [2, 3, 2, 3]
    with pytest.raises(ks.Error, match="from 0"):
        ks.rollouts.shard_of(10, 4, 4)


def test_runs_differ_as_prepared():
    def softer(batch, i, rng):
        batch.controller("posture").kp[i] *= rng.uniform(0.3, 1.0)

    def push(batch):
        batch["human28"].tau[:, 6:] = 1.0

    found = ks.rollouts.run(falling, [3, 5], seconds=0.02, prepare=softer, control=push, period=0.01)
    again = ks.rollouts.run(falling, [5], seconds=0.02, prepare=softer, control=push, period=0.01)
    assert found["hash"][1] == again["hash"][0]
    assert found["hash"][0] != found["hash"][1]


def test_a_world_is_a_source_and_stays_as_it_is():
    world = falling()
    before = world.hash()
    found = ks.rollouts.run(world, range(3), seconds=0.02, noise=0.1)
    assert world.hash() == before
    assert same(found, ks.rollouts.run(falling, range(3), seconds=0.02, noise=0.1))


def test_a_run_knows_nothing_of_earlier_ones():
    """Masses and friction outlive a reset of a batch, yet not a run: every second one is made heavier, in any company."""

    def heavier(batch, i, rng):
        man = batch["human28"]
        if rng.uniform() < 0.5:
            man.set_inertial_parameters(man.inertial_parameters[i] * 1.5, [i])

    together = ks.rollouts.TOGETHER
    whole = ks.rollouts.run(falling, range(2 * together), seconds=0.01, prepare=heavier)
    second = ks.rollouts.run(falling, range(together, 2 * together), seconds=0.01, prepare=heavier)
    assert np.array_equal(whole["hash"][together:], second["hash"])
    assert len(set(whole["hash"])) == 2


def test_the_command_writes_arrays_and_says_on_standard_error_what_is_wrong(tmp_path, capsys):
    files = [tmp_path / f"{k}.npz" for k in range(3)]
    options = ["--count", "5", "--seconds", "0.01", "--seed", "4"]
    for k in range(2):
        assert ks.rollouts.main(["human28", *options, "--shard", f"{k}/2", "--out", str(files[k])]) == 0
    assert ks.rollouts.main(["--merge", str(files[0]), str(files[1]), "--out", str(files[2])]) == 0
    with np.load(files[2]) as merged:
        assert same(dict(merged), ks.rollouts.run("human28", range(5), seconds=0.01, seed=4, noise=0.05))
    capsys.readouterr()
    assert ks.rollouts.main(["no such file", *options]) == 1
    said = capsys.readouterr()
    assert not said.out
    assert "there is no such file" in said.err


def test_no_runs_are_arrays_of_no_rows():
    none, some = (ks.rollouts.run(falling, range(n), seconds=0.01, noise=0.1) for n in (0, 2))
    assert none.keys() == some.keys()
    assert all(none[k].shape == (0, *some[k].shape[1:]) and none[k].dtype == some[k].dtype for k in some)
    assert same(ks.rollouts.merge([none, some]), some)


def test_wrong_options_are_named():
    for wrong in ({"seconds": 0.0}, {"seconds": np.nan}, {"seconds": 1.0, "period": np.inf}, {"seconds": 1.0, "noise": np.nan}):
        with pytest.raises(ks.Error, match="expected finite"):
            ks.rollouts.run(falling, [0], **wrong)
    with pytest.raises(ks.Error, match="-1 runs"):
        ks.rollouts.shard_of(-1, 0, 1)
    with pytest.raises(TypeError, match="progress is a 'str'"):
        ks.rollouts.run(falling, [0], seconds=0.01, progress="yes")


def test_progress_is_reported():
    """By rollouts, worlds and batches; what the function raises ends the call, and the arrays are where the worlds are."""
    report = []
    ks.rollouts.run(falling, range(70), seconds=0.01, progress=lambda done, total: report.append((done, total)))
    assert report == [(64, 70), (70, 70)]

    def stop(done, total):
        report.append((done, total))
        if done > total / 2:
            raise KeyboardInterrupt

    world = falling()
    for call, step in ((lambda: world.advance(0.4, progress=stop), 64), (lambda: world.step(400, progress=stop), 64)):
        report.clear()
        before = world.time
        with pytest.raises(KeyboardInterrupt):
            call()
        assert report == [(k * step, 400) for k in range(1, 5)]
        assert np.isclose(world.time - before, 4 * step * 1e-3)
    batch = ks.WorldBatch(falling(), 64)  # 64 steps of all between two looks
    for call in (lambda: batch.step(400, progress=stop), lambda: batch.rollout("human28", np.zeros((64, 400, 34)), progress=stop)):
        report.clear()
        before = batch.time
        with pytest.raises(KeyboardInterrupt):
            call()
        assert report == [(64 * k, 400) for k in range(1, 5)]
        assert np.allclose(batch.time - before, 0.256)
        q = batch["human28"].q.copy()
        batch.step(0)
        assert np.array_equal(q, batch["human28"].q)
    report.clear()
    ks.motion.walk(ks.human28(), duration=0.6, progress=lambda done, total: report.append((done, total)))
    assert report[-1] == (0.6, 0.6)
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(report))


def test_a_bar_is_drawn(capsys):
    now = 0.0
    bar = Bar(clock=lambda: now)
    for k in range(1, 101):
        now += 0.03
        bar(k, 100)
    bar(100, 100)  # said already
    lines = capsys.readouterr().err.split("\r")[1:]
    assert 20 <= len(lines) <= 26  # ten per second
    assert lines[0].startswith("[#...")
    assert "left" in lines[0]
    assert lines[-1].startswith("[" + 32 * "#" + "] 100 % 3.0 s")
    assert lines[-1].endswith("\n")
    Bar()(0, 0)
    assert "100 %" in capsys.readouterr().err


def test_command(tmp_path):
    if not command().exists():
        pytest.skip("the command is not built")
    for k in range(2):
        options = ["--count", "6", "--seconds", "0.02", "--shard", f"{k}/2", "--out", f"part{k}.npz"]
        assert "3 runs, 0 failed" in run_python("-m", "kansetsu", "rollout", "human28", *options, cwd=tmp_path)
    run_python("-m", "kansetsu", "rollout", "--merge", "part1.npz", "part0.npz", "--out", "all.npz", cwd=tmp_path)
    found = dict(np.load(tmp_path / "all.npz"))
    nothing = ["--count", "1", "--seconds", "0.02", "--shard", "0/2", "--out", "none.npz"]  # more shards than runs
    assert "0 runs" in run_python("-m", "kansetsu", "rollout", "human28", *nothing, cwd=tmp_path)
    assert "6 runs" in run_python("-m", "kansetsu", "rollout", "--merge", "none.npz", "all.npz", "--out", "same.npz", cwd=tmp_path)
    assert same(found, dict(np.load(tmp_path / "same.npz")))
    assert same(found, ks.rollouts.run("human28", range(6), seconds=0.02, noise=0.05))
    with pytest.raises(AssertionError, match="expected I/N"):
        run_python("-m", "kansetsu", "rollout", "human28", "--shard", "x", cwd=tmp_path)


@pytest.fixture(params=[2])
def cluster(request, monkeypatch):
    """Nodes of Ray on this machine, and the one that may be killed."""
    pytest.importorskip("ray", reason="Ray is not installed")
    import ray
    from ray.cluster_utils import Cluster

    for name in ("RAY_DISABLE_IMPORT_WARNING", "RAY_DEDUP_LOGS"):
        monkeypatch.setenv(name, "1")
    here = [os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, here)))  # workers import functions of this file
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = [cluster.add_node(num_cpus=1) for _ in range(1, request.param)][-1]
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


def test_ray_loses_nothing(cluster):
    """Workers and a node die in the middle; the results are those of one process, to the bit."""
    import kansetsu.ray as on_ray

    nodes, second = cluster
    whole = ks.rollouts.run("human28", range(40), seconds=0.02, seed=1, noise=0.1)
    assert same(on_ray.rollouts("human28", 40, shard=7, seconds=0.02, seed=1, noise=0.1), whole)

    directory = os.path.dirname(os.path.abspath(__file__))
    marker = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"kansetsu-ray-{os.getpid()}")

    def work(i):
        if i == 3 and not os.path.exists(marker):
            with open(marker, "w") as f:
                f.write(directory)
            os.kill(os.getpid(), signal.SIGKILL)
        return i * i

    try:
        assert on_ray.map(work, range(12), in_flight=4) == [i * i for i in range(12)]
    finally:
        if os.path.exists(marker):
            os.remove(marker)
    nodes.remove_node(second, allow_graceful=False)
    assert same(on_ray.rollouts("human28", 40, shard=5, seconds=0.02, seed=1, noise=0.1), whole)

    def score(x):
        return np.nan if x[0] < -3 else -float(np.sum((x - [1.0, -2.0]) ** 2))

    found, best = on_ray.search(score, [0.0, 0.0], 2.0, samples=12, rounds=4, elite=3, seed=5)
    again, _ = on_ray.search(score, [0.0, 0.0], [2.0, 2.0], samples=12, rounds=4, elite=3, seed=5)
    assert np.array_equal(found, again)
    assert best == score(found) > score(np.zeros(2))
    with pytest.raises(ks.Error, match="elite"):
        on_ray.search(score, [0.0], 1.0, samples=4, elite=5)

    def fail(i):
        raise ValueError(f"item {i}")

    with pytest.raises(ValueError, match="item 0"):
        on_ray.map(fail, [0])
    with pytest.raises(TypeError, match="a World cannot be sent"):
        on_ray.rollouts(falling(), 3, seconds=0.02)
    assert same(on_ray.rollouts("human28", 0, seconds=0.02), ks.rollouts.run("human28", range(0), seconds=0.02))


@pytest.mark.parametrize("cluster", [4], indirect=True)
def test_ten_thousand_on_four_nodes(cluster):
    """One of which is killed in the middle."""
    import kansetsu.ray as on_ray

    nodes, last = cluster
    killed = []

    def watch(done, total):
        if done > total / 2 and not killed:
            killed.append(done)
            nodes.remove_node(last, allow_graceful=False)

    found = on_ray.rollouts(swinging, 10_000, shard=125, seconds=0.05, seed=9, noise=0.5, progress=watch)
    assert killed
    assert list(found["run"]) == list(range(10_000))
    assert same(found, ks.rollouts.run(swinging, range(10_000), seconds=0.05, seed=9, noise=0.5))
