"""Worlds of one kind that differ in numbers: gains, targets, connections."""

import kansetsu as ks
import numpy as np
import pytest
from test_py_batch import prototype, pushed


def test_targets_and_gains_by_world():
    """Arrays of a batch do what set_controller does in a world, to the bit."""
    batch, alone = ks.WorldBatch(prototype(), 3), prototype()
    posture = batch.controller("posture")
    assert posture.kp.shape == (3, len(posture.joints)) == posture.value.shape
    elbow = posture.joints.index("elbowL_y")
    posture.value[1, elbow], posture.kp[1, elbow], posture.kd[1, elbow] = -0.8, 50.0, 4.0
    alone.set_controller("posture", joints={"elbowL_y": {"value": -0.8, "kp": 50.0, "kd": 4.0}})
    batch.step(100)
    alone.step(100)
    assert np.allclose(batch["human28"].q[1], alone["human28"].q, atol=1e-9)
    assert batch["human28"].q[1, "elbowL_y"] < -0.3
    assert abs(batch["human28"].q[0, "elbowL_y"]) < 0.05
    start = prototype().save()
    batch.reset(start)
    assert (posture.kp == 300).all()  # controllers are part of a snapshot
    posture.kp[2, 0] = np.nan
    with pytest.raises(ks.Error, match="kp"):
        batch.step()
    assert (posture.kp == 300).all()
    with pytest.raises(ks.Error, match="known: posture"):
        batch.controller("walk")


@pytest.mark.parametrize("threads", [1, 2])
def test_variations_keep_their_bits(threads):
    """A world with its own gains goes the same way beside others as alone."""

    def varied(n, first, threads):
        batch = pushed(ks.WorldBatch(prototype(), n, threads=threads), first)
        scale = 1 + 0.1 * (first + np.arange(n))
        batch.controller("posture").kp[:] *= scale[:, None]
        batch.step(60)
        return [batch.hash(i) for i in range(n)]

    assert varied(6, 0, threads)[4:] == varied(2, 4, 1)


def test_connections_by_world():
    batch = ks.WorldBatch(prototype(), 3)
    held = batch.connect(1, None, ("human28", "gripL"), mask="point")
    batch["human28"].v[:, 5] = 3.0  # all of them jump
    batch.step(100)
    height = batch["human28"].q[:, 2]
    assert height[0] == height[2]
    assert height[1] < height[0] - 0.05
    batch.release(1, held)
    with pytest.raises(ks.Error, match="no connection"):
        batch.release(1, held)
    for a, b, message in ((("human28", "nose"), None, "nose"), (("dog", "gripL"), None, "dog"), (None, None, "one end")):
        with pytest.raises(ks.Error, match=message):
            batch.connect(0, a, b)
    with pytest.raises(ks.Error, match="no world 3"):
        batch.connect(3, None, ("human28", "gripL"))
    with pytest.raises(TypeError):
        batch.connect(0, "human28", None)
