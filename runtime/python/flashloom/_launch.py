"""From tensors to a launch: descriptors that are filled once for a problem and reused. Knows nothing of PyTorch.

A tensor here is anything with `shape`, `stride()`, `dtype` and `data_ptr()`. A problem's descriptors are kept for each
thread and library, under everything that they hold but the addresses, so that a later call writes the addresses alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol, Union

from . import _capi
from ._driver import ensure_context
from ._errors import InvalidArgumentError
from ._library import Library

# Beyond so many problems a thread forgets what it prepared: sequences that grow by a key each call make new ones.
MAX_PREPARED = 1024

_DTYPES = {"bfloat16": _capi.BF16, "float16": _capi.F16, "float32": _capi.F32, "int32": _capi.I32}


# The parameters as words of 64 bits, and where the tensors' addresses lie among them: a word is written in less time than
# a field of a field.
_WORDS = ctypes.c_uint64 * (ctypes.sizeof(_capi.ForwardParams) // 8)
_Q_DATA, _K_DATA, _V_DATA, _O_DATA, _LSE_DATA = (
    (getattr(_capi.ForwardParams, name).offset + _capi.Tensor.data.offset) // 8 for name in ("q", "k", "v", "o", "lse")
)

# Likewise of a repeated call.
_CALL_WORDS = ctypes.c_uint64 * (ctypes.sizeof(_capi.DlpackCall) // 8)
_OBJECTS, _STREAM = _capi.DlpackCall.objects.offset // 8, _capi.DlpackCall.stream.offset // 8


class Tensor(Protocol):
    """What a launch reads of a tensor. Strides are in elements; the name of `dtype` ends in "bfloat16", for one."""

    shape: Sequence[int]
    dtype: Any

    def stride(self) -> tuple[int, ...]: ...

    def data_ptr(self) -> int: ...


# What a variant reads beside q, k and v: by name a tensor, or a number (an int for i32 and index, a float for f32).
Extras = Sequence[tuple[str, Union[Tensor, int, float]]]


def output_strides(shape: Sequence[int], q_strides: Sequence[int]) -> tuple[int, int, int, int]:
    """The strides of a dense output [batch, heads, seq, dim], in whose memory heads and rows are ordered as in q's."""
    _, heads, seq, dim = shape
    if q_strides[1] < q_strides[2]:
        return seq * heads * dim, dim, heads * dim, 1
    return heads * seq * dim, seq * dim, dim, 1


def lse_strides(shape: Sequence[int]) -> tuple[int, int, int]:
    """The strides of a dense LSE [batch, heads, seq]."""
    _, heads, seq = shape
    return heads * seq, seq, 1


