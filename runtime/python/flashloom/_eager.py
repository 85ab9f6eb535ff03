"""Calls that nobody but the GPU sees: no tracing, no mode, no gradient. They go past the dispatcher, which takes longer
than the launch, and what a problem's arguments come to is kept for the next call of the thread."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch.compiler import is_dynamo_compiling

from . import _library, _op
from ._errors import InvalidArgumentError
from ._exchange import TENSOR_READER
from ._launch import MAX_PREPARED, Repeated, prepare
from ._library import Library
from ._variants import variant_name

# Whether tensors on the CPU count too: for tests without a GPU.
ON_CPU = False

_Tensor = torch.Tensor
_empty_like = torch.empty_like
_is_grad_enabled = torch.is_grad_enabled
# The same as torch.cuda.current_device, which also asks whether CUDA is initialised: tensors on a GPU say so.
_current_device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_is_capturing = getattr(torch._C, "_cuda_isCurrentStreamCapturing", torch.cuda.is_current_stream_capturing)
# How many modes listen to operators, and the innermost of torch.func's transforms.
_mode_count = getattr(torch._C, "_len_torch_dispatch_stack", None)
_transform = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
_can_tell = _mode_count is not None and _transform is not None


def is_plain(q: Any, k: Any, v: Any) -> bool:
    """Whether nobody but the GPU would see the operator: no tracing, mode, transform, subclass or gradient."""
    return (
        # Other tracers are modes.
        not is_dynamo_compiling()
        and _can_tell
        and type(q) is type(k) is type(v) is _Tensor
        # k and v are held against q's device with all else.
        and (q.is_cuda or ON_CPU and q.is_cpu)
        and not _mode_count()
        and _transform() is None
        and not (_is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad))
    )


# Of each device and stream the memory that an LSE goes to which nobody wants: address, bytes, and the tensor. Launches
# of one stream come one after another, so that they share it.
_scratch: dict[tuple[int, int], tuple[int, int, torch.Tensor | None]] = {}
_NO_SCRATCH = (0, -1, None)


class _Thread(threading.local):
    """A thread's last call that takes other tensors: its library, its options, and what was made of them."""

    last: tuple[Library | None, tuple | None, Any] = (None, None, None)


_thread = _Thread()


