#!/usr/bin/env python3
"""Checks the package on this machine's GPU against PyTorch's own attention (MATH backend, float32).

    FLASHLOOM_RUNTIME=libfa_runtime.so gpu_check.py DIR [--only SUBSTRING]

DIR is a kernel library with "full" and "causal" kernels. Every dtype and head dimension of it is checked at several
sizes; the drop-ins, layouts, torch.compile, CUDA graphs, streams and threads with one of them, and lists of blocks
where the library has its "document" kernel. Prints a line for each
check, what a call costs the host, and at the end `N passed, N failed`, with `, N skipped` for what this device or
installation cannot run. Exits 1 where a check failed or none passed, 77 where there is no GPU.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
import traceback
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import flashloom  # noqa: E402
from flashloom._launch import prepare  # noqa: E402
from flashloom._library import default_library  # noqa: E402

NO_GPU = 77
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
# Of an output: inputs are normal draws, so that its elements are below 4.
TOLERANCES = {torch.bfloat16: 2e-2, torch.float16: 3e-3, torch.float32: 2e-3}
LSE_TOLERANCE = 2e-3
# batch, heads, kv_heads, seq_q, seq_kv.
SIZES = [
    (2, 4, 4, 128, 128),
    (1, 8, 2, 257, 257),
    (2, 4, 1, 1, 1000),
    (1, 4, 4, 100, 1025),
    (1, 2, 2, 300, 77),
    (1, 16, 4, 2048, 2048),
]


class Skip(Exception):
    """What this device, library or installation cannot run."""


def draw(*shape, dtype):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def draws(size, dim, dtype, dim_v=None):
    batch, heads, kv_heads, seq_q, seq_kv = size
    q = draw(batch, heads, seq_q, dim, dtype=dtype)
    return q, draw(batch, kv_heads, seq_kv, dim, dtype=dtype), draw(batch, kv_heads, seq_kv, dim_v or dim, dtype=dtype)


def bottom_right(q, k):
    rows, keys = q.shape[2], k.shape[2]
    return torch.ones(rows, keys, dtype=torch.bool, device="cuda").tril(keys - rows)


def wanted(q, k, v, causal=False, scale=None):
    """PyTorch's output, by standard attention in float32; rows that see no key are 0."""
    mask = bottom_right(q, k) if causal else None
    q, k, v = q.float(), k.float(), v.float()
    with sdpa_kernel(SDPBackend.MATH):
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale, enable_gqa=True)
    return o if mask is None else o.nan_to_num(0) * mask.any(-1).view(1, 1, -1, 1)


def wanted_documents(q, k, v, ids):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1).float() for x in (k, v))
    mask = (ids[:, None, :, None] == ids[:, None, None, :]) & bottom_right(q, k)
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(q.float(), k, v, attn_mask=mask)


