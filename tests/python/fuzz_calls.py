"""Calls every public function with arguments that are wrong in some way. A program of its own: a crash ends it; its last line says where.

python fuzz_calls.py SEED CALLS
"""

import faulthandler
import inspect
import random
import re
import resource
import sys
import warnings

import kansetsu as ks
import numpy as np

ALLOWED = (ks.Error, TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, MemoryError, OSError)
EXCLUDED = {"show", "open", "advance", "save"}  # browsers; hours of stepping; files by a positional path


def made():
    """What valid calls are made of."""
    model = ks.human28()
    world = ks.World.load("human28")
    batch = ks.WorldBatch(world, 3)
    return model, world, batch


def nasty(rng, model, world, batch):
    """One value that is probably wrong."""
    nq, nv = model.nq, model.nv
    shape = rng.choice([(nq,), (nv,), (3, nq), (3, nv), (0, nq), (nq + 1,), (), (0,), (2, 3, 4), (nv, nv), (4, 4), (7,), (3,), (6,)])
    array = np.zeros(shape)
    kinds = [
        lambda: None,
        lambda: rng.choice([True, -1, 0, 1, 3, 300, -(2**31), 2**31, 2**63, 2**70]),
        lambda: rng.choice([0.5, -0.0, 1e308, -1e-300, float("nan"), float("inf"), -float("inf")]),
        lambda: rng.choice(["", "human28", "elbowL_y", "no such", "x" * 1000, "/", "a/b", "\0", "…", "weld", b"bytes"]),
        lambda: rng.choice([[], (), [1, 2], [[1, 2], [3]], [None], ["a"], {}, {"a": 1}, {"elbowL_y": {"kp": float("nan")}}, range(3)]),
        lambda: array,
        lambda: array.astype(rng.choice([np.float32, np.int64, np.complex128, np.bool_, np.uint8, np.float16, object])),
        lambda: np.full(shape, rng.choice([np.nan, np.inf, 1e300, 1e-300, -1.0])),
        lambda: np.array(["text", "more"]),
        lambda: np.zeros((6, 70))[::2, ::2],
        lambda: np.zeros(shape, order="F"),
        lambda: np.zeros(shape, dtype=">f8"),
        lambda: model.q0,
        lambda: np.tile(model.q0, (3, 1)),
        lambda: rng.choice([model, world, batch, world["human28"], world["human28"]["gripL"], ks.Plane(), ks.Sphere(0.1), ks.Material()]),
        lambda: rng.choice([lambda *a: None, int, ks.Error("x"), object(), iter([1])]),
        lambda: world.save(),
    ]
    return rng.choice(kinds)()


def targets(model, world, batch):
    """Everything public that can be called, under its name."""
    found = {}

    def add(prefix, thing):
        for name in dir(thing):
            if name.startswith("_") and name not in ("__getitem__", "__setstate__", "__len__"):
                continue
            if name in EXCLUDED or inspect.ismodule(getattr(type(thing), name, None)):
                continue
            try:
                member = getattr(thing, name)
            except ALLOWED:
                continue
            if callable(member) and not inspect.ismodule(member) and (getattr(member, "__module__", "") or "").split(".")[0] != "numpy":
                found[f"{prefix}.{name}"] = member

    add("ks", ks)
    for part in ("ik", "motion", "bridges", "rollouts"):
        add(f"ks.{part}", getattr(ks, part))
    add("World", world)
    add("Model", model)
    add("Figure", world["human28"])
    add("Body", world["human28"]["gripL"])
    add("WorldBatch", batch)
    add("BatchFigure", batch["human28"])
    add("Snapshot", world.save())
    for name, thing in objects(model, world):
        add(name, thing)
    return found


def objects(model, world):
    """One of each kind that is made by a call, some of them closed."""
    recorder = world.record("fuzz.mcap")
    world.step()
    recorder.close()
    held, gone = world.connect(None, "human28/gripL", mask="point"), world.connect(None, "human28/gripR", mask="point")
    gone.release()
    world.step()
    problem = ks.ik.Problem(model).pose("gripL", np.eye(4), name="hand")
    arm = ks.extract_subtree(model, "UpperArmL", "fixed")
    return [
        ("ClosedRecorder", recorder),
        ("Connection", held),
        ("ClosedConnection", gone),
        ("Recording", ks.read("fuzz.mcap")),
        ("ModelBuilder", ks.ModelBuilder("b").link("a").link("c", 1.0)),
        ("Constraints", ks.Constraints(model)),
        ("Response", ks.Response(model)),
        ("Problem", problem),
        ("Solver", ks.ik.Solver(problem)),
        ("Differential", ks.ik.Differential(problem)),
        ("ArmSolver", ks.ik.ArmSolver(arm, arm.links[-1])),
        ("Clip", ks.motion.squat(model, 0.2, 1.0, 1)),
        ("Names", model.dofs),
        ("Poses", ks.fk(model, model.q0)),
    ]


