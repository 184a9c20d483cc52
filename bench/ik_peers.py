#!/usr/bin/env python3
"""The loops of pink and mink on the targets that bench_ik wrote.

usage: bench/ik_peers.py URDF LINK TARGETS.json [--count N] [--json FILE]

Each library is used as its own examples do: a frame task, its differential step with the joint limits, integrated with unit
gain, until the pose is within 1e-6 m and 1e-6 rad; 100 steps a start, up to 20 starts, the first as bench_ik's. A library that is not
installed is left out. Prints a row each: solved, median and mean time per target; --json writes them.
"""

import argparse
import json
import statistics
import tempfile
import time
import xml.etree.ElementTree as ET
from importlib import metadata

import numpy as np

STEPS, STARTS, ACCURACY = 100, 20, 1e-6


def arm_alone(urdf, link, moving):
    """The file with nothing but the joints on the way to the link that move, and without geometry, which neither loop needs, so that
    no mesh must be found. Returns it with these joints' names, from the base on."""
    tree = ET.parse(urdf)
    for body in tree.getroot().iter("link"):
        for name in ("visual", "collision"):
            for child in body.findall(name):
                body.remove(child)
    above = {joint.find("child").get("link"): joint for joint in tree.getroot().findall("joint")}
    names, at = [], link
    while at in above:
        if above[at].get("type") != "fixed" and above[at].get("name") in moving:
            names.insert(0, above[at].get("name"))
        at = above[at].find("parent").get("link")
    for joint in above.values():
        if joint.get("name") in names:
            continue
        joint.set("type", "fixed")
        for child in joint.findall("mimic"):
            joint.remove(child)
    with tempfile.NamedTemporaryFile(suffix=".urdf", delete=False) as file:
        tree.write(file)
    return file.name, names


class Pink:
    name = "pink"

    def __init__(self, urdf, link):
        import pink
        import pinocchio as pin
        self.pink, self.pin = pink, pin
        self.version = metadata.version("pin-pink")
        self.model = pin.buildModelFromUrdf(urdf)
        self.data = self.model.createData()
        self.task = pink.tasks.FrameTask(link, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        import qpsolvers
        self.solver = "daqp" if "daqp" in qpsolvers.available_solvers else "quadprog"
        self.lower, self.upper = self.model.lowerPositionLimit, self.model.upperPositionLimit
        self.model.velocityLimit[:] = 1e6  # a step is no motion: the loop shall take the steps it wants

    def attempt(self, q, target):
        self.task.set_target(self.pin.SE3(target[:3, :3], target[:3, 3]))
        configuration = self.pink.Configuration(self.model, self.data, q)
        for _ in range(STEPS):
            error = self.task.compute_error(configuration)
            if np.linalg.norm(error[:3]) < ACCURACY and np.linalg.norm(error[3:]) < ACCURACY:
                return True
            try:
                velocity = self.pink.solve_ik(configuration, [self.task], 1.0, solver=self.solver)
            except Exception:  # what its solvers raise where they find nothing
                return False
            configuration.integrate_inplace(velocity, 1.0)
        return False


class Mink:
    name = "mink"

    def __init__(self, urdf, link):
        import mink
        import mujoco
        self.mink = mink
        self.version = metadata.version("mink")
        spec = mujoco.MjSpec.from_file(urdf)
        spec.compiler.fusestatic = False
        self.model = spec.compile()
        self.task = mink.FrameTask(link, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        self.limits = [mink.ConfigurationLimit(self.model)]
        self.lower, self.upper = self.model.jnt_range.T

    def attempt(self, q, target):
        self.task.set_target(self.mink.SE3.from_matrix(target))
        configuration = self.mink.Configuration(self.model, q)
        for _ in range(STEPS):
            error = self.task.compute_error(configuration)
            if np.linalg.norm(error[:3]) < ACCURACY and np.linalg.norm(error[3:]) < ACCURACY:
                return True
            try:
                velocity = self.mink.solve_ik(configuration, [self.task], 1.0, solver="daqp", limits=self.limits)
            except Exception:
                return False
            configuration.integrate_inplace(velocity, 1.0)
        return False


def measure(peer, start, targets):
    rng = np.random.default_rng(1)
    times, solved = [], 0
    for target in targets:
        begin = time.perf_counter()
        for attempt in range(STARTS):
            q = start.copy() if attempt == 0 else rng.uniform(peer.lower, peer.upper)
            if peer.attempt(q, target):
                solved += 1
                break
        times.append(1e6 * (time.perf_counter() - begin))
    print(f"{peer.name:<34} {100 * solved / len(targets):8.2f} % {statistics.median(times):10.1f} "
          f"{statistics.mean(times):10.1f}", flush=True)
    return {"solver": peer.name, "version": peer.version, "mode": "limits", "targets": len(targets),
            "solved_percent": 100 * solved / len(targets), "us_median": statistics.median(times),
            "us_mean": statistics.mean(times)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf")
    parser.add_argument("link")
    parser.add_argument("targets")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--json")
    options = parser.parse_args()
    with open(options.targets, encoding="utf-8") as file:
        given = json.load(file)
    targets = [np.array(t) for t in given["targets"][:options.count]]
    urdf, names = arm_alone(options.urdf, options.link, given["start"])
    start = np.array([given["start"][name] for name in names])
    print(f"{'':<34} {'solved':>10} {'median us':>10} {'mean us':>10}")
    rows = []
    for peer in (Pink, Mink):
        try:
            made = peer(urdf, options.link)
        except ImportError as error:
            print(f"{peer.name}: not installed ({error})")
            continue
        rows.append(measure(made, start, targets))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
