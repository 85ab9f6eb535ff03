"""The names that variants have in kernel libraries: which kernel a mask and a score ask for."""

from __future__ import annotations

import math
import operator

from ._errors import InvalidArgumentError

# The cap of kernels-gen/specs/softcap.mlir, whose variant carries no number.
_SPEC_SOFTCAP = 30.0


def variant_name(
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    variant: str | None = None,
) -> str:
    """The variant's name in a manifest.

    - a mask: "causal"; "window1024", the last 1024 keys, for window (1023, 0); "window-64-64", or "window-open-64"
      for any number of keys to the left;
    - a score: "softcap" for a cap of 30, "softcap50" for one of 50;
    - both: "causal-softcap50"; neither: "full".

    `window` is (left, right) in keys beside the query's own position, -1 for a side without limit; `causal` bounds
    the right side to 0. None and 0 are no softcap. `variant` is a name itself, which none of the others may join.
    Raises InvalidArgumentError.
    """
    # 1. What most calls ask for.
    if window is None and not softcap and variant is None:
        return "causal" if causal else "full"
    # 2. The rest, by its parts.
    parts = [part for part in (_mask_name(causal, window), _score_name(softcap)) if part]
    if variant is None:
        return "-".join(parts) or "full"
    if parts:
        raise InvalidArgumentError(f"variant: {variant!r} cannot be joined by {' and '.join(parts)}; name one variant")
    return variant


def _mask_name(causal: bool, window: tuple[int, int] | None) -> str:
    try:
        left, right = map(operator.index, window) if window is not None else (-1, -1)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"window: must be (left, right) or None (found {window!r})") from None
    if left < -1 or right < -1:
        raise InvalidArgumentError(f"window: each side must be at least 0, or -1 for no limit (found {window})")
    if causal:
        right = 0
    if left == -1 and right <= 0:
        return "causal" if right == 0 else ""
    if right == 0:
        return f"window{left + 1}"
    return f"window-{_side(left)}-{_side(right)}"


def _side(keys: int) -> str:
    return "open" if keys == -1 else str(keys)


def _score_name(softcap: float | None) -> str:
    if not softcap:
        return ""
    if not (isinstance(softcap, (int, float)) and softcap > 0 and math.isfinite(softcap)):
        raise InvalidArgumentError(f"softcap: must be a positive, finite number (found {softcap!r})")
    return "softcap" if softcap == _SPEC_SOFTCAP else f"softcap{softcap:g}"
