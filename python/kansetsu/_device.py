"""States on a CUDA device: its tensors in and out without a copy, by DLPack; NumPy arrays by copies there and back.

The kernels are in kansetsu._cuda, which the wheel kansetsu-cuda brings.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import numpy as np

from . import _core
from ._errors import Error

_CUDA = 2  # DLPack's number for CUDA devices
_DEFAULT_STREAM = 1  # and for their default stream

# What each function gives for a state.
_RESULTS: dict[str, tuple[str, ...]] = {
    "fk": ("poses",),
    "rnea": ("vector",),
    "crba": ("matrix",),
    "aba": ("vector",),
    "mass_matrix_inverse": ("matrix",),
    "rnea_derivatives": ("matrix", "matrix", "matrix"),
    "aba_derivatives": ("matrix", "matrix", "matrix", "vector"),
}


def device_of(x: Any) -> int | None:
    """The number of the CUDA device that a tensor is on; None: it is not on one."""
    asked = getattr(x, "__dlpack_device__", None)
    if asked is None or isinstance(x, np.ndarray):
        return None
    kind, number = asked()
    return int(number) if int(kind) == _CUDA else None


def call(function: str, model: _core.Model, device: str | None, *arguments: Any) -> Any:
    """The function on a device. arguments: q, then what it takes beside it; None is zero."""
    q = arguments[0]
    number = _number(function, device, device_of(q))
    kernels = _kernels(function)
    kept: dict[int, Any] = model._devices  # type: ignore[attr-defined]  # stubs have no private names
    if number not in kept:
        kept[number] = kernels.DeviceModel(_core.model_capsule(model), number)
    shape = tuple(q.shape) if hasattr(q, "shape") else np.shape(q)
    if len(shape) != 2 or shape[1] != model.nq:
        raise Error(f"{function}: q has shape {shape}, expected (N, {model.nq}) for model '{model.name}' on a device")
    sizes = {"poses": (len(model.links), 12), "vector": (model.nv,), "matrix": (model.nv, model.nv)}
    shapes = [(int(shape[0]), *sizes[kind]) for kind in _RESULTS[function]]
    if device_of(q) is None:
        found = _on_host(function, model, kept[number], arguments, shapes)
    else:
        found = _on_device(function, kernels, kept[number], number, arguments, shapes)
    return found[0] if len(found) == 1 else tuple(found)


def _number(function: str, device: str | None, of_tensor: int | None) -> int:
    named = re.fullmatch(r"cuda(?::(\d{1,4}))?", "cuda" if device is None else device)
    if named is None:
        raise Error(f"{function}: device is {device!r}, expected 'cuda' or 'cuda:N'; without it the processor computes")
    if of_tensor is not None and named[1] is not None and int(named[1]) != of_tensor:
        raise Error(f"{function}: device is {device!r}, but q is on cuda:{of_tensor}")
    return of_tensor if of_tensor is not None else int(named[1] or 0)


def _kernels(function: str) -> Any:
    try:
        kernels = importlib.import_module("kansetsu._cuda")
    except ImportError as error:
        raise Error(
            f"{function}: CUDA devices need the package kansetsu-cuda (pip install kansetsu-cuda; script/wheel --cuda makes it): {error}"
        ) from error
    if kernels.version != _core.version:
        raise Error(f"{function}: kansetsu-cuda is version {kernels.version}, expected {_core.version} as kansetsu")
    if kernels.device_count() == 0:
        raise Error(f"{function}: there is no CUDA device, or no driver for it")
    return kernels


def _on_host(function: str, model: _core.Model, batch: Any, arguments: tuple[Any, ...], shapes: list[tuple[int, ...]]) -> list[Any]:
    q = np.asarray(arguments[0])
    real = np.float32 if q.dtype == np.float32 else np.float64
    rows, inputs = len(q), []
    for k, x in enumerate(arguments):
        width = model.nv if k else model.nq
        row = np.asarray(np.zeros(width) if x is None else x)
        if row.dtype.kind not in "fiub":
            raise TypeError(f"{function}: argument {k} has dtype {row.dtype}, expected real numbers")
        if row.shape not in ((width,), (rows, width)):
            raise Error(f"{function}: argument {k} after the model has shape {row.shape}, expected ({rows}, {width}) or ({width},)")
        inputs.append(np.ascontiguousarray(np.broadcast_to(row, (rows, width)), dtype=real))
    outputs = [np.empty(shape, dtype=real) for shape in shapes]
    if rows:
        batch.run_host(function, inputs, outputs)
    return outputs


def _on_device(
    function: str, kernels: Any, batch: Any, number: int, arguments: tuple[Any, ...], shapes: list[tuple[int, ...]]
) -> list[Any]:
    q = arguments[0]
    package = sys.modules.get(type(q).__module__.split(".")[0])
    name = getattr(package, "__name__", "")
    stream = _stream(name, package, number)
    inputs = [_capsule(function, x, stream) for x in arguments]
    if not str(q.dtype).endswith(("float32", "float64")):
        raise TypeError(f"{function}: q has dtype {q.dtype}, expected float32 or float64")
    is_double = str(q.dtype).endswith("float64")
    if name == "torch":
        outputs = [q.new_empty(shape) for shape in shapes]
    else:
        outputs = [kernels.empty(list(shape), is_double, number) for shape in shapes]
    if shapes[0][0]:
        batch.run(function, inputs, [x.__dlpack__(stream=stream or _DEFAULT_STREAM) for x in outputs], stream)
    if name == "torch":
        return outputs
    kernels.synchronize(number, stream)  # others cannot be told which stream the results come from
    if name == "jaxlib":
        package = importlib.import_module("jax.numpy")
    return [package.from_dlpack(x) if hasattr(package, "from_dlpack") else x for x in outputs]  # type: ignore[union-attr]


def _stream(name: str, package: Any, number: int) -> int:
    """The stream that the tensor's package works in; 0 is the default one."""
    if name == "torch":
        return int(package.cuda.current_stream(number).cuda_stream)
    if name == "cupy":
        return int(package.cuda.get_current_stream(number).ptr)
    return 0


def _capsule(function: str, x: Any, stream: int) -> Any:
    """What DLPack hands over, ready in the stream."""
    if x is None:
        return None
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{function}: q is on a device, but another argument is a '{type(x).__name__}'")
    if device_of(x) is None:
        raise Error(f"{function}: q is on a device, but another argument is not")
    return x.__dlpack__(stream=stream or _DEFAULT_STREAM)