class Prepared:
    """The filled arguments of one problem, for one thread.

    `o_shape`, `o_strides`, `lse_shape`, `lse_strides` are what the outputs must be, `workspace_bytes` the memory that
    the launch needs beside them.
    """

    __slots__ = (
        "o_shape", "o_strides", "lse_shape", "lse_strides", "workspace_bytes",
        "_library", "_params", "_reference", "_stream", "_forward", "_handle", "_words", "_extras", "_names",
    )  # fmt: skip

    def __init__(
        self, library: Library, q: Tensor, k: Tensor, v: Tensor, scale: float, variant: str, extras: Extras
    ) -> None:
        """Fills the descriptors and asks for the workspace. Raises FlashloomError where the runtime refuses."""
        self._library = library
        self._forward, self._handle = library.api.launch, library.handle
        self._params = params = _capi.ForwardParams(struct_size=ctypes.sizeof(_capi.ForwardParams), scale=scale)
        self._reference, self._stream = ctypes.byref(params), ctypes.c_void_p()
        # The structure holds no reference to the bytes.
        self._names = [variant.encode(), *(name.encode() for name, _ in extras)]
        params.variant = self._names[0]
        for name, view, tensor in (("q", params.q, q), ("k", params.k, k), ("v", params.v, v)):
            _fill(name, view, tensor.shape, tensor.stride(), tensor.dtype, tensor.data_ptr())
        if len(q.shape) != 4 or len(v.shape) != 4:
            name, rank = ("q", len(q.shape)) if len(q.shape) != 4 else ("v", len(v.shape))
            raise InvalidArgumentError(f"{name}: rank must be 4 (found {rank})", "FA_INVALID_ARGUMENT")
        self._describe_outputs(q, v)
        self._describe_extras(extras)
        self._words = _WORDS.from_buffer(params)
        self.workspace_bytes = self._ask_workspace()

    def _describe_outputs(self, q: Tensor, v: Tensor) -> None:
        self.o_shape = (*q.shape[:3], v.shape[3])
        self.o_strides = output_strides(self.o_shape, q.stride())
        self.lse_shape = tuple(q.shape[:3])
        self.lse_strides = lse_strides(self.lse_shape)
        # The outputs do not exist yet; any aligned address does for the checks until the launch.
        _fill("o", self._params.o, self.o_shape, self.o_strides, q.dtype, q.data_ptr())
        _fill("lse", self._params.lse, self.lse_shape, self.lse_strides, "float32", q.data_ptr())

    def _describe_extras(self, extras: Extras) -> None:
        records = (_capi.Extra * len(extras))()
        tensors = []
        for record, encoded, (name, value) in zip(records, self._names[1:], extras):
            record.name = encoded
            if isinstance(value, (int, float)):
                _fill_scalar(name, record, value)
            else:
                record.kind = _capi.EXTRA_TENSOR
                _fill(name, record.tensor, value.shape, value.stride(), value.dtype, value.data_ptr())
                tensors.append(record.tensor)
        self._params.extras = records
        self._params.num_extras = len(extras)
        self._extras = tuple(tensors)

    def _ask_workspace(self) -> int:
        api, size = self._library.api, ctypes.c_size_t()
        self.check(api.fa_forward_workspace(self._handle, self._reference, ctypes.byref(size)))
        return size.value

    def launch(
        self, q: int, k: int, v: int, o: int, lse: int, workspace: int, stream: int, extras: Sequence[int] = (),
        reuse_lists: bool = False,
    ) -> None:  # fmt: skip
        """Launches at these addresses (`extras`: of the extra tensors in their order) on a stream of the current
        context. Returns before the kernel has run. `reuse_lists`: the workspace has the lists of an earlier launch.
        Raises FlashloomError."""
        words = self._words
        words[_Q_DATA] = q
        words[_K_DATA] = k
        words[_V_DATA] = v
        words[_O_DATA] = o
        if extras:
            for view, address in zip(self._extras, extras):
                view.data = address
        self.put(lse, workspace, reuse_lists)
        self._stream.value = stream
        status = self._forward(self._handle, self._reference, self._stream)
        if status:
            self.check(status)

    def put(self, lse: int, workspace: int, reuse_lists: bool = False) -> None:
        """Writes the addresses of memory that is not the caller's."""
        self._words[_LSE_DATA] = lse
        if workspace:
            self._params.workspace = workspace
            self._params.workspace_bytes = self.workspace_bytes
            self._params.flags = _capi.REUSE_LISTS if reuse_lists else 0

    def check(self, status: int) -> None:
        """Raises the exception of a status that is no success."""
        # What the library holds is put into words only where it is said.
        if status:
            self._library.api.check(status, self._library.describe())


