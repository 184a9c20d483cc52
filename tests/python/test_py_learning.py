"""Gymnasium environments: its checkers, determinism, all ways of starting anew, and learning."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")
import kansetsu as ks  # noqa: E402
import kansetsu.learning as learning  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

PPO = Path(__file__).parents[2] / "examples" / "python" / "ppo.py"


class Short(learning.Reach):
    """Episodes of five steps."""

    seconds = 0.1


@pytest.mark.parametrize("name", learning.TASKS)
def test_gymnasium_finds_nothing(name):
    env = gym.make(f"kansetsu/{name}-v0", disable_env_checker=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*render.*")
        warnings.filterwarnings("ignore", message=".*infinity.*")  # observations have no bounds
        check_env(env.unwrapped)


@pytest.mark.parametrize("name", learning.TASKS)
def test_one_world_is_world_0_of_many(name):
    """Whatever their number and the threads; to the bit."""
    env, envs = learning.WorldEnv(name), learning.WorldVectorEnv(name, 5, threads=2)
    assert gym.make_vec(f"kansetsu/{name}-v0", num_envs=2).num_envs == 2
    seen, seen_many = env.reset(seed=7)[0], envs.reset(seed=7)[0]
    assert np.array_equal(seen, seen_many[0])
    assert not np.array_equal(seen_many[0], seen_many[1])
    assert envs.observation_space.contains(seen_many)
    rng = np.random.default_rng(1)
    for _ in range(12):
        actions = rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32)
        one, many = env.step(actions[0]), envs.step(actions)
        assert np.array_equal(one[0], many[0][0])
        assert (one[1], one[2], one[3]) == (many[1][0], many[2][0], many[3][0])
        if one[2]:
            break


def test_seeds_decide():
    def run(seed):
        envs = learning.WorldVectorEnv("Stand", 3)
        envs.reset(seed=seed)
        return np.stack([envs.step(np.zeros((3, 28), np.float32))[0] for _ in range(5)])

    assert np.array_equal(run(3), run(3))
    assert not np.array_equal(run(3), run(4))
    assert np.array_equal(run(3)[:, 1], run(4)[:, 0])  # seed, seed + 1, ...


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_worlds_start_anew_as_gymnasiums_do(mode):
    """Beside Gymnasium's own vector environment, made of single ones."""
    ours = learning.WorldVectorEnv(Short, 3, autoreset_mode=mode)
    theirs = gym.vector.SyncVectorEnv([lambda: learning.WorldEnv(Short)] * 3, autoreset_mode=gym.vector.AutoresetMode(mode))
    assert np.array_equal(ours.reset(seed=2)[0], theirs.reset(seed=2)[0])
    rng = np.random.default_rng(5)
    for t in range(13):
        actions = rng.uniform(-1, 1, (3, 4)).astype(np.float32)
        a, b = ours.step(actions), theirs.step(actions)
        for x, y in zip(a[:4], b[:4], strict=True):
            assert np.array_equal(x, y), t
        assert a[4].keys() == b[4].keys(), t
        for key in ("distance", "_distance", "failed", "_failed"):
            assert np.array_equal(a[4].get(key), b[4].get(key)), (key, t)
        if "final_obs" in a[4]:
            assert np.array_equal(a[4]["final_obs"][1], b[4]["final_obs"][1])
            assert np.array_equal(a[4]["final_info"]["distance"], b[4]["final_info"]["distance"])
        if mode == "Disabled" and a[3].any():
            with pytest.raises(ks.Error, match="reset it first"):
                ours.step(actions)
            mask = np.array([True, False, True])
            assert np.array_equal(ours.reset(options={"reset_mask": mask})[0], theirs.reset(options={"reset_mask": mask})[0])
            mask = ~mask
            assert np.array_equal(ours.reset(options={"reset_mask": mask})[0], theirs.reset(options={"reset_mask": mask})[0])


