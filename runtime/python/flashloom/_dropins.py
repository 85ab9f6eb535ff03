"""Functions with others' signatures: PyTorch's scaled_dot_product_attention and flash_attn's flash_attn_func."""

from __future__ import annotations

import torch

from ._attention import attention
from ._errors import InvalidArgumentError, UnsupportedError


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention, by this library's kernels.

    query [batch, heads, seq_q, dim], key and value [batch, kv_heads, seq_kv, dim or dim_v]; or all three without the
    batch. As in PyTorch, `is_causal` is aligned to the top left (query i sees keys 0 to i), and kv_heads must be heads
    unless `enable_gqa`.

    Returns [batch, heads, seq_q, dim_v]. Raises as `attention` does, and UnsupportedError for attn_mask, dropout_p,
    and is_causal with more queries than keys.
    """
    if attn_mask is not None:
        raise UnsupportedError(
            "scaled_dot_product_attention: attn_mask is not supported: kernels have their mask built in; "
            "use is_causal, or flashloom.attention with a window or a variant of your own"
        )
    if dropout_p:
        raise UnsupportedError(f"scaled_dot_product_attention: dropout_p must be 0 (found {dropout_p})")
    if not query.dim() == key.dim() == value.dim() or query.dim() not in (3, 4):
        raise InvalidArgumentError(
            "scaled_dot_product_attention: query, key and value must all have 4 or 3 dimensions "
            f"(found {query.dim()}, {key.dim()}, {value.dim()})"
        )
    if query.dim() == 3:
        query, key, value = query.unsqueeze(0), key.unsqueeze(0), value.unsqueeze(0)
        return scaled_dot_product_attention(query, key, value, None, 0.0, is_causal, scale, enable_gqa).squeeze(0)
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise InvalidArgumentError(
            f"scaled_dot_product_attention: key has {key.shape[1]} heads and query {query.shape[1]}: "
            "pass enable_gqa=True for grouped heads"
        )
    if is_causal:
        key, value = _visible_keys(query, key, value)
    return attention(query, key, value, is_causal, scale)


def _visible_keys(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The keys that a mask aligned to the top left leaves: as many as queries, where both alignments are the same."""
    rows, keys = query.shape[2], key.shape[2]
    if rows > keys:
        raise UnsupportedError(
            f"scaled_dot_product_attention: is_causal with more queries ({rows}) than keys ({keys}) is not supported: "
            "PyTorch aligns that mask to the top left; flashloom.attention(causal=True) aligns it to the bottom right"
        )
    return (key[:, :, :rows], value[:, :, :rows]) if rows < keys else (key, value)


def flash_attn_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: torch.Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> torch.Tensor:
    """flash_attn.flash_attn_func, by this library's kernels.

    q [batch, seq_q, heads, dim], k and v [batch, seq_kv, kv_heads, dim or dim_v]. Causal masks and windows are aligned
    to the bottom right, -1 in window_size is no limit, a softcap of 0 none. `deterministic` is about the backward
    pass; the forward always is.

    Returns [batch, seq_q, heads, dim_v]. Raises as `attention` does, and UnsupportedError for dropout_p, alibi_slopes
    and return_attn_probs.
    """
    if dropout_p:
        raise UnsupportedError(f"flash_attn_func: dropout_p must be 0 (found {dropout_p})")
    if alibi_slopes is not None:
        raise UnsupportedError(
            "flash_attn_func: alibi_slopes is not supported: kernels compute the slopes; flashloom.attention(..., "
            'variant="alibi") has those of the paper, causal'
        )
    if return_attn_probs:
        raise UnsupportedError(
            "flash_attn_func: return_attn_probs is not supported: kernels never hold the probabilities; "
            "flashloom.attention(..., return_lse=True) returns the log-sum-exp"
        )
    window = tuple(window_size)
    return attention(q, k, v, causal, softmax_scale, window, softcap, layout="bshd")
