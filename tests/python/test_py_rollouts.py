"""Rollouts in shards and on Ray: the same bits as in one process."""

import os
import signal

import kansetsu as ks
import numpy as np
import pytest
from kansetsu._command import command
from test_py_package import run as run_python


def falling():
    world = ks.World.load("human28")
    man = world["human28"]
    world.add_controller("posture", man, "pd", {j: {"value": 0.0, "kp": 300.0, "kd": 15.0} for j in man.model.joints})
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


def test_runs_differ_as_told():
    def softer(batch, i, rng):
        batch.controller("posture").kp[i] *= rng.uniform(0.3, 1.0)

    def push(batch):
        batch["human28"].tau[:, 6:] = 1.0

    found = ks.rollouts.run(falling, [3, 5], seconds=0.02, prepare=softer, control=push, period=0.01)
    again = ks.rollouts.run(falling, [5], seconds=0.02, prepare=softer, control=push, period=0.01)
    assert found["hash"][1] == again["hash"][0]
    assert found["hash"][0] != found["hash"][1]


def test_command(tmp_path):
    if not command().exists():
        pytest.skip("the command is not built")
    for k in range(2):
        options = ["--count", "6", "--seconds", "0.02", "--shard", f"{k}/2", "--out", f"part{k}.npz"]
        assert "3 runs, 0 failed" in run_python("-m", "kansetsu", "rollout", "human28", *options, cwd=tmp_path)
    run_python("-m", "kansetsu", "rollout", "--merge", "part1.npz", "part0.npz", "--out", "all.npz", cwd=tmp_path)
    found = dict(np.load(tmp_path / "all.npz"))
    assert same(found, ks.rollouts.run("human28", range(6), seconds=0.02, noise=0.05))
    with pytest.raises(AssertionError, match="expected I/N"):
        run_python("-m", "kansetsu", "rollout", "human28", "--shard", "x", cwd=tmp_path)


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes of Ray on this machine, and the one that may be killed."""
    pytest.importorskip("ray", reason="Ray is not installed")
    import ray
    from ray.cluster_utils import Cluster

    for name in ("RAY_DISABLE_IMPORT_WARNING", "RAY_DEDUP_LOGS"):
        monkeypatch.setenv(name, "1")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
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