def keywords(function):
    """Names of arguments, by the signature or by what the extension writes of it."""
    try:
        return [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    except (TypeError, ValueError):
        return re.findall(r"[(,] *(\w+)(?=:)", (function.__doc__ or "").split(") ->")[0])


def write_arrays(rng, world, batch, value):
    """Nonsense in a live array, which the next step has to refuse or bear."""
    figure, many = world["human28"], batch["human28"]
    array = rng.choice([figure.q, figure.v, figure.tau, figure.control, many.q, many.v, many.tau, many.control])
    before = array.copy()
    try:
        array[rng.choice([..., 0, slice(None, None, 2), "elbowL_y", (..., "kneeL_y")])] = value
        world.step()
        batch.step()
    finally:
        array[:] = before


def valid(model, world, batch):
    """Calls that work, of which one argument is then spoilt."""
    q, v = model.q0, model.v0
    rows = np.tile(q, (3, 1))
    calls = {
        name: (model, q, v, v) for name in ("rnea", "aba", "integrate", "difference", "energy", "bias", "coriolis_matrix", "link_motions")
    }
    calls |= {name: (model, q) for name in ("fk", "crba", "gravity_torque", "center_of_mass", "mass_matrix_inverse", "normalise")}
    calls |= {"ks.jacobian": (model, q, "gripL"), "ks.solve_mass_matrix": (model, q, v), "ks.scale": (model, 1.1, 1.2)}
    calls |= {"ks.chain": (3,), "ks.rope": (3,), "ks.pendulum": (2,), "ks.lock_joints": (model, ["elbowL_y"], q)}
    calls |= {"ks.WorldBatch": (world, 2), "WorldBatch.reset": (world.save(), [0, 1]), "WorldBatch.step": (1,)}
    calls |= {"WorldBatch.rollout": ("human28", np.zeros((3, 2, 34))), "WorldBatch.connect": (0, None, ("human28", "gripL"))}
    calls |= {"World.step": (1,), "World.assemble": (1e-12, 10)}
    calls |= {"World.connect": (None, "human28/gripL"), "World.grab": (None, "human28/gripL"), "World.restore": (world.save(),)}
    calls |= {"World.add_fixed": (ks.Plane(),), "World.add_controller": ("c", "human28", "pd", {"elbowL_y": {"kp": 1.0}})}
    calls |= {"ks.ik.solve": (model, "gripL", np.eye(4)), "ks.pose": ([0, 0, 0],), "ks.named": (rows, model.coordinates)}
    return {name if "." in name else f"ks.{name}": arguments for name, arguments in calls.items()}


def main(seed, count):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # nothing takes all the memory
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    model, world, batch = made()
    raised = returned = 0
    for k in range(count):
        if k % 100 == 0:
            model, world, batch = made()
            all_targets, calls = targets(model, world, batch), valid(model, world, batch)
            all_targets["write"] = write_arrays
        name = rng.choice(sorted(calls) if rng.random() < 0.4 else [*sorted(all_targets), *["write"] * 20])
        function = all_targets[name]
        arguments = list(calls.get(name, ()))
        if arguments:
            arguments[rng.randrange(len(arguments))] = nasty(rng, model, world, batch)
        else:
            arguments = [nasty(rng, model, world, batch) for _ in range(rng.randrange(5))]
        named = {}
        if rng.random() < 0.3 and (known := [k for k in keywords(function) if k not in ("self", "path", "file")]):
            named = {rng.choice(known): nasty(rng, model, world, batch)}
        if name == "write":
            arguments, named = [rng, world, batch, nasty(rng, model, world, batch)], {}
        numbers = [a for a in [*arguments, *named.values()] if isinstance(a, (int, float)) and not isinstance(a, bool)]
        if name in SLOW and any(abs(a) > 10_000 for a in numbers):
            continue
        said = ", ".join(f"{type(a).__name__} {a!r:.80}" for a in [*arguments, *named.items()])
        print(f"{k}: {name}({said})".replace("\n", " "), flush=True)
        try:
            function(*arguments, **named)
            returned += 1
        except ALLOWED:
            raised += 1
    print(f"done: {raised} raised, {returned} returned")


SLOW = {"World.step", "WorldBatch.step", "ks.chain", "ks.rope", "ks.pendulum"}

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
