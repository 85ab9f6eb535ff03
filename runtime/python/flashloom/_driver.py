"""The one thing that the launch layer asks of the CUDA driver itself: a current context on the calling thread."""

from __future__ import annotations

import ctypes
import functools

from ._errors import FlashloomError

_DRIVER_FILE = "libcuda.so.1"


@functools.cache
def _driver() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(_DRIVER_FILE)
    except OSError:
        return None


def _check(result: int, call: str) -> None:
    if result:
        raise FlashloomError(f"{call} failed: CUDA error {result}", "FA_DRIVER_ERROR")


def ensure_context(device: int) -> None:
    """Makes the device's primary context current where the thread has none, as in threads that have not used CUDA yet.

    Does nothing without a driver: the runtime says so at the launch. Raises FlashloomError where the driver refuses.
    """
    driver = _driver()
    if driver is None:
        return
    context = ctypes.c_void_p()
    _check(driver.cuInit(0), "cuInit")
    _check(driver.cuCtxGetCurrent(ctypes.byref(context)), "cuCtxGetCurrent")
    if context.value:
        return
    ordinal = ctypes.c_int()
    _check(driver.cuDeviceGet(ctypes.byref(ordinal), device), "cuDeviceGet")
    _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal), "cuDevicePrimaryCtxRetain")
    _check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