class Call:
    """A problem on a device, for one thread: filled arguments, and what the outputs are like."""

    __slots__ = (
        "_device", "_prepared", "_o_shape", "_o_strides", "_o_is_like_q", "_like_lse", "_lse_bytes", "_workspace_bytes",
        "_repeated",
    )  # fmt: skip

    def __init__(
        self,
        library: Library,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        scale: float | None,
        variant: str,
        layout: str,
    ) -> None:
        """The tensors' device is the current one. Raises FlashloomError where the arguments break a rule or the library
        has no kernel for them."""
        self._device = q.get_device()
        if layout == "bshd":
            heads_first = [swap(tensor) for tensor in (q, k, v)]
        elif layout == "bhsd":
            heads_first = [q, k, v]
        else:
            raise InvalidArgumentError(f'layout: must be "bhsd" or "bshd" (found {layout!r})')
        if scale is None:
            scale = max(q.shape[-1], 1) ** -0.5
        self._prepared = prepared = prepare(library, self._device, *heads_first, scale, variant)
        self._workspace_bytes = prepared.workspace_bytes
        order = (0, 2, 1, 3) if layout == "bshd" else (0, 1, 2, 3)
        self._o_shape = tuple(prepared.o_shape[dim] for dim in order)
        self._o_strides = tuple(prepared.o_strides[dim] for dim in order)
        # Of two ways to the same tensor empty_like is the shorter one. The LSE's pattern is one element.
        like_q = _empty_like(q)
        self._o_is_like_q = (tuple(like_q.shape), like_q.stride()) == (self._o_shape, self._o_strides)
        self._like_lse = q.new_empty(1, dtype=torch.float32).expand(prepared.lse_shape)
        self._lse_bytes = 4 * self._like_lse.numel()
        self._repeated = None
        if TENSOR_READER is not None:
            like_o = torch.empty_strided(self._o_shape, self._o_strides, dtype=q.dtype, device="meta")
            self._repeated = Repeated(prepared, TENSOR_READER, self._device, (q, k, v, like_o))

    @property
    def can_check(self) -> bool:
        """Whether `run` can find out if tensors are such as the call was made for."""
        return self._repeated is not None

    def run(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, wants_lse: bool, checks: bool
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None:
        """Launches on the current stream of the device; o, or (o, lse). With `checks` the tensors may be of another
        problem or on another device; where they are, nothing is launched, and it is None. Raises FlashloomError."""
        device = self._device
        if device >= 0 and device != _current_device():
            with torch.cuda.device(device):
                return self.run(q, k, v, wants_lse, checks)
        stream = _op.current_stream(device)
        o = _empty_like(q) if self._o_is_like_q else q.new_empty_strided(self._o_shape, self._o_strides)
        # A graph may run beside what uses the scratch memory by then. The default stream is never captured.
        if wants_lse or (stream and _is_capturing()):
            lse = _empty_like(self._like_lse)
            lse_address = lse.data_ptr()
        else:
            # Held until the launch, should another thread replace it.
            scratch = _scratch.get((device, stream), _NO_SCRATCH)
            if scratch[1] < self._lse_bytes:
                scratch = self._make_scratch(q, stream)
            lse_address = scratch[0]
        size = self._workspace_bytes
        # Freed when this returns, yet safe: the allocator gives it to this stream's later work alone.
        workspace = torch.empty(size, dtype=torch.uint8, device=q.device) if size else None
        workspace_address = workspace.data_ptr() if size else 0
        # What writes the arguments calls nothing that could call for another attention.
        if not checks:
            self._prepared.launch(
                q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), lse_address, workspace_address, stream
            )
        elif not self._repeated.launch(q, k, v, o, lse_address, workspace_address, stream):
            return None
        return (o, lse) if wants_lse else o

    def _make_scratch(self, q: torch.Tensor, stream: int) -> tuple[int, int, torch.Tensor]:
        """Memory for an LSE that nobody reads, kept for the current stream's later calls."""
        memory = torch.empty(self._lse_bytes, dtype=torch.uint8, device=q.device)
        scratch = _scratch[self._device, stream] = (memory.data_ptr(), self._lse_bytes, memory)
        return scratch


def swap(tensor: torch.Tensor) -> torch.Tensor:
    """[batch, seq, heads, dim] as [batch, heads, seq, dim], or the other way. Raises InvalidArgumentError."""
    if tensor.dim() != 4:
        raise InvalidArgumentError(f"q, k and v must have 4 dimensions (found {tensor.dim()})")
    return tensor.transpose(1, 2)


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    scale: float | None,
    window: tuple[int, int] | None,
    softcap: float | None,
    variant: str | None,
    layout: str,
    library: Library | None,
    return_lse: bool,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """`flashloom.attention` on plain tensors, without extras."""
    if window.__class__ is list:
        window = tuple(window)
    if library is None:
        library = _library.default_library()

    # 1. The thread's last problem again, as a model's layers have it.
    options = (causal, scale, window, softcap, variant, layout)
    last_library, last_options, call = _thread.last
    if last_library is library and last_options == options:
        outputs = call.run(q, k, v, return_lse, True)
        if outputs is not None:
            return outputs

    # 2. Another one, by all that a call depends on but addresses: known, or new.
    device, dtype = q.get_device(), q.dtype
    if k.get_device() != device or v.get_device() != device:
        raise _op.device_error(q, k, v)
    key = (q.shape, q.stride(), k.shape, k.stride(), v.shape, v.stride(), dtype, device, options)
    calls = library.local.__dict__.setdefault("calls", {})
    # Where types differ none is right.
    call = calls.get(key) if k.dtype is dtype and v.dtype is dtype else None
    if call is None:
        with torch.cuda.device(device):
            call = Call(library, q, k, v, scale, variant_name(causal, window, softcap, variant), layout)
        if len(calls) >= MAX_PREPARED:
            calls.clear()
        calls[key] = call
    if call.can_check:
        _thread.last = (library, options, call)
    return call.run(q, k, v, return_lse, False)