def test_hands_let_go_and_hold():
    """The structure changes: one hand lets go, is brought back, and holds again."""
    envs = learning.WorldVectorEnv("BarSwing", 2)
    envs.reset(seed=1)
    task = envs.task
    assert (task.grips >= 0).all()
    hold = np.zeros((2, 30), np.float32)
    hold[:, -2:] = 1
    for _ in range(5):
        _, _, over, _, info = envs.step(hold)
    assert not over.any()
    assert (info["held"] == 2).all()
    height = envs.batch["human"].q[:, 2].copy()
    left = hold.copy()
    left[0, -2:] = -1  # the first world lets go with both hands
    for _ in range(15):
        _, _, over, _, info = envs.step(left)
    assert list(info["held"]) == [0, 2]
    assert envs.batch["human"].q[0, 2] < height[0] - 0.3
    assert abs(envs.batch["human"].q[1, 2] - height[1]) < 0.05
    left[0, -2:] = [-1, -1]
    envs.reset(options={"reset_mask": np.array([True, False])})
    left[0, -2:] = [-1, 1]
    envs.step(left)
    assert list(task.grips[0] >= 0) == [False, True]
    left[0, -2:] = [1, 1]
    _, _, _, _, info = envs.step(left)  # its hand is still at the bar
    assert list(info["held"]) == [2, 2]


def test_wrong_actions_and_resets():
    envs = learning.WorldVectorEnv("Reach", 2)
    envs.reset(seed=0)
    with pytest.raises(ks.Error, match=r"\(2, 4\)"):
        envs.step(np.zeros((2, 5), np.float32))
    with pytest.raises(ks.Error, match="world 1"):
        envs.step(np.array([[0, 0, 0, 0], [0, np.nan, 0, 0]], np.float32))
    with pytest.raises(ks.Error, match="seeds"):
        envs.reset(seed=[1])
    with pytest.raises(ks.Error, match="reset_mask"):
        envs.reset(options={"reset_mask": [True, False]})
    with pytest.raises(ks.Error, match="Quadruped"):
        learning.WorldEnv("Fly")
    with pytest.raises(ValueError, match="Sometimes"):
        learning.WorldVectorEnv("Reach", 2, autoreset_mode="Sometimes")


def test_single_environments_refuse_wrong_actions():
    env = learning.WorldEnv("Reach")
    env.reset(seed=0)
    for wrong in (np.zeros(3), np.zeros((2, 4)), np.array(["a"] * 4), 0.0, None):
        with pytest.raises(ks.Error, match=r"expected numbers of shape \(1, 4\)"):
            env.step(wrong)


def test_nothing_is_drawn():
    """None is what gymnasium.make() hands on where nobody asks for pictures."""
    assert gym.make("kansetsu/Reach-v0", render_mode=None).unwrapped.render_mode is None
    assert gym.make_vec("kansetsu/Reach-v0", num_envs=2, render_mode=None).render_mode is None
    for make in (learning.WorldEnv, learning.WorldVectorEnv):
        with pytest.raises(ks.Error, match=r"render_mode is 'rgb_array'.*show\(\)"):
            make("Reach", render_mode="rgb_array")


def test_closed_environments_say_so():
    env, envs = learning.WorldEnv("Reach"), learning.WorldVectorEnv("Reach", 2)
    for each, action in ((env, np.zeros(4)), (envs, np.zeros((2, 4)))):
        each.reset(seed=0)
        each.close()
        for call in (each.reset, lambda each=each, action=action: each.step(action)):
            with pytest.raises(gym.error.ClosedEnvironmentError, match="closed"):
                call()


def test_seeds_of_numpy_are_seeds():
    envs = learning.WorldVectorEnv("Reach", 2)
    assert np.array_equal(envs.reset(seed=np.int64(3))[0], envs.reset(seed=3)[0])


def test_worlds_can_be_looked_at():
    env = learning.WorldEnv("Quadruped")
    env.reset(seed=1)
    env.step(np.zeros(12, np.float32))
    world = env.world()
    assert np.array_equal(world["quadruped"].q, env._worlds.batch["quadruped"].q[0])
    before = world.hash()
    env.step(np.ones(12, np.float32))
    other = env.world()
    assert world.hash() == before != other.hash()  # copies
    world.step(10)
    assert other.hash() == env.world().hash()


def test_something_is_learned():
    """A few seconds of the training example on the arm: the mean reward rises well above that of the beginning."""
    spec = importlib.util.spec_from_file_location("ppo", PPO)
    ppo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ppo)
    said = []
    _, curve = ppo.train("Reach", 30_000, 1, n=32, horizon=64, say=said.append)
    assert np.mean(curve[-3:]) > np.mean(curve[:3]) + 0.05, curve
    assert said
