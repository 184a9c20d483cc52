"""Proximal policy optimisation in NumPy: an arm learns to reach in seconds, a four-legged robot to walk in minutes.

python ppo.py [--task Reach] [--steps 60000] [--seed 1] [--curve curve.csv] [--policy policy.npz]
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kansetsu.learning as learning
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Network:
    """Two layers of tanh, with its gradients and Adam."""

    def __init__(self, rng: np.random.Generator, sizes: list[int], last: float) -> None:
        scale = [1.0] * (len(sizes) - 2) + [last]
        self.weights = [s * rng.standard_normal((a, b)) / np.sqrt(a) for a, b, s in zip(sizes, sizes[1:], scale, strict=False)]
        self.biases = [np.zeros(b) for b in sizes[1:]]
        self.parameters = [*self.weights, *self.biases]

    def __call__(self, x: Array) -> Array:
        self.layers = [x]
        for k, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ w + b
            if k + 1 < len(self.weights):
                x = np.tanh(x)
            self.layers.append(x)
        return x

    def gradients(self, d: Array) -> list[Array]:
        """Of a loss whose derivative by the last output is d."""
        dw, db = [], []
        for k in reversed(range(len(self.weights))):
            if k + 1 < len(self.weights):
                d = d * (1 - self.layers[k + 1] ** 2)
            dw.append(self.layers[k].T @ d)
            db.append(d.sum(axis=0))
            d = d @ self.weights[k].T
        return [*reversed(dw), *reversed(db)]


class Adam:
    """Steps along gradients, which together are no longer than 0.5."""

    def __init__(self, parameters: list[Array]) -> None:
        self.parameters = parameters
        self.m = [np.zeros_like(p) for p in parameters]
        self.v = [np.zeros_like(p) for p in parameters]
        self.t = 0

    def step(self, gradients: list[Array], rate: float) -> None:
        shrink = min(1.0, 0.5 / (1e-9 + np.sqrt(sum(float(np.sum(g * g)) for g in gradients))))
        self.t += 1
        for p, g, m, v in zip(self.parameters, gradients, self.m, self.v, strict=True):
            m += 0.1 * (shrink * g - m)
            v += 0.001 * ((shrink * g) ** 2 - v)
            p -= rate * (m / (1 - 0.9**self.t)) / (np.sqrt(v / (1 - 0.999**self.t)) + 1e-8)


class Scale:
    """Mean and spread of what has been seen, so that networks see numbers of about 1."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.spread = 1e-4, np.zeros(size), np.ones(size)

    def learn(self, x: Array) -> None:
        total = self.count + len(x)
        delta = x.mean(axis=0) - self.mean
        self.spread = (self.count * self.spread + len(x) * x.var(axis=0) + delta**2 * self.count * len(x) / total) / total
        self.mean, self.count = self.mean + delta * len(x) / total, total

    def __call__(self, x: Array) -> Array:
        scaled: Array = np.clip((x - self.mean) / np.sqrt(self.spread + 1e-6), -8, 8)
        return scaled