class Repeated:
    """Launches of a prepared problem with other tensors of a framework, which the runtime reads and checks."""

    __slots__ = ("_prepared", "_call", "_words", "_reference", "_forward")

    def __init__(self, prepared: Prepared, reader: int, device: int, likes: Sequence[Tensor]) -> None:
        """`reader` is the address of an `fa_dlpack_reader`. `likes` are tensors as q, k, v and o of each launch must
        be, in the caller's order of dimensions; all must lie on `device` (-1: the host)."""
        self._prepared = prepared
        python = ctypes.pythonapi
        self._call = call = _capi.DlpackCall(
            read=reader,
            unlock=ctypes.cast(python.PyEval_SaveThread, ctypes.c_void_p),
            lock=ctypes.cast(python.PyEval_RestoreThread, ctypes.c_void_p),
            device=device,
            library=prepared._handle,
            params=ctypes.pointer(prepared._params),
        )
        for name, view, like in zip("qkvo", call.like, likes):
            _fill(name, view, like.shape, like.stride(), like.dtype, 0)
        self._words = _CALL_WORDS.from_buffer(call)
        self._reference = ctypes.byref(call)
        self._forward = prepared._library.api.dlpack_launch

    def launch(self, q: Any, k: Any, v: Any, o: Any, lse: int, workspace: int, stream: int) -> bool:
        """Launches on a stream of the current context; False, and no launch, where a tensor is another one than the
        call's. `lse` and `workspace` are addresses. Raises FlashloomError."""
        words = self._words
        words[_OBJECTS] = id(q)
        words[_OBJECTS + 1] = id(k)
        words[_OBJECTS + 2] = id(v)
        words[_OBJECTS + 3] = id(o)
        words[_STREAM] = stream
        self._prepared.put(lse, workspace)
        status = self._forward(self._reference)
        if not status:
            return True
        if status != _capi.OTHER_TENSORS:
            self._prepared.check(status)
        return False


def _fill(name: str, view: _capi.Tensor, shape: Sequence[int], strides: Sequence[int], dtype: Any, data: int) -> None:
    if len(shape) > _capi.MAX_RANK:
        raise InvalidArgumentError(
            f"{name}: rank must be at most {_capi.MAX_RANK} (found {len(shape)})", "FA_INVALID_ARGUMENT"
        )
    spelled = str(dtype).rpartition(".")[2]
    if spelled not in _DTYPES:
        raise InvalidArgumentError(
            f"{name}: dtype must be one of {', '.join(_DTYPES)} (found {spelled})", "FA_INVALID_ARGUMENT"
        )
    view.data = data
    view.dtype = _DTYPES[spelled]
    view.rank = len(shape)
    view.sizes[: len(shape)] = shape
    view.strides[: len(strides)] = strides


def _fill_scalar(name: str, record: _capi.Extra, value: int | float) -> None:
    record.kind = _capi.EXTRA_SCALAR
    if isinstance(value, float):
        record.dtype, record.f32 = _capi.F32, value
        return
    if not -(1 << 31) <= value < 1 << 31:
        raise InvalidArgumentError(f"{name}: must fit into 32 bits (found {value})", "FA_INVALID_ARGUMENT")
    record.dtype, record.i32 = _capi.I32, value


def prepare(
    library: Library,
    device: int,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    variant: str,
    extras: Extras = (),
) -> Prepared:
    """The prepared arguments of a problem, filled at its first call in this thread.

    The device (its ordinal) must be the current one. Raises FlashloomError where the runtime refuses the problem.
    """
    key = (
        q.shape, q.stride(), k.shape, k.stride(), v.shape, v.stride(), q.dtype, k.dtype, v.dtype,
        device, scale, variant, extras and _extras_key(extras),
    )  # fmt: skip
    local = library.local.__dict__
    cache = local.get("prepared")
    if cache is None:
        ensure_context(device)
        cache = local["prepared"] = {}
    prepared = cache.get(key)
    if prepared is None:
        prepared = Prepared(library, q, k, v, scale, variant, extras)
        if len(cache) >= MAX_PREPARED:
            cache.clear()
        cache[key] = prepared
    return prepared


def _extras_key(extras: Extras) -> tuple:
    return tuple(
        (name, type(value), value)
        if isinstance(value, (int, float))
        else (name, value.shape, value.stride(), value.dtype)
        for name, value in extras
    )
