"""States on a CUDA device: tensors by DLPack, arrays by copies, beside the processor's results. Without a device: what is said then."""

import importlib.util
import sys
import types

import kansetsu as ks
import numpy as np
import pytest
from kansetsu import _device

SEED = 3
FUNCTIONS = ["fk", "rnea", "crba", "aba", "mass_matrix_inverse", "rnea_derivatives", "aba_derivatives"]
# Beside the largest number of a result. The same kernels in another order; rows of float32 on the processor are within 6e-6.
TOLERANCE = {"float64": 1e-11, "float32": 1e-4}


def device_count():
    if importlib.util.find_spec("kansetsu._cuda") is None:
        return 0
    from kansetsu import _cuda

    return _cuda.device_count()


needs_device = pytest.mark.skipif(device_count() == 0, reason="no CUDA device, or kansetsu-cuda is not installed")


def states(model, count, dtype="float64"):
    """Postures near the neutral one: where three hinges of a joint come to lie in a plane, float32 has no digit left."""
    v, x, way = np.random.default_rng(SEED).normal(size=(3, count, model.nv))
    q = ks.integrate(model, np.tile(model.q0, (count, 1)), way, 0.2)
    return [a.astype(dtype) for a in (q, v, x)]


def call(function, model, q, v, x, **options):
    arguments = (q,) if function in ("fk", "crba", "mass_matrix_inverse") else (q, v, x)
    found = getattr(ks, function)(model, *arguments, **options)
    if function == "fk":
        found = found.data
    return found if isinstance(found, tuple) else (found,)


def close(found, expected, dtype):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        a = np.asarray(a)
        assert str(a.dtype) == dtype
        assert a.shape == b.shape
        assert np.abs(a - b).max() <= TOLERANCE[dtype] * np.abs(b).max(), f"seed {SEED}"


def packages():
    """Packages of tensors on devices that are installed: how an array gets there and back."""
    found = []
    if importlib.util.find_spec("torch"):
        import torch

        found.append(("torch", lambda a: torch.from_numpy(a).cuda(), lambda t: t.cpu().numpy()))
    if importlib.util.find_spec("cupy"):
        import cupy

        found.append(("cupy", cupy.asarray, cupy.asnumpy))
    if importlib.util.find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        found.append(("jax", lambda a: jax.device_put(a, jax.devices("gpu")[0]), np.asarray))
    return found


@needs_device
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_go_there_and_back(function, dtype, human):
    Q = states(human, 1000, dtype)
    close(call(function, human, *Q, device="cuda"), call(function, human, *states(human, 1000)), dtype)


@needs_device
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_tensors_stay_there(function, dtype, human):
    expected = call(function, human, *states(human, 300))
    for name, to_device, to_host in packages():
        tensors = [to_device(a) for a in states(human, 300, dtype)]
        found = call(function, human, *tensors)
        assert all(type(t) is type(tensors[0]) for t in found), name
        close([to_host(t) for t in found], expected, dtype)


@needs_device
def test_rows_vectors_and_strides(human):
    """One row beside many, what is left out, columns of a larger tensor, no rows; nothing is copied on the way in."""
    Q, V, _ = states(human, 64)
    for name, to_device, to_host in packages():
        q, v = to_device(Q), to_device(V)
        close([to_host(ks.rnea(human, q, v[0]))], [ks.rnea(human, Q, V[0])], "float64")
        close([to_host(ks.gravity_torque(human, q))], [ks.gravity_torque(human, Q)], "float64")
        close([to_host(ks.aba(human, q, None, v))], [ks.aba(human, Q, None, V)], "float64")
        if name != "jax":  # whose slices are copies
            wide = to_device(np.concatenate([Q, V], axis=1))
            close([to_host(ks.bias(human, wide[:, :35], wide[:, 35:]))], [ks.bias(human, Q, V)], "float64")
        assert tuple(ks.rnea(human, q[:0]).shape) == (0, 34)


@needs_device
def test_streams_of_torch_wait_for_each_other(human):
    torch = pytest.importorskip("torch")
    Q, V, T = states(human, 20_000)
    expected = ks.aba(human, Q, V, T)
    tensors = [torch.from_numpy(a).cuda() for a in (Q, V, T)]
    torch.cuda.synchronize()
    streams, found = [torch.cuda.Stream() for _ in range(3)], []
    for _ in range(4):
        for stream in streams:
            with torch.cuda.stream(stream):
                found.append(ks.aba(human, *tensors))
    torch.cuda.synchronize()
    for x in found:
        close([x.cpu().numpy()], [expected], "float64")


