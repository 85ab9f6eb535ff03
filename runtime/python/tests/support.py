"""What the tests share: libraries made for them, the fake driver, and tensors in host memory without PyTorch.

FLASHLOOM_RUNTIME names libfa_runtime.so, FLASHLOOM_TEST_DRIVER the fake libcuda.so.1 (runtime/test/FakeCuda.cpp): its
device memory is the host's, and its kernels compute bf16 attention.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import random
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

_FIELDS = {
    "format": "cubin", "arch": "sm_80", "pass": "fwd", "dtype": "bf16", "head_dim": 8, "head_dim_v": 8,
    "variant": "full", "pipeline": "fa2", "gqa": True, "entry": "attention", "hash": "0af3", "block": 128,
    "shared_bytes": 1024, "registers": 64, "spill_bytes": 0, "ptxas": "13.0", "schedule": "",
}  # fmt: skip
_PARAMS = [
    *({"kind": "tensor", "name": name, "rank": 4} for name in "qkv"),
    {"kind": "f32", "name": "scale"},
    {"kind": "tensor", "name": "o", "rank": 4},
    {"kind": "tensor", "name": "lse", "rank": 3},
]
_GRID = [{"tensor": "o", "dim": dim, "tile": 1} for dim in (2, 1, 0)]


def use_fake_driver() -> ctypes.CDLL:
    """Loads the fake driver, which later searches for libcuda.so.1 find by its name."""
    return ctypes.CDLL(os.environ["FLASHLOOM_TEST_DRIVER"])


def kernel(name: str, **fields) -> dict:
    """A manifest's entry: bf16, head_dim 8, full, with grouped heads; `fields` replace those."""
    return {**_FIELDS, "params": _PARAMS, "grid": _GRID, "name": name, "file": f"{name}.cubin", **fields}


def extras_kernel(name: str, **fields) -> dict:
    """An entry that also takes the tensor `ids`, i32 [batch], and the scalars `cap` of f32 and `first` of i32."""
    extras = [
        {"kind": "tensor", "name": "ids", "dtype": "i32", "rank": 1, "sizes": [["batch"]]},
        {"kind": "scalar", "name": "cap", "dtype": "f32"},
        {"kind": "scalar", "name": "first", "dtype": "i32"},
    ]
    return kernel(name, params=_PARAMS + extras, **fields)


def decode_kernel(name: str, **fields) -> dict:
    """An entry of two launches with a workspace of f32 [batch, heads, seq_q, 8] between them."""
    entry = kernel(name, **fields)
    launch = {field: entry.pop(field) for field in ("entry", "block", "shared_bytes", "registers", "spill_bytes")}
    del entry["grid"]
    parts, merge = ["q", "k", "v", "scale", "acc"], ["acc", "scale", "o", "lse"]
    entry["workspaces"] = [{"name": "acc", "dtype": "f32", "sizes": ["batch", "heads", "seq_q", 8]}]
    entry["launches"] = [
        {**launch, "args": parts, "grid": [{"arg": 4, "dim": 0, "tile": 1}]},
        {**launch, "args": merge, "grid": [{"arg": 2, "dim": 0, "tile": 1}]},
    ]
    return entry


def lists_kernel(name: str, **fields) -> dict:
    """An entry of two launches, of which the first makes lists from `ids`, i32 [batch], for the second."""
    entry = decode_kernel(name, **fields)
    ids = {"kind": "tensor", "name": "ids", "dtype": "i32", "rank": 1, "sizes": [["batch"]]}
    entry["params"] = [*_PARAMS, ids]
    entry["launches"][0] |= {"args": ["ids", "acc"], "grid": [{"arg": 1, "dim": 0, "tile": 1}], "prepares": True}
    return entry


class Folder(tempfile.TemporaryDirectory):
    """A temporary kernel library. A kernel's image, whose words the fake driver reads, is "idle" where its name has
    that, else its variant."""

    def __init__(self, *kernels: dict) -> None:
        super().__init__(prefix="flashloom-test-")
        manifest = {"flashloom": 1, "generator": "test", "kernels": kernels}
        Path(self.name, "manifest.json").write_text(json.dumps(manifest))
        for entry in kernels:
            image = "idle" if "idle" in entry["name"] else entry["variant"]
            Path(self.name, entry["file"]).write_text(image)


class HostTensor:
    """A tensor in host memory with PyTorch's names. `dtype` is a text that ends in PyTorch's name of the type."""

    def __init__(self, shape, strides=None, dtype="torch.bfloat16", memory=None, address=None) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.strides = tuple(strides) if strides else dense_strides(self.shape)
        size = 4 if "32" in dtype else 2
        extent = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        # 64 bytes more, to begin at a multiple of 16.
        self.memory = memory or ctypes.create_string_buffer(size * extent + 64)
        self.address = address or (ctypes.addressof(self.memory) + 15) // 16 * 16

    def stride(self):
        return self.strides

    def data_ptr(self):
        return self.address

    def get_device(self):
        return 0

    def place(self, *index) -> int:
        """The address of an element."""
        offset = sum(i * s for i, s in zip(index, self.strides))
        return self.address + offset * (4 if "32" in self.dtype else 2)

    def __getitem__(self, index) -> float:
        place = self.place(*index)
        if "32" in self.dtype:
            return ctypes.c_float.from_address(place).value
        return struct.unpack("<f", struct.pack("<I", ctypes.c_uint16.from_address(place).value << 16))[0]

    def __setitem__(self, index, value: float) -> None:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        ctypes.c_uint16.from_address(self.place(*index)).value = bits >> 16

    def fill(self, seed: int) -> HostTensor:
        """Draws of [-1, 1), the same for the same seed."""
        draw = random.Random(seed)
        for index in indices(self.shape):
            self[index] = draw.uniform(-1, 1)
        return self


def dense_strides(shape) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def indices(shape):
    if not shape:
        yield ()
        return
    for first in range(shape[0]):
        for rest in indices(shape[1:]):
            yield (first, *rest)


def reference(q, k, v, scale: float, sees) -> tuple[dict, dict]:
    """(o, lse) by index, in float64; `sees(i, j)` is the mask."""
    o, lse = {}, {}
    group, dims = q.shape[1] // k.shape[1], range(q.shape[3])
    for b, h, i in indices(q.shape[:3]):
        keys = [j for j in range(k.shape[2]) if sees(i, j)]
        scores = {j: scale * sum(q[b, h, i, d] * k[b, h // group, j, d] for d in dims) for j in keys}
        total = sum(map(math.exp, scores.values()))
        lse[b, h, i] = math.log(total) if scores else -math.inf
        for d in range(v.shape[3]):
            weighted = sum(math.exp(s) * v[b, h // group, j, d] for j, s in scores.items())
            o[b, h, i, d] = weighted / total if scores else 0.0
    return o, lse
