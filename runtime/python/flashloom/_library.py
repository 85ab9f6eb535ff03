"""Kernel libraries: opening them once, finding the default one, and saying what they hold."""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from . import _capi
from ._errors import FlashloomError

LIBRARY_VARIABLE = "FLASHLOOM_LIBRARY"


@dataclass(frozen=True)
class Kernel:
    """What the manifest says about a kernel. `dtype` is "bf16", "f16" or "f32"; sizes in elements, bytes, threads."""

    name: str
    arch: str
    format: str
    variant: str
    pipeline: str
    dtype: str
    head_dim: int
    head_dim_v: int
    gqa: bool
    block: int
    shared_bytes: int
    registers: int


class Library:
    """An open kernel library. It stays open until the process ends: captured graphs may hold its kernels.

    `path` is its folder, `kernels` what it holds, `local` state of the calling thread that the launch layer keeps.
    """

    def __init__(self, path: str, api: _capi.Api) -> None:
        """Opens a folder that fa-gen wrote; needs no GPU. Raises FlashloomError."""
        self.path = path
        self.api = api
        self.handle = ctypes.c_void_p()
        self.local = threading.local()
        api.check(api.fa_library_open(os.fsencode(path), ctypes.byref(self.handle)))
        self.kernels = tuple(self._kernel(i) for i in range(api.fa_library_kernel_count(self.handle)))

    def _kernel(self, index: int) -> Kernel:
        info = _capi.KernelInfo(struct_size=ctypes.sizeof(_capi.KernelInfo))
        self.api.check(self.api.fa_library_kernel_info(self.handle, index, ctypes.byref(info)))
        return Kernel(
            name=info.name.decode(),
            arch=info.arch.decode(),
            format=info.format.decode(),
            variant=info.variant.decode(),
            pipeline=info.pipeline.decode(),
            dtype=_capi.DTYPE_NAMES[info.dtype],
            head_dim=info.head_dim,
            head_dim_v=info.head_dim_v,
            gqa=bool(info.gqa),
            block=info.block,
            shared_bytes=info.shared_bytes,
            registers=info.registers,
        )

    def describe(self) -> str:
        """The problems that the kernels are for, a line each."""
        problems: dict[tuple, list[str]] = {}
        for kernel in self.kernels:
            dims = f"head_dim {kernel.head_dim}"
            if kernel.head_dim_v != kernel.head_dim:
                dims += f", head_dim_v {kernel.head_dim_v}"
            heads = "" if kernel.gqa else ", kv_heads as heads"
            arch = kernel.arch + (" (ptx)" if kernel.format == "ptx" else "")
            archs = problems.setdefault((kernel.dtype, dims, heads, kernel.variant), [])
            if arch not in archs:
                archs.append(arch)
        lines = [
            f"  {dtype}, {dims}{heads}, variant {variant}: {', '.join(archs)}"
            for (dtype, dims, heads, variant), archs in problems.items()
        ]
        return f"{self.path} has kernels for:\n" + "\n".join(lines) if lines else f"{self.path} has no kernels"

    def __repr__(self) -> str:
        return f"<flashloom.Library {self.path!r}, {len(self.kernels)} kernels>"


_lock = threading.Lock()
_open: dict[str, Library] = {}
_default: Library | None = None


def load(path: str | os.PathLike[str]) -> Library:
    """Opens the kernel library in a folder and makes it the one that calls use from now on.

    A folder is opened once, however often it is named. Raises FlashloomError where the runtime, the manifest or a
    kernel's file is missing or malformed. Any thread may call it.
    """
    global _default
    library = find(os.fspath(path))
    _default = library
    return library


def find(path: str) -> Library:
    """The library of a folder, opened at the first call; "" is the default one. Raises FlashloomError."""
    library = _open.get(path)
    if library is not None:
        return library
    if not path:
        return default_library()
    with _lock:
        real = os.path.realpath(path)
        if real not in _open:
            _open[real] = Library(real, _capi.open_runtime(_capi.runtime_path()))
        return _open[real]


def default_library() -> Library:
    """What `load` named last, else FLASHLOOM_LIBRARY, else the package's own kernels. Raises FlashloomError."""
    global _default
    if _default is None:
        _default = find(_default_path())
    return _default


def _default_path() -> str:
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return named
    packaged = Path(__file__).parent / "kernels"
    if (packaged / "manifest.json").exists():
        return str(packaged)
    raise FlashloomError(
        "no kernel library is loaded: call flashloom.load(folder), or name the folder in the environment variable "
        f"{LIBRARY_VARIABLE}; fa-gen -o folder makes one"
    )
