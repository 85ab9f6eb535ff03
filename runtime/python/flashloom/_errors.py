"""What the package raises."""

from __future__ import annotations


class FlashloomError(RuntimeError):
    """A call failed. `status` is the runtime's name for it ("FA_DRIVER_ERROR"), or "" where the package refuses."""

    def __init__(self, message: str, status: str = "") -> None:
        super().__init__(message)
        self.status = status


class InvalidArgumentError(FlashloomError, ValueError):
    """An argument breaks a rule. The text names the argument, the rule and the value found."""


class NoKernelError(FlashloomError):
    """The library has no kernel for this problem or this device. The text lists what it has."""


class UnsupportedError(FlashloomError, NotImplementedError):
    """A drop-in was asked for something that no kernel does: dropout, an arbitrary mask, gradients."""
