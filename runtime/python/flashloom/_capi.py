"""The runtime's C API (`fa_runtime.h`) by ctypes: structures, prototypes, and statuses as exceptions."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from ._errors import FlashloomError, InvalidArgumentError, NoKernelError

RUNTIME_VARIABLE = "FLASHLOOM_RUNTIME"
RUNTIME_FILE = "libfa_runtime.so"
RUNTIME_SONAME = "libfa_runtime.so.0"

BF16, F16, F32, I32 = 1, 2, 3, 4
DTYPE_NAMES = {BF16: "bf16", F16: "f16", F32: "f32", I32: "i32"}
EXTRA_TENSOR, EXTRA_SCALAR = 1, 2
REUSE_LISTS = 1
MAX_RANK = 4

_SUCCESS = 0
OTHER_TENSORS = 8
_ERRORS = {"FA_INVALID_ARGUMENT": InvalidArgumentError, "FA_NO_KERNEL": NoKernelError}


class Tensor(ctypes.Structure):
    """`fa_tensor`: sizes and strides in elements."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("rank", ctypes.c_int32),
        ("sizes", ctypes.c_int64 * MAX_RANK),
        ("strides", ctypes.c_int64 * MAX_RANK),
    ]


class Extra(ctypes.Structure):
    """`fa_extra`."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("tensor", Tensor),
        ("dtype", ctypes.c_int),
        ("f32", ctypes.c_float),
        ("i32", ctypes.c_int32),
    ]


class ForwardParams(ctypes.Structure):
    """`fa_forward_params`."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("q", Tensor),
        ("k", Tensor),
        ("v", Tensor),
        ("o", Tensor),
        ("lse", Tensor),
        ("scale", ctypes.c_float),
        ("variant", ctypes.c_char_p),
        ("extras", ctypes.POINTER(Extra)),
        ("num_extras", ctypes.c_size_t),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_size_t),
        ("splits", ctypes.c_int32),
        ("flags", ctypes.c_uint64),
    ]


class KernelInfo(ctypes.Structure):
    """`fa_kernel_info`."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        *((name, ctypes.c_char_p) for name in ("name", "file", "format", "arch", "pass_")),
        *((name, ctypes.c_char_p) for name in ("variant", "pipeline", "schedule", "hash", "ptxas")),
        ("dtype", ctypes.c_int),
        ("gqa", ctypes.c_int32),
        ("head_dim", ctypes.c_int64),
        ("head_dim_v", ctypes.c_int64),
        ("block", ctypes.c_int32),
        ("shared_bytes", ctypes.c_int32),
        ("registers", ctypes.c_int32),
        ("spill_bytes", ctypes.c_int32),
    ]


class DlpackCall(ctypes.Structure):
    """`fa_dlpack_call`; arrays are of q, k, v and o."""

    _fields_ = [
        ("read", ctypes.c_void_p),
        ("unlock", ctypes.c_void_p),
        ("lock", ctypes.c_void_p),
        ("objects", ctypes.c_void_p * 4),
        ("device", ctypes.c_int32),
        ("like", Tensor * 4),
        ("library", ctypes.c_void_p),
        ("params", ctypes.POINTER(ForwardParams)),
        ("stream", ctypes.c_void_p),
    ]


_HANDLE, _PARAMS = ctypes.c_void_p, ctypes.POINTER(ForwardParams)
_PROTOTYPES = {
    "fa_version": (ctypes.c_int32, []),
    "fa_last_error": (ctypes.c_char_p, []),
    "fa_status_name": (ctypes.c_char_p, [ctypes.c_int]),
    "fa_library_open": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(_HANDLE)]),
    "fa_library_kernel_count": (ctypes.c_size_t, [_HANDLE]),
    "fa_library_kernel_info": (ctypes.c_int, [_HANDLE, ctypes.c_size_t, ctypes.POINTER(KernelInfo)]),
    "fa_forward_workspace": (ctypes.c_int, [_HANDLE, _PARAMS, ctypes.POINTER(ctypes.c_size_t)]),
    "fa_forward": (ctypes.c_int, [_HANDLE, _PARAMS, ctypes.c_void_p]),
    "fa_dlpack_forward": (ctypes.c_int, [ctypes.POINTER(DlpackCall)]),
}


class Api:
    """The functions of an opened `libfa_runtime.so`, as attributes by their C names."""

    def __init__(self, path: str) -> None:
        """Opens the shared library at a path, or by its name where that has no folder. Raises FlashloomError."""
        try:
            runtime = ctypes.CDLL(path)
        except OSError as error:
            raise FlashloomError(
                f"the Flashloom runtime could not be loaded: {error}; build it (ninja fa_runtime_shared) and name it "
                f"in the environment variable {RUNTIME_VARIABLE}"
            ) from error
        for name, (result, arguments) in _PROTOTYPES.items():
            try:
                function = getattr(runtime, name)
            except AttributeError:
                raise FlashloomError(f"{path} is not a Flashloom runtime of this package's version: it has no {name}") from None
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        # fa_forward for arguments that are ctypes's own, which are not converted at each call.
        self.launch = runtime["fa_forward"]
        # Reads Python objects, so that Python's lock is held at first, and may leave an exception.
        self.dlpack_launch = ctypes.PyDLL(path, handle=runtime._handle)["fa_dlpack_forward"]

    def check(self, status: int, listing: str = "") -> None:
        """Raises the exception of a status that is no success, with the calling thread's reason.

        `listing` follows the reason where the status says that there is no kernel.
        """
        if status == _SUCCESS:
            return
        name = self.fa_status_name(status).decode()
        text = self.fa_last_error().decode()
        if name == "FA_NO_KERNEL" and listing:
            text += f"\n{listing}"
        raise _ERRORS.get(name, FlashloomError)(text + _advice(text), name)


def _advice(text: str) -> str:
    """What the caller can do about a refused layout: the reason begins with the tensor's name."""
    name = text.partition(":")[0]
    if name not in ("q", "k", "v"):
        return ""
    if "data must be aligned" in text:
        return f"; {name}.clone() gives an aligned copy"
    return f"; {name}.contiguous() gives a copy that fits" if "stride of dimension" in text else ""


def runtime_path() -> str:
    """Where the runtime is: FLASHLOOM_RUNTIME, else the package's own copy, else by its name on the loader's path."""
    named = os.environ.get(RUNTIME_VARIABLE)
    if named:
        return named
    packaged = Path(__file__).parent / "lib" / RUNTIME_FILE
    return str(packaged) if packaged.exists() else RUNTIME_SONAME


@functools.cache
def open_runtime(path: str) -> Api:
    """The API of a runtime, opened once for each path. Raises FlashloomError."""
    return Api(path)