@needs_device
def test_what_is_wrong_there_is_said(human):
    for _, to_device, _ in packages():
        q, v = to_device(np.asarray(human.random_configuration(1, 8))), to_device(np.zeros((8, 34)))
        for wrong, message in ((v[:7], r"\(7, 34\), expected \(8, 34\)"), (to_device(np.zeros((8, 34), "float32")), "float64")):
            with pytest.raises(ks.Error, match=message):
                ks.rnea(human, q, wrong)
        with pytest.raises(ks.Error, match="another argument is not"):
            ks.rnea(human, q, np.zeros((8, 34)))
        with pytest.raises(ks.Error, match="external is not offered"):
            ks.rnea(human, q, external=np.zeros((29, 6)))
        with pytest.raises(ks.Error, match=r"expected \(N, 35\)"):
            ks.rnea(human, q[0])
        with pytest.raises(TypeError, match="dtype"):
            ks.rnea(human, to_device(np.zeros((8, 35), "int32")))
    with pytest.raises(ks.Error, match="there is no device cuda:99"):
        ks.rnea(human, np.zeros((2, 35)), device="cuda:99")


class Tensor:
    """What DLPack says of a tensor; on a device that is not there."""

    def __init__(self, array, device=(2, 0)):
        self.array, self.shape, self.dtype, self.device = array, array.shape, array.dtype, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **options):
        return ("capsule", self.array, stream) if self.device[0] == 2 else self.array.__dlpack__(**options)


def test_tensors_of_the_host_are_read_in_place(human):
    """DLPack is all that such a tensor has."""
    q = np.asarray(human.random_configuration(2, 5))
    assert np.array_equal(ks.rnea(human, Tensor(q, (1, 0))), ks.rnea(human, q))
    torch = pytest.importorskip("torch")
    assert np.array_equal(ks.rnea(human, torch.from_numpy(q)), ks.rnea(human, q))


def test_without_a_device_it_is_said(human, monkeypatch):
    with pytest.raises(ks.Error, match="device is 'gpu', expected 'cuda'"):
        ks.aba(human, np.zeros((2, 35)), device="gpu")
    monkeypatch.setitem(sys.modules, "kansetsu._cuda", None)
    for function in FUNCTIONS:
        for q in (human.random_configuration(1, 2), Tensor(human.random_configuration(1, 2))):
            with pytest.raises(ks.Error, match="kansetsu-cuda"):
                call(function, human, q, None, None, device="cuda")
    no_device = types.SimpleNamespace(version=ks.__version__, device_count=lambda: 0)
    monkeypatch.setitem(sys.modules, "kansetsu._cuda", no_device)
    with pytest.raises(ks.Error, match="no CUDA device"):
        ks.rnea(human, np.zeros((2, 35)), device="cuda")
    no_device.version = "0.0"
    with pytest.raises(ks.Error, match=r"version 0\.0, expected"):
        ks.rnea(human, np.zeros((2, 35)), device="cuda")


def test_what_reaches_the_kernels(human, monkeypatch):
    """The way to the device and back, with kernels that only note what they are called with."""
    calls = []

    class DeviceModel:
        def __init__(self, model, device):
            calls.append(("made", device))

        def run(self, function, inputs, outputs, stream):
            calls.append((function, inputs, outputs, stream))

        def run_host(self, function, inputs, outputs):
            calls.append((function, inputs, outputs))
            outputs[0][:] = 1

    kernels = types.SimpleNamespace(
        version=ks.__version__,
        device_count=lambda: 2,
        DeviceModel=DeviceModel,
        empty=lambda shape, is_double, device: Tensor(np.zeros(shape, "float64" if is_double else "float32"), (2, device)),
        synchronize=lambda device, stream: calls.append(("synchronize", device)),
    )
    monkeypatch.setitem(sys.modules, "kansetsu._cuda", kernels)
    model, q = ks.human28(), np.tile(human.q0, (4, 1))
    v = np.arange(34.0)
    found = ks.rnea(model, q, v, device="cuda:1")
    assert calls[0] == ("made", 1)
    assert found.shape == (4, 34)
    assert (found == 1).all()
    _, inputs, _ = calls[1]
    assert [x.shape for x in inputs] == [(4, 35), (4, 34), (4, 34)]
    assert np.array_equal(inputs[1][2], v)
    assert not inputs[2].any()
    calls.clear()
    dq, _, _, vdot = ks.aba_derivatives(model, Tensor(q, (2, 1)), Tensor(v, (2, 1)))
    assert (dq.shape, vdot.shape) == ((4, 34, 34), (4, 34))
    function, inputs, outputs, stream = calls[0]
    assert (function, stream, calls[1]) == ("aba_derivatives", 0, ("synchronize", 1))
    assert inputs[0][1] is q, "copied on the way"
    assert inputs[2] is None
    assert outputs[0][1] is dq.array
    for wrong, error, message in (
        (np.zeros((4, 34)), ks.Error, "another argument is not"),
        ([0.0] * 34, TypeError, "another argument is a 'list'"),
    ):
        with pytest.raises(error, match=message):
            ks.rnea(model, Tensor(q, (2, 1)), wrong)
    with pytest.raises(ks.Error, match="q is on cuda:1"):
        ks.rnea(model, Tensor(q, (2, 1)), device="cuda:0")
    with pytest.raises(TypeError, match="int64"):
        ks.rnea(model, Tensor(q.astype(int), (2, 1)))
    for shape in ((35,), (4, 34), (2, 4, 35)):
        with pytest.raises(ks.Error, match=r"expected \(N, 35\)"):
            ks.crba(model, np.zeros(shape), device="cuda")
    assert _device.device_of(q) is None