def wanted_lse(q, k, causal, scale):
    scores = q.float() @ k.float().repeat_interleave(q.shape[1] // k.shape[1], 1).mT * scale
    if causal:
        scores = scores.masked_fill(~bottom_right(q, k), float("-inf"))
    return scores.logsumexp(-1)


def close(found, expected, tolerance=None):
    tolerance = tolerance or TOLERANCES[found.dtype]
    torch.testing.assert_close(found.float(), expected.float(), atol=tolerance, rtol=tolerance)


# -- Each problem of the library ---------------------------------------------------------------------------------------


def check_problem(kernel, size):
    if not kernel.gqa and size[1] != size[2]:
        raise Skip("the kernel takes as many kv_heads as heads")
    q, k, v = draws(size, kernel.head_dim, DTYPES[kernel.dtype], kernel.head_dim_v)
    causal, scale = kernel.variant == "causal", 0.8 * kernel.head_dim**-0.5
    o, lse = flashloom.attention(q, k, v, causal=causal, scale=scale, return_lse=True)
    close(o, wanted(q, k, v, causal, scale))
    close(lse, wanted_lse(q, k, causal, scale), LSE_TOLERANCE)


def problem_checks(library):
    seen = set()
    for kernel in library.kernels:
        problem = (kernel.dtype, kernel.head_dim, kernel.head_dim_v, kernel.variant)
        if kernel.variant not in ("full", "causal") or problem in seen:
            continue
        seen.add(problem)
        for size in SIZES:
            name = f"{kernel.dtype} d{kernel.head_dim} {kernel.variant} {'x'.join(map(str, size))}"
            yield name, lambda kernel=kernel, size=size: check_problem(kernel, size)


# -- The interfaces, with one problem ----------------------------------------------------------------------------------


class Interfaces:
    """Checks with one dtype and head dimension, whose kernels take grouped heads. Each method is one check."""

    def __init__(self, dtype: torch.dtype, dim: int) -> None:
        self.dtype, self.dim = dtype, dim

    def draws(self, size=(2, 8, 2, 200, 300)):
        return draws(size, self.dim, self.dtype)

    def check_bshd(self):
        q, k, v = (x.transpose(1, 2).contiguous() for x in self.draws())
        o = flashloom.attention(q, k, v, causal=True, layout="bshd")
        assert o.is_contiguous()
        close(o.transpose(1, 2), wanted(*(x.transpose(1, 2) for x in (q, k, v)), causal=True))

    def check_slices_of_one_projection(self):
        packed = draw(2, 200, 3, 4, self.dim, dtype=self.dtype)
        q, k, v = (x.transpose(1, 2) for x in packed.unbind(2))
        close(flashloom.attention(q, k, v), wanted(q, k, v))

    def check_expanded_heads(self):
        q, k, v = self.draws((2, 8, 1, 200, 300))
        k, v = k.expand(-1, 8, -1, -1), v.expand(-1, 8, -1, -1)
        close(flashloom.attention(q, k, v), wanted(q, k, v))

    def check_sdpa(self):
        call = flashloom.scaled_dot_product_attention
        for rows, keys, causal in ((200, 300, False), (200, 300, True), (300, 300, True)):
            q, k, v = self.draws((2, 8, 2, rows, keys))
            with sdpa_kernel(SDPBackend.MATH):
                expected = F.scaled_dot_product_attention(
                    q.float(), k.float(), v.float(), is_causal=causal, enable_gqa=True
                )
            close(call(q, k, v, is_causal=causal, enable_gqa=True), expected)

    def check_flash_attn_func(self):
        q, k, v = self.draws()
        o = flashloom.flash_attn_func(*(x.transpose(1, 2) for x in (q, k, v)), softmax_scale=0.1, causal=True)
        close(o.transpose(1, 2), wanted(q, k, v, causal=True, scale=0.1))

    def check_compile(self):
        for dynamic in (None, True):
            torch.compiler.reset()
            block = torch.compile(self.block, fullgraph=True, dynamic=dynamic)
            for rows in (200, 264):
                q, k, v = self.draws((2, 8, 2, rows, 300))
                close(block(q, k, v), self.block_wanted(q, k, v), 4e-2)

    def check_compile_reduce_overhead(self):
        torch.compiler.reset()
        block = torch.compile(self.block, fullgraph=True, mode="reduce-overhead")
        for _ in range(4):
            q, k, v = self.draws()
            close(block(q, k, v), self.block_wanted(q, k, v), 4e-2)

    @staticmethod
    def block(q, k, v):
        with torch.no_grad():
            o, lse = flashloom.attention(q * 1.5, k, v, causal=True, return_lse=True)
            return F.silu(o) + lse.unsqueeze(-1).to(o.dtype) * 0

    @staticmethod
    def block_wanted(q, k, v):
        return F.silu(wanted(q * 1.5, k, v, causal=True))

    def check_graph(self):
        q, k, v = self.draws()
        flashloom.attention(q, k, v, causal=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            o, lse = flashloom.attention(q, k, v, causal=True, return_lse=True)
        for _ in range(3):
            for x in (q, k, v):
                x.normal_()
            graph.replay()
            close(o, wanted(q, k, v, causal=True))
            close(lse, wanted_lse(q, k, True, self.dim**-0.5), LSE_TOLERANCE)

    def check_graph_of_one_query(self):
        q, k, v = self.draws((4, 8, 2, 1, 4000))
        flashloom.attention(q, k, v)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            o = flashloom.attention(q, k, v)
        for _ in range(3):
            q.normal_()
            graph.replay()
            close(o, wanted(q, k, v))

    def document_layer(self, ids, lists):
        """Checks a call of the variant "document" on new tensors."""
        q, k, v = self.draws((2, 8, 2, 700, 700))
        extras = {"idsQ": ids, "idsKV": ids}
        o = run_or_skip(lambda: flashloom.attention(q, k, v, variant="document", extras=extras, lists=lists))
        close(o, wanted_documents(q, k, v, ids))

    def check_lists_of_layers(self):
        ids = torch.randint(0, 5, (2, 700), dtype=torch.int32, device="cuda").sort().values
        lists = flashloom.BlockLists()
        for shift in (0, 100):
            ids.copy_(ids.roll(shift, 1))
            for _ in range(3):
                self.document_layer(ids, lists)

    def check_lists_in_a_graph(self):
        q, k, v = self.draws((2, 8, 2, 700, 700))
        ids = torch.arange(700, dtype=torch.int32, device="cuda").div(200, rounding_mode="floor").repeat(2, 1)
        run = lambda lists: run_or_skip(
            lambda: flashloom.attention(q, k, v, variant="document", extras={"idsQ": ids, "idsKV": ids}, lists=lists)
        )
        run(None)
        graph, lists = torch.cuda.CUDAGraph(), flashloom.BlockLists()
        with torch.cuda.graph(graph):
            results = [run(lists) for _ in range(2)]
        for shift in (0, 50, 300):
            ids.copy_(ids.roll(shift, 1))
            graph.replay()
            for o in results:
                close(o, wanted_documents(q, k, v, ids))

    def check_current_stream(self):
        q, k, v = self.draws()
        late, stream = q.clone(), torch.cuda.Stream()
        q.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            # The launch must wait for what its stream is busy with.
            torch.cuda._sleep(100_000_000)
            q.copy_(late)
            o = flashloom.attention(q, k, v)
        stream.synchronize()
        close(o, wanted(late, k, v))

    def check_no_synchronization(self):
        q, k, v = self.draws()
        flashloom.attention(q, k, v)
        torch.cuda.set_sync_debug_mode("error")
        try:
            torch.cuda._sleep(400_000_000)
            started = time.perf_counter()
            flashloom.attention(q, k, v)
            took = time.perf_counter() - started
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert took < 0.05, f"the call waited {took:.3f} s for the GPU"

    def check_new_thread(self):
        q, k, v = self.draws()
        results = []
        thread = threading.Thread(target=lambda: results.append(flashloom.attention(q, k, v)))
        thread.start()
        thread.join()
        close(results[0], wanted(q, k, v))

    def check_other_device(self):
        if torch.cuda.device_count() < 2:
            raise Skip("one GPU")
        q, k, v = self.draws()
        expected = wanted(q, k, v)
        there = [x.to("cuda:1") for x in (q, k, v)]
        # The second call of a problem takes another way than the first.
        for device in (1, 1, 0, 1, 0, 0):
            o = flashloom.attention(*(there if device else (q, k, v)))
            assert o.device.index == device and torch.cuda.current_device() == 0
            close(o.to("cuda:0"), expected)
        expect(flashloom.InvalidArgumentError, lambda: flashloom.attention(q, there[1], v))
        with torch.cuda.device(1):
            close(flashloom.attention(q, k, v), expected)
            graph = torch.cuda.CUDAGraph()
            # PyTorch's own stream for captures is one of the device that was current at the first.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                o = flashloom.attention(*there)
            graph.replay()
            assert torch.cuda.current_device() == 1
        close(o.to("cuda:0"), expected)

    def check_inference_mode(self):
        q, k, v = self.draws()
        with torch.inference_mode():
            close(flashloom.attention(q.requires_grad_(), k, v), wanted(q, k, v))

    def check_gradients_are_refused(self):
        q, k, v = self.draws()
        expect(flashloom.UnsupportedError, lambda: flashloom.attention(q.requires_grad_(), k, v))

    def check_missing_kernel_lists_the_library(self):
        q = draw(1, 1, 64, 24, dtype=self.dtype)
        error = expect(flashloom.NoKernelError, lambda: flashloom.attention(q, q, q))
        assert "has kernels for:" in str(error), error

    def check_cpu_tensors_are_refused(self):
        q = torch.zeros(1, 1, 8, self.dim, dtype=self.dtype)
        expect(flashloom.InvalidArgumentError, lambda: flashloom.attention(q, q, q))

    def check_cupy(self):
        cupy = imported("cupy")
        q, k, v = (x.half() for x in self.draws())
        o = run_or_skip(lambda: flashloom.attention(*(cupy.from_dlpack(x) for x in (q, k, v))))
        assert isinstance(o, cupy.ndarray)
        close(torch.from_dlpack(o), wanted(q, k, v))

    def check_jax(self):
        jax = imported("jax")
        q, k, v = self.draws()
        try:
            jax.devices()
            # JAX leaves the last GPU current when it starts.
            torch.cuda.set_device(0)
            arrays = [jax.dlpack.from_dlpack(x) for x in (q, k, v)]
        except Exception as error:
            raise Skip(f"jax takes no CUDA tensor: {error}") from error
        o = flashloom.attention(*arrays)
        assert isinstance(o, jax.Array)
        close(torch.from_dlpack(o), wanted(q, k, v))

    def all(self):
        for name in dir(self):
            if name.startswith("check_"):
                yield name[len("check_") :], getattr(self, name)


def expect(error, call):
    try:
        call()
    except error as caught:
        return caught
    raise AssertionError(f"no {error.__name__}")


def imported(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise Skip(f"no {name}") from error


def run_or_skip(call):
    try:
        return call()
    except flashloom.NoKernelError as error:
        raise Skip("no kernel for it") from error


def main_problem(library):
    """The dtype and head dimension to check interfaces with: bf16 and 128 before others; None where there is none."""
    names = {(k.dtype, k.head_dim, k.variant) for k in library.kernels if k.gqa and k.head_dim == k.head_dim_v}
    both = [(t, d) for t, d, variant in sorted(names) if variant == "causal" and (t, d, "full") in names]
    return min(both, key=lambda x: (x[0] != "bf16", abs(x[1] - 128)), default=None)


def host_us(call, calls=200, rounds=9):
    """The least over rounds of the host's mean time for a call in microseconds; the GPU runs behind."""
    means = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(calls):
            call()
        means.append((time.perf_counter() - started) / calls * 1e6)
    torch.cuda.synchronize()
    return min(means)


def print_host_cost(dtype, dim):
    q, k, v = draws((1, 4, 4, 64, 64), dim, dtype)
    with torch.no_grad():
        ours = host_us(lambda: flashloom.attention(q, k, v, causal=True))
        theirs = host_us(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    o, lse = torch.empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)
    prepared = prepare(default_library(), q.get_device(), q, k, v, dim**-0.5, "causal")
    addresses = [x.data_ptr() for x in (q, k, v, o, lse)]
    c_api = host_us(lambda: prepared.launch(*addresses, 0, 0))
    print(
        f"host time of a call: flashloom {ours:.1f} us, scaled_dot_product_attention {theirs:.1f} us, "
        f"the C API's launch by ctypes {c_api:.1f} us"
    )


def outcome(call):
    """("passed" | "failed" | "skipped", the reason)."""
    torch.manual_seed(0)
    torch.cuda.set_device(0)
    try:
        call()
        return "passed", ""
    except Skip as skip:
        return "skipped", str(skip)
    except flashloom.NoKernelError as error:
        if "runs on this device" in str(error):
            return "skipped", "no kernel for this device"
        return "failed", traceback.format_exc()
    except Exception:
        return "failed", traceback.format_exc()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--only", default="", help="checks whose name contains it")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU")
        return NO_GPU
    torch.backends.cuda.matmul.allow_tf32 = False
    library = flashloom.load(arguments.directory)
    problem = main_problem(library)
    if problem is None:
        parser.error("the library needs full and causal kernels of one type and head dimension, with grouped heads")

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {library.describe()}")
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    interfaces = Interfaces(DTYPES[problem[0]], problem[1])
    for name, call in (*problem_checks(library), *interfaces.all()):
        if arguments.only not in name:
            continue
        result, reason = outcome(call)
        counts[result] += 1
        print(f"{result}: {name}" + (f": {reason}" if reason else ""), flush=True)
    if not counts["failed"] and not arguments.only:
        print_host_cost(interfaces.dtype, interfaces.dim)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return int(counts["failed"] > 0 or counts["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main())
