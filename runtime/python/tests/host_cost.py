#!/usr/bin/env python3
"""What a call costs the host, layer by layer, by a driver that does nothing: no GPU is needed.

    FLASHLOOM_RUNTIME=libfa_runtime.so FLASHLOOM_TEST_DRIVER=libcuda.so.1 host_cost.py

Prints the least microseconds of CPU time (so that other programs do not count) of a call of the C API by ctypes, of the
launch layer, of the operator's kernel, of the operator and of `attention`, on CPU tensors, where `attention` is made to
take them for CUDA tensors. --max=US exits 1 where it takes more than that beyond the C API.
"""

import argparse
import sys
import time
from unittest import mock

import support
import torch

import flashloom
from flashloom import _eager, _op
from flashloom._launch import prepare

CALLS = 1000
ROUNDS = 15


def least_us(call):
    """The least over rounds of a call's mean CPU time in microseconds."""
    means = []
    for _ in range(ROUNDS):
        started = time.thread_time()
        for _ in range(CALLS):
            call()
        means.append((time.thread_time() - started) / CALLS * 1e6)
    return min(means)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max", type=float, metavar="US")
    arguments = parser.parse_args()
    support.use_fake_driver()
    _op.op.register_kernel("cpu")(_op.launch)
    _op.current_stream = lambda device: 0
    folder = support.Folder(support.kernel("idle"))
    library = flashloom.load(folder.name)

    q, k, v = (torch.zeros(2, 16, 64, 8, dtype=torch.bfloat16) for _ in range(3))
    lse = torch.zeros(2, 16, 64)
    addresses = [x.data_ptr() for x in (q, k, v, q, lse)]
    prepared = prepare(library, -1, q, k, v, 0.5, "full")
    api, reference = library.api, prepared._reference
    layers = {
        "fa_forward": lambda: api.fa_forward(library.handle, reference, 0),
        "launch": lambda: prepare(library, -1, q, k, v, 0.5, "full").launch(*addresses, 0, 0),
        "kernel": lambda: _op.launch(q, k, v, 0.5, "full", "", [], [], []),
        "operator": lambda: _op.dispatched(q, k, v, 0.5, "full", "", [], [], []),
        "attention": lambda: flashloom.attention(q, k, v),
    }
    with torch.no_grad(), mock.patch.object(_eager, "ON_CPU", True):
        costs = {name: least_us(call) for name, call in layers.items()}
    folder.cleanup()
    for name, cost in costs.items():
        print(f"{name:12} {cost:6.2f} us")
    return int(arguments.max is not None and costs["attention"] - costs["fa_forward"] > arguments.max)


if __name__ == "__main__":
    sys.exit(main())
