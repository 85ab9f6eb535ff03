"""`attention`: the package's own signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch

from . import _eager, _interop, _op
from ._eager import swap
from ._errors import InvalidArgumentError, UnsupportedError
from ._library import Library
from ._lists import BlockLists
from ._variants import variant_name

# "meta" is for shapes alone.
_DEVICE_TYPES = ("cuda", "meta")


def attention(
    q: Any,
    k: Any,
    v: Any,
    causal: bool = False,
    scale: float | None = None,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    return_lse: bool = False,
    *,
    layout: Literal["bhsd", "bshd"] = "bhsd",
    variant: str | None = None,
    extras: Mapping[str, Any] | None = None,
    library: Library | None = None,
    lists: BlockLists | None = None,
) -> Any:
    """softmax(mask(scale q k^T)) v on the GPU, by the kernel library's kernel for it.

    Args:
        q: [batch, heads, seq_q, head_dim], bf16, f16 or f32 as the library has kernels for.
        k: [batch, kv_heads, seq_kv, head_dim]; kv_heads divides heads (GQA, MQA).
        v: [batch, kv_heads, seq_kv, head_dim_v].
            Any strides will do whose last is 1 and whose others are multiples of 16 bytes, or 0 (expanded). Arrays of
            CuPy, JAX and others that speak DLPack or `__cuda_array_interface__` are taken too; results are of q's kind.
        causal: query i sees key j where j <= i + seq_kv - seq_q: the last query sees the last key.
        scale: factor of q k^T, finite and positive; None is 1/sqrt(head_dim).
        window: (left, right): the keys beside the query's own position that it sees, aligned as causal is; -1 is no
            limit. With causal, right is 0.
        softcap: c in c tanh(s / c) of each score s; None and 0 are none.
        return_lse: whether to return the log-sum-exp too.
        layout: "bhsd" as above; "bshd" for [batch, seq, heads, dim] tensors (of which the output is one too).
        variant: a kernel's variant by its name in the manifest, instead of causal, window and softcap.
        extras: what the variant reads beside q, k and v, by name: tensors, or numbers (int for i32 and index, float
            for f32).
        library: what `load` returned; None is the default library.
        lists: keeps the lists of blocks of a mask that reads tensors from call to call; see `BlockLists`.

    Returns:
        o [batch, heads, seq_q, head_dim_v] ("bshd": [batch, seq_q, heads, head_dim_v]) in q's dtype, its heads and
        rows ordered in memory as q's are. A row that sees no key is 0. With return_lse (o, lse), lse being
        [batch, heads, seq_q] of f32, natural logarithm, -inf for a row that sees no key.

    Raises:
        InvalidArgumentError: an argument breaks a rule; the text names it and says what would help.
        NoKernelError: the library has no kernel for this; the text lists what it has.
        UnsupportedError: an input requires grad while gradients are recorded: there is no backward pass yet.
        FlashloomError: no library, no driver, or a call of the driver failed.

    Launches on the current stream of q's device and returns at once; works in torch.compile and under graph capture.
    """
    if not extras and lists is None and _eager.is_plain(q, k, v):
        return _eager.attention(q, k, v, causal, scale, window, softcap, variant, layout, library, return_lse)
    if not (isinstance(q, torch.Tensor) and isinstance(k, torch.Tensor) and isinstance(v, torch.Tensor)):
        return _interop.attention(
            attention, q, k, v, causal, scale, window, softcap, return_lse,
            layout=layout, variant=variant, extras=extras, library=library, lists=lists,
        )  # fmt: skip
    name = variant_name(causal, window, softcap, variant)
    if layout == "bshd":
        o, lse = _forward(swap(q), swap(k), swap(v), scale, name, extras, library, lists)
        o = o.transpose(1, 2)
    elif layout == "bhsd":
        o, lse = _forward(q, k, v, scale, name, extras, library, lists)
    else:
        raise InvalidArgumentError(f'layout: must be "bhsd" or "bshd" (found {layout!r})')
    return (o, lse) if return_lse else o


def _forward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float | None,
    variant: str,
    extras: Mapping[str, Any] | None,
    library: Library | None,
    lists: BlockLists | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(o, lse) of tensors in the order [batch, heads, seq, dim]; see `attention`."""
    if not (q.is_cuda and k.is_cuda and v.is_cuda):
        _check_devices(q, k, v)
    # While tracing, the operator itself says so: the compiler would drop the text of an error raised here.
    if (
        torch.is_grad_enabled()
        and (q.requires_grad or k.requires_grad or v.requires_grad)
        and not torch.compiler.is_compiling()
    ):
        raise UnsupportedError(_op.NO_BACKWARD)
    if scale is None:
        scale = max(q.shape[-1], 1) ** -0.5
    tensors, scalars, names = _split_extras(extras) if extras else ([], [], [])
    arguments = (q, k, v, scale, variant, library.path if library else "", tensors, scalars, names)
    return _op.launch_keeping(lists, *arguments) if _eager.is_plain(q, k, v) else _op.dispatched(*arguments)


def _check_devices(*tensors: torch.Tensor) -> None:
    for tensor in tensors:
        if tensor.device.type not in _DEVICE_TYPES:
            raise InvalidArgumentError(
                f"q, k and v must be on a CUDA device (found {tensor.device}): Flashloom's kernels run on GPUs alone"
            )


def _split_extras(extras: Mapping[str, Any]) -> tuple[list[torch.Tensor], list[float | int], list[str]]:
    """The extras' tensors, their numbers, and the names of both in this order."""
    tensors = {name: value for name, value in extras.items() if isinstance(value, torch.Tensor)}
    scalars = {name: value for name, value in extras.items() if name not in tensors}
    for name, value in scalars.items():
        if not isinstance(value, (int, float)):
            raise InvalidArgumentError(f"extras: {name} must be a tensor or a number (found {type(value).__name__})")
    return list(tensors.values()), list(scalars.values()), [*tensors, *scalars]
