"""Flashloom: attention by kernels compiled ahead of time, on PyTorch tensors.

    import flashloom
    flashloom.load("kernels")                        # a folder that fa-gen wrote, or FLASHLOOM_LIBRARY
    o = flashloom.attention(q, k, v, causal=True)    # [batch, heads, seq, dim]

The functions on tensors need PyTorch; `load` and what it returns do not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import FlashloomError, InvalidArgumentError, NoKernelError, UnsupportedError
from ._library import Kernel, Library, load
from ._lists import BlockLists
from ._version import __version__

if TYPE_CHECKING:
    from ._attention import attention
    from ._dropins import flash_attn_func, scaled_dot_product_attention

__all__ = [
    "BlockLists",
    "FlashloomError",
    "InvalidArgumentError",
    "Kernel",
    "Library",
    "NoKernelError",
    "UnsupportedError",
    "__version__",
    "attention",
    "flash_attn_func",
    "load",
    "scaled_dot_product_attention",
]

_NEED_TORCH = {
    "attention": "._attention",
    "flash_attn_func": "._dropins",
    "scaled_dot_product_attention": "._dropins",
}


def __getattr__(name: str) -> Any:
    """Imports PyTorch with the first function that needs it."""
    if name not in _NEED_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(_NEED_TORCH[name], __name__)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(f"flashloom.{name} needs PyTorch: pip install torch", name="torch") from None
    value = getattr(module, name)
    globals()[name] = value
    return value
