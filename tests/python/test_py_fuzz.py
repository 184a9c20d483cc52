"""Every public function with arguments that are wrong: exceptions, never a crash."""

import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import kansetsu as ks
import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("fuzz_calls.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_crashes(seed, tmp_path):
    command = [sys.executable, PROGRAM, str(seed), "1500"]
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=240)
    last = "\n".join(out.stdout.splitlines()[-3:])
    assert out.returncode == 0, f"seed {seed}: {last}\n{out.stderr[-3000:]}"
    assert "done" in last


def test_eight_threads():
    """Functions of a model from many threads at once, and a world that two fight for: right results, or BusyError.

    On a free-threaded interpreter the package leaves the GIL off.
    """
    if sysconfig.get_config_var("Py_GIL_DISABLED") and os.environ.get("PYTHON_GIL") != "1":
        assert not sys._is_gil_enabled()
    model, fresh = ks.human28(), ks.human28()
    Q = model.random_configuration(1, 200)
    expected = ks.rnea(model, Q)
    world = ks.World.load("human28")
    wrong, busy, steps, names = [], [], [], []

    def work(k):
        names.append(fresh.dofs)  # made when it is first asked for
        for i in range(k, 200, 8):
            if not np.array_equal(ks.rnea(model, Q[i]), ks.rnea(model, Q[i])) or not np.allclose(ks.rnea(model, Q[i]), expected[i]):
                wrong.append(i)
            try:
                world.step()
                steps.append(1)
            except ks.BusyError:
                busy.append(1)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert all(n is names[0] for n in names)
    assert len(steps) + len(busy) == 200
    assert world.time == pytest.approx(len(steps) * world.time_step)
