#!/usr/bin/env python3
"""Attention on PyTorch tensors: a first call, a check against PyTorch, and the speed of both.

    build/bin/fa-gen -o kernels
    ninja -C build fa_runtime_shared
    FLASHLOOM_RUNTIME=build/lib/libfa_runtime.so python3 examples/pytorch/attention.py kernels

Needs a GPU and PyTorch. Prints the largest difference to scaled_dot_product_attention, and for each length the median
time of both; exits 1 where the difference is more than bf16's rounding explains.
"""

import statistics
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

# An installed package (pip install runtime/python) needs no path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runtime" / "python"))

import flashloom  # noqa: E402

BATCH, HEADS, KV_HEADS, DIM = 2, 32, 8, 128
LENGTHS = (512, 1024, 2048, 4096, 8192)
TOLERANCE = 2e-2


def median_ms(call, runs=30):
    """The median device time of a call in milliseconds, after others for a fifth of a second: an idle GPU's clock is low."""
    start = time.monotonic()
    while time.monotonic() - start < 0.2:
        call()
        torch.cuda.synchronize()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(runs)]
    for start, stop in events:
        start.record()
        call()
        stop.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(stop) for start, stop in events)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        sys.exit("no GPU")
    flashloom.load(sys.argv[1])
    worst = 0.0
    print(f"{'length':>8} {'flashloom':>12} {'PyTorch':>12}   (ms, causal, bf16)")
    for length in LENGTHS:
        q = torch.randn(BATCH, HEADS, length, DIM, device="cuda", dtype=torch.bfloat16)
        k, v = (torch.randn(BATCH, KV_HEADS, length, DIM, device="cuda", dtype=torch.bfloat16) for _ in "kv")

        ours = lambda: flashloom.attention(q, k, v, causal=True)
        theirs = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        worst = max(worst, (ours() - theirs()).abs().max().item())
        print(f"{length:8} {median_ms(ours):12.3f} {median_ms(theirs):12.3f}")
    print(f"largest difference: {worst:.4f}")
    return int(worst > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
