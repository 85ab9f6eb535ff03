#!/usr/bin/env python3
"""Time and memory of a Llama layer's causal attention by each of PyTorch's backends and by Flashloom, as a table.

    FLASHLOOM_RUNTIME=libfa_runtime.so llama_table.py DIR [--csv FILE] [--batches 1,4] [--seqs 1024,2048,4096,8192]
                                                      [--backends math,flash,cudnn,efficient,flashloom]

DIR is a kernel library with a causal kernel of bf16 and head dimension 128. The problem is 32 heads on 8 KV heads,
bf16, [batch, heads, seq, dim]. Prints a Markdown table to standard output and writes CSV to --csv: backend, batch, seq,
kv, median_ms, tflops, peak_mib. Times are medians as bench_torch.py takes them; 4*B*H*S*S*D/2 operations are counted.
peak_mib is the memory beyond q, k and v while a call runs, its output included. A backend that takes no grouped heads
gets repeated ones, inside the timed call (kv is then "repeated"). Cells that a backend refuses, or that do not fit,
are empty.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

from bench_torch import median_ms  # noqa: E402

import flashloom  # noqa: E402

HEADS, KV_HEADS, DIM = 32, 8, 128
BACKENDS = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flashloom": None,
}
FIELDS = ["backend", "batch", "seq", "kv", "median_ms", "tflops", "peak_mib"]
MIB = 2**20


def calls(backend, q, k, v):
    """The ways to call a backend, ("grouped" | "repeated", function), the better one first."""
    if backend == "flashloom":
        return [("grouped", lambda: flashloom.attention(q, k, v, causal=True))]

    def grouped():
        with sdpa_kernel(BACKENDS[backend]):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    def repeated():
        group = HEADS // KV_HEADS
        with sdpa_kernel(BACKENDS[backend]):
            return F.scaled_dot_product_attention(
                q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), is_causal=True
            )

    return [("grouped", grouped), ("repeated", repeated)]


def peak_mib(call):
    """The most memory beyond what is held before a call, in MiB."""
    torch.cuda.synchronize()
    held = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - held) / MIB


def measure(backend, batch, seq):
    """A row of the CSV, or None where the backend refuses the cell or has no memory for it."""
    q = torch.randn(batch, HEADS, seq, DIM, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(batch, KV_HEADS, seq, DIM, device="cuda", dtype=torch.bfloat16) for _ in "kv")
    for kv, call in calls(backend, q, k, v):
        try:
            # The first call loads what it needs; its memory and time do not count.
            call()
            memory, ms = peak_mib(call), median_ms(call)
        except RuntimeError as error:
            print(f"{backend}, batch {batch}, seq {seq}, {kv}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        finally:
            torch.cuda.empty_cache()
        tflops = 4 * batch * HEADS * seq * seq * DIM / 2 / ms / 1e9
        return dict(zip(FIELDS, (backend, batch, seq, kv, f"{ms:.4f}", f"{tflops:.0f}", f"{memory:.0f}")))
    return None


def cell(row):
    return f"{float(row['median_ms']):.3f} ms, {row['tflops']} TFLOP/s, {row['peak_mib']} MiB" if row else ""


def main():
    ints = lambda text: [int(x) for x in text.split(",")]
    words = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--batches", default="1,4", type=ints)
    parser.add_argument("--seqs", default="1024,2048,4096,8192", type=ints)
    parser.add_argument("--backends", default=",".join(BACKENDS), type=words)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no GPU")
    unknown = set(arguments.backends) - set(BACKENDS)
    if unknown:
        parser.error(f"no backend {', '.join(sorted(unknown))}; there are {', '.join(BACKENDS)}")
    flashloom.load(arguments.directory)

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    print("| batch, S | " + " | ".join(arguments.backends) + " |")
    print("|---" * (1 + len(arguments.backends)) + "|")
    rows = []
    with torch.no_grad():
        for batch in arguments.batches:
            for seq in arguments.seqs:
                found = [measure(backend, batch, seq) for backend in arguments.backends]
                rows += filter(None, found)
                print(f"| {batch}, {seq} | " + " | ".join(map(cell, found)) + " |", flush=True)
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