class Agent:
    """A policy, normal about what one network says, and the value that another expects."""

    def __init__(self, seen: int, actions: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.policy = Network(self.rng, [seen, 64, 64, actions], 0.01)
        self.value = Network(self.rng, [seen, 64, 64, 1], 1.0)
        self.log_std = np.full(actions, -0.7)
        self.scale = Scale(seen)
        self.adam = Adam([*self.policy.parameters, self.log_std])
        self.adam_value = Adam(self.value.parameters)

    def log_probability(self, actions: Array, mean: Array) -> Array:
        """Of actions where the network says `mean`."""
        z = (actions - mean) / np.exp(self.log_std)
        p: Array = -0.5 * np.sum(z * z, axis=1) - np.sum(self.log_std)
        return p

    def improve(self, seen: Array, actions: Array, before: Array, advantage: Array, returns: Array, rate: float) -> None:
        """Five passes over what was done, in parts of 1024."""
        for _ in range(5):
            for part in np.array_split(self.rng.permutation(len(seen)), max(1, len(seen) // 1024)):
                x, a, good = seen[part], actions[part], advantage[part]
                good = (good - good.mean()) / (good.std() + 1e-8)
                mean, std = self.policy(x), np.exp(self.log_std)
                ratio = np.exp(self.log_probability(a, mean) - before[part])
                inside = np.where(good > 0, ratio < 1.2, ratio > 0.8)  # beyond it nothing is gained
                d = (-good * ratio * inside / len(part))[:, None]
                z = (a - mean) / std
                self.adam.step([*self.policy.gradients(d * z / std), np.sum(d * (z * z - 1), axis=0) - 0.002], rate)
                error = self.value(x)[:, 0] - returns[part]
                self.adam_value.step(self.value.gradients(2 * error[:, None] / len(part)), rate)


def advantages(rewards: Array, values: Array, done: Array, last: Array) -> Array:
    """Generalised: discount 0.98, lambda 0.95."""
    out, sum_ = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else last
        sum_ = rewards[t] + 0.98 * following * (1 - done[t]) - values[t] + 0.98 * 0.95 * (1 - done[t]) * sum_
        out[t] = sum_
    return out


Say = Callable[[str], None]


def train(task: str, steps: int, seed: int, *, n: int = 64, horizon: int = 64, say: Say = print) -> tuple[Agent, list[float]]:
    """Learns; the agent and mean rewards of each round."""
    envs = learning.WorldVectorEnv(task, n, threads=2, autoreset_mode="SameStep")
    observation, _ = envs.reset(seed=seed)
    agent = Agent(observation.shape[1], envs.task.actions, seed)
    curve, begin, rounds = [], time.perf_counter(), max(1, steps // (n * horizon))
    info: dict[str, Any] = {}
    for k in range(rounds):
        seen, done_actions, probability, rewards, values, done, earned = [], [], [], [], [], [], 0.0
        for _ in range(horizon):
            raw = observation.astype(float)
            agent.scale.learn(raw)
            x = agent.scale(raw)
            mean = agent.policy(x)
            action = mean + np.exp(agent.log_std) * agent.rng.standard_normal(mean.shape)
            seen.append(x)
            done_actions.append(action)
            values.append(agent.value(x)[:, 0])
            probability.append(agent.log_probability(action, mean))
            observation, reward, over, late, info = envs.step(action.astype(np.float32))
            earned += float(reward.mean()) / horizon
            if late.any():  # cut short, not over: what would have come counts
                final = agent.scale(np.stack(list(info["final_obs"][late])).astype(float))
                reward[late] += 0.98 * agent.value(final)[:, 0] * ~over[late]
            rewards.append(reward)
            done.append((over | late).astype(float))
        last = agent.value(agent.scale(observation.astype(float)))[:, 0]
        gain = advantages(np.array(rewards), np.array(values), np.array(done), last)
        returns = (gain + np.array(values)).ravel()
        flat = [np.concatenate(a) for a in (seen, done_actions, probability)]
        agent.improve(flat[0], flat[1], flat[2], gain.ravel(), returns, 1e-3 * (1 - k / rounds) + 1e-5)
        agent.log_std[:] = np.minimum(agent.log_std, -0.7 - 1.8 * k / rounds)  # in the end it walks without noise
        curve.append(earned)
        if k % 10 == 9 or k + 1 == rounds:
            forward = f", {float(np.mean(info['forward'][info['_forward']])):.2f} m/s forwards" if "forward" in info else ""
            say(f"{(k + 1) * n * horizon:8d} steps, {time.perf_counter() - begin:5.0f} s: reward {curve[-1]:.3f}{forward}")
    return agent, curve


def evaluate(agent: Agent, task: str, seed: int, n: int = 32) -> tuple[float, float, float]:
    """Of n episodes of the policy without noise: the mean return, its spread, and the share that last to the end."""
    envs = learning.WorldVectorEnv(task, n, threads=2)
    observation, _ = envs.reset(seed=seed)
    alive, returns, late = np.ones(n, dtype=bool), np.zeros(n), np.zeros(n, dtype=bool)
    while alive.any():
        actions = agent.policy(agent.scale(observation.astype(float))).astype(np.float32)
        observation, reward, over, late_now, _ = envs.step(actions)
        returns += alive * reward
        late |= alive & late_now & ~over
        alive &= ~(over | late_now)
    return float(returns.mean()), float(returns.std()), float(late.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="Reach", choices=learning.TASKS)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curve", type=Path, help="write steps and mean rewards to this file")
    parser.add_argument("--policy", type=Path, help="write the weights to this file")
    options = parser.parse_args()
    learned, rewards_of_rounds = train(options.task, options.steps, options.seed)
    print("return {:.1f} ± {:.1f} of 32 episodes without noise; {:.0%} last to the end".format(*evaluate(learned, options.task, 1000)))
    if options.curve:
        rows = np.stack([np.arange(1, len(rewards_of_rounds) + 1) * 4096, rewards_of_rounds], axis=1)
        np.savetxt(options.curve, rows, fmt=("%d", "%.4f"), delimiter=",", header="steps,reward", comments="")
    if options.policy:
        arrays: dict[str, Any] = {"mean": learned.scale.mean, "spread": learned.scale.spread}
        arrays |= {f"w{k}": w for k, w in enumerate(learned.policy.weights)} | {f"b{k}": b for k, b in enumerate(learned.policy.biases)}
        np.savez(options.policy, **arrays)
