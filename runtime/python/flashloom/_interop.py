"""Arrays of other packages: to PyTorch by DLPack without a copy, and results back to the same kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ._errors import InvalidArgumentError


def to_torch(name: str, array: Any) -> torch.Tensor:
    """A tensor over an array's memory, ordered behind the work on the array's own stream.

    Raises InvalidArgumentError for what is neither a tensor nor speaks DLPack or `__cuda_array_interface__`.
    """
    if isinstance(array, torch.Tensor):
        return array
    if hasattr(array, "__dlpack__"):
        return torch.from_dlpack(array)
    if hasattr(array, "__cuda_array_interface__"):
        return torch.as_tensor(array, device="cuda")
    raise InvalidArgumentError(
        f"{name}: must be a tensor, or have __dlpack__ or __cuda_array_interface__ (found {type(array).__name__})"
    )


def like(model: Any, tensor: torch.Tensor) -> Any:
    """The tensor as an array of the model's package, over the same memory: CuPy, JAX, Numba; else as it is."""
    # PyTorch gives tensors of its current device alone, and JAX leaves another one current when it starts.
    with torch.cuda.device_of(tensor):
        return _like(type(model).__module__.partition(".")[0], tensor)


def _like(package: str, tensor: torch.Tensor) -> Any:
    if package == "cupy":
        import cupy

        return cupy.from_dlpack(tensor)
    if package in ("jax", "jaxlib"):
        import jax

        return jax.dlpack.from_dlpack(tensor)
    if package == "numba":
        from numba import cuda

        return cuda.as_cuda_array(tensor)
    return tensor


def attention(
    call: Callable[..., Any],
    q: Any,
    k: Any,
    v: Any,
    *arguments: Any,
    extras: Mapping[str, Any] | None,
    **keywords: Any,
) -> Any:
    """`call` on tensors over the arrays' memory; its results as arrays of q's kind."""
    tensors = (to_torch(name, array) for name, array in (("q", q), ("k", k), ("v", v)))
    numbers = (int, float)
    extras = {n: x if isinstance(x, numbers) else to_torch(n, x) for n, x in (extras or {}).items()}
    result = call(*tensors, *arguments, extras=extras, **keywords)
    return tuple(like(q, part) for part in result) if isinstance(result, tuple) else like(q, result)
