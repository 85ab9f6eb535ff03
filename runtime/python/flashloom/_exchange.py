"""DLPack's table of C functions for PyTorch's tensors, by which the runtime reads them without Python's objects."""

from __future__ import annotations

import ctypes

import torch


class _ExchangeApi(ctypes.Structure):
    """`DLPackExchangeAPI` of DLPack 1: the functions' addresses, None where there is none."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("prev_api", ctypes.c_void_p),
        ("managed_tensor_allocator", ctypes.c_void_p),
        ("managed_tensor_from_py_object_no_sync", ctypes.c_void_p),
        ("managed_tensor_to_py_object_no_sync", ctypes.c_void_p),
        ("dltensor_from_py_object_no_sync", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    ]


def _tensor_reader() -> int | None:
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None:
        return None
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    api = _ExchangeApi.from_address(get_pointer(capsule, b"dlpack_exchange_api"))
    return api.dltensor_from_py_object_no_sync if api.major == 1 else None


# The address of the function that reads a torch.Tensor into a DLTensor; None where this PyTorch (before 2.10) has none.
TENSOR_READER = _tensor_reader()
