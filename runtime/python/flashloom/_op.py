"""The operator `torch.ops.flashloom.attention`: what eager calls, torch.compile and CUDA graphs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ._errors import InvalidArgumentError, UnsupportedError
from ._launch import lse_strides, output_strides, prepare
from ._library import find
from ._lists import BlockLists

NO_BACKWARD = (
    "flashloom.attention has no backward pass yet, and an input requires grad: "
    "call it under torch.no_grad() or torch.inference_mode(), or pass q.detach(), k.detach() and v.detach()"
)

_SCHEMA = (
    "(Tensor q, Tensor k, Tensor v, float scale, str variant, str library, "
    "Tensor[] tensors, Scalar[] scalars, str[] names) -> (Tensor, Tensor)"
)


def _current_stream(device: int) -> int:
    """The address of PyTorch's current stream on a device."""
    return torch.cuda.current_stream(device).cuda_stream


# The same without a Stream object for each call, where this PyTorch has it.
current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)


def launch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    variant: str,
    library: str,
    tensors: Sequence[torch.Tensor],
    scalars: Sequence[float | int],
    names: Sequence[str],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Launches on the current stream of q's device and returns (o, lse); see `attention`.

    q [batch, heads, seq_q, head_dim], k and v [batch, kv_heads, seq_kv, head_dim or head_dim_v]. `names` are those of
    the extra tensors, then of the scalars. Raises FlashloomError.
    """
    return launch_keeping(None, q, k, v, scale, variant, library, tensors, scalars, names)


def launch_keeping(
    lists: BlockLists | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *arguments: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """`launch` that finds the mask's lists of blocks in `lists`, or leaves them there; None for neither."""
    device = q.get_device()
    if k.get_device() != device or v.get_device() != device:
        raise device_error(q, k, v)
    if device >= 0 and device != torch.cuda.current_device():
        with torch.cuda.device(device):
            return _launch_here(device, lists, q, k, v, *arguments)
    return _launch_here(device, lists, q, k, v, *arguments)


def device_error(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> InvalidArgumentError:
    """What there is to say of tensors on several devices."""
    return InvalidArgumentError(f"q, k and v must be on one device (found {q.device}, {k.device}, {v.device})")


def _launch_here(device, lists, q, k, v, scale, variant, library, tensors, scalars, names):
    extras = tuple(zip(names, (*tensors, *scalars))) if names else ()
    prepared = prepare(find(library), device, q, k, v, scale, variant, extras)
    o = q.new_empty_strided(prepared.o_shape, prepared.o_strides)
    lse = q.new_empty_strided(prepared.lse_shape, prepared.lse_strides, dtype=torch.float32)
    stream = current_stream(device)
    size = prepared.workspace_bytes
    place = (device, stream, device >= 0 and torch.cuda.is_current_stream_capturing()) if lists is not None else ()
    kept = lists.find(prepared, place, tensors) if lists is not None else None
    # Freed when this returns, yet safe until the kernel is done: the allocator gives it to this stream's later work.
    workspace = torch.empty(size, dtype=torch.uint8, device=q.device) if size and kept is None else kept
    prepared.launch(
        q.data_ptr(),
        k.data_ptr(),
        v.data_ptr(),
        o.data_ptr(),
        lse.data_ptr(),
        workspace.data_ptr() if size else 0,
        stream,
        tensors and [tensor.data_ptr() for tensor in tensors],
        kept is not None,
    )
    if lists is not None and size and kept is None:
        lists.keep(prepared, place, tensors, workspace)
    return o, lse


op = torch.library.custom_op("flashloom::attention", launch, mutates_args=(), device_types="cuda", schema=_SCHEMA)


@op.register_fake
def _fake(q, k, v, scale, variant, library, tensors, scalars, names):
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        torch._check(tensor.dim() == 4, lambda: f"{name}: rank must be 4 (found {tensor.dim()})")
    o_shape = (*q.shape[:3], v.shape[3])
    lse_shape = q.shape[:3]
    o = torch.empty_strided(o_shape, output_strides(o_shape, q.stride()), dtype=q.dtype, device=q.device)
    lse = torch.empty_strided(lse_shape, lse_strides(lse_shape), dtype=torch.float32, device=q.device)
    return o, lse


def _refuse_backward(ctx, *ignored):
    raise UnsupportedError(NO_BACKWARD)


op.register_autograd(_refuse_backward, setup_context=lambda ctx, inputs, output: _refuse_backward(ctx))

# Through the dispatcher.
dispatched = torch.ops.flashloom.attention.default
