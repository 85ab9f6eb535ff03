"""Lists of blocks that are kept from call to call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class BlockLists:
    """The lists of blocks that a mask which reads tensors leaves, for the layers of a model that share the mask.

        lists = flashloom.BlockLists()
        for layer in model:
            o = flashloom.attention(q, k, v, variant="document", extras=ids, lists=lists)

    The first call makes the lists, later ones use them. They are made anew where a call is of another problem (shapes,
    strides, types, scale, variant, numbers, library), device, stream or thread, where the mask's tensors lie elsewhere
    or were written by PyTorch since, and where one of the calls is being captured into a graph and the other is not.
    `clear` is for what PyTorch does not see: inference tensors written in place, replayed graphs, other packages. A
    captured graph needs an object of its own. Variants without lists, and calls in a compiled graph, are as without
    the object.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: tuple[Any, ...] | None = None

    def clear(self) -> None:
        """Has the next call make the lists anew."""
        self._made = None

    def find(self, problem: object, place: tuple, tensors: Sequence[Any]) -> Any | None:
        """The workspace that holds the lists of a problem, on a stream (`place`), with the mask's tensors; or None."""
        made = self._made
        if made is None:
            return None
        made_problem, made_place, states, _, workspace = made
        holds = made_problem is problem and made_place == place and states == _states(tensors)
        return workspace if holds else None

    def keep(self, problem: object, place: tuple, tensors: Sequence[Any], workspace: Any) -> None:
        """Says that the lists are in the workspace once the work of the stream so far is done."""
        # The tensors too: while they live nothing else lies at their addresses.
        self._made = (problem, place, _states(tensors), tuple(tensors), workspace)


def _states(tensors: Sequence[Any]) -> list[tuple[int, int]]:
    """Where each tensor lies, and how often PyTorch wrote it."""
    return [(tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version) for tensor in tensors]
