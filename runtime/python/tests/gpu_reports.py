#!/usr/bin/env python3
"""Checks what users of attention kernels have hit elsewhere, on this machine's GPU, against standard attention in float64.

    FLASHLOOM_RUNTIME=libfa_runtime.so gpu_reports.py DIR [--only SUBSTRING]

DIR is a kernel library with bf16 kernels of head dimension 128: "full" and "causal", and of kernels-gen/specs what is
there of bias, cache, document, packed and window1024 (others are skipped). Prints a line for each case and at the end
`N passed, N failed`, with `, N skipped`. Exits 1 where a case failed or none passed, 77 where there is no GPU.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import flashloom  # noqa: E402

NO_GPU = 77
DIM = 128
TOLERANCE, LSE_TOLERANCE = 2e-2, 2e-3
HUGE = -3.4e38
HIDING = (-1e4, -1e8, -1e9, -1e10, -1e20, -1e37, HUGE)


def draw(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def draws(batch, heads, kv_heads, rows, keys):
    return draw(batch, heads, rows, DIM), draw(batch, kv_heads, keys, DIM), draw(batch, kv_heads, keys, DIM)


def causal_mask(rows, keys):
    return torch.ones(rows, keys, dtype=torch.bool, device="cuda").tril(keys - rows)


def standard(q, k, v, mask=None, bias=None):
    """o and lse in float64; rows without a key are 0 and -inf."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(group, 1) for x in (k, v))
    scores = q.double() @ k.mT * DIM**-0.5
    if bias is not None:
        scores = scores + bias.double()
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    lse = scores.logsumexp(-1) if scores.shape[-1] else torch.full(scores.shape[:-1], -torch.inf, device="cuda")
    weights = (scores - lse.unsqueeze(-1)).exp().nan_to_num(0)
    return weights @ v, lse


def aligned(bias):
    """The same in rows that lie multiples of 16 bytes apart, as kernels that copy tiles of it take them, with NaN between."""
    columns = bias.shape[-1]
    padding = -columns % (16 // bias.element_size())
    return torch.nn.functional.pad(bias, (0, padding), value=torch.nan)[..., :columns]


def close(found, expected):
    o, lse = found
    expected_o, expected_lse = expected
    torch.testing.assert_close(o.double(), expected_o, atol=TOLERANCE, rtol=TOLERANCE)
    torch.testing.assert_close(lse.double(), expected_lse.double(), atol=LSE_TOLERANCE, rtol=LSE_TOLERANCE)


def compare(q, k, v, causal=False, mask=None, **options):
    if causal:
        mask = causal_mask(q.shape[2], k.shape[2])
    close(flashloom.attention(q, k, v, causal=causal, return_lse=True, **options), standard(q, k, v, mask))


def expect_refusal(name, call):
    try:
        call()
    except flashloom.FlashloomError as error:
        assert name in str(error), error
        return
    raise AssertionError("was not refused")


# -- The cases ---------------------------------------------------------------------------------------------------------


def case_more_queries_than_keys():
    q, k, v = draws(1, 1, 1, 5, 2)
    o, lse = flashloom.attention(q, k, v, causal=True, return_lse=True)
    assert (o[:, :, :3] == 0).all() and (lse[:, :, :3] == -torch.inf).all()
    compare(q, k, v, causal=True)


def case_no_keys():
    q, k, v = draws(2, 4, 2, 33, 0)
    for causal in (False, True):
        o, lse = flashloom.attention(q, k, v, causal=causal, return_lse=True)
        assert (o == 0).all() and (lse == -torch.inf).all()


def case_no_queries():
    q, k, v = draws(2, 4, 2, 0, 33)
    assert flashloom.attention(q, k, v).shape == (2, 4, 0, DIM)


def case_no_batch():
    q, k, v = draws(0, 4, 2, 16, 33)
    assert flashloom.attention(q, k, v, causal=True).shape == (0, 4, 16, DIM)


def case_row_of_huge_biases_is_the_mean():
    q, k, v = draws(1, 2, 2, 70, 99)
    bias = aligned(torch.randn(2, 70, 99, device="cuda"))
    bias[:, 3] = HUGE
    o, _ = found = flashloom.attention(q, k, v, variant="bias", extras={"bias": bias}, return_lse=True)
    torch.testing.assert_close(o[:, :, 3].double(), v.double().mean(2), atol=TOLERANCE, rtol=TOLERANCE)
    expected = standard(q, k, v, bias=bias)
    rows = torch.arange(70, device="cuda") != 3
    close([x[:, :, rows] for x in found], [x[:, :, rows] for x in expected])


def case_huge_biases_hide_columns():
    q, k, v = draws(1, 2, 2, 441, 441)
    bias = aligned(torch.zeros(2, 441, 441, device="cuda"))
    for size in HIDING:
        bias[:, :, :128] = size
        found = flashloom.attention(q, k, v, variant="bias", extras={"bias": bias}, return_lse=True)
        close(found, standard(q, k, v, bias=bias))


def case_huge_bias_leaves_one_column():
    q, k, v = draws(1, 2, 2, 441, 441)
    bias = aligned(torch.zeros(2, 441, 441, device="cuda"))
    for size in HIDING:
        bias[:, :, 200] = -size
        found = flashloom.attention(q, k, v, variant="bias", extras={"bias": bias}, return_lse=True)
        close(found, standard(q, k, v, bias=bias))


def case_documents_in_any_order():
    q, k, v = draws(2, 4, 2, 700, 700)
    positions = torch.arange(700, device="cuda")
    shuffled = torch.randint(0, 5, (2, 700), device="cuda")
    ends = positions // torch.tensor([[150], [190]], device="cuda")
    padded = torch.where(positions < 500, ends, -1)
    outlier = torch.where(positions == 300, 9, ends)
    for ids in (shuffled, ends, ends.flip(1), padded, outlier):
        ids = ids.int().contiguous()
        mask = (ids[:, None, :, None] == ids[:, None, None, :]) & causal_mask(700, 700)
        extras = {"idsQ": ids, "idsKV": ids}
        close(flashloom.attention(q, k, v, variant="document", extras=extras, return_lse=True), standard(q, k, v, mask))


def case_packed_with_empty_sequences():
    starts_q, starts_kv = [0, 0, 1, 1, 2], [0, 0, 3, 3, 8]
    q, k, v = draws(1, 9, 3, 2, 8)
    extras = packed_extras(starts_q, starts_kv)
    o, lse = flashloom.attention(q, k, v, variant="packed", extras=extras, return_lse=True)
    for sequence in (1, 3):
        a, b = slice(*starts_q[sequence : sequence + 2]), slice(*starts_kv[sequence : sequence + 2])
        expected = standard(q[:, :, a], k[:, :, b], v[:, :, b], causal_mask(a.stop - a.start, b.stop - b.start))
        close((o[:, :, a], lse[:, :, a]), expected)


def case_packed_with_one_key_each():
    starts_q, starts_kv = [0, 76, 110, 256], [0, 1, 2, 3]
    q, k, v = draws(1, 1, 1, 256, 3)
    extras = packed_extras(starts_q, starts_kv)
    o, lse = flashloom.attention(q, k, v, variant="packed", extras=extras, return_lse=True)
    assert o.isfinite().all()
    for sequence in range(3):
        rows = slice(*starts_q[sequence : sequence + 2])
        assert (o[:, :, rows][:, :, :-1] == 0).all() and (lse[:, :, rows][:, :, :-1] == -torch.inf).all()
        torch.testing.assert_close(o[0, 0, rows.stop - 1], v[0, 0, sequence])


def packed_extras(starts_q, starts_kv):
    def upload(starts):
        return torch.tensor(starts, dtype=torch.int32, device="cuda")

    return {"cu_seqlens_q": upload(starts_q), "cu_seqlens_kv": upload(starts_kv)}


def case_cache_beyond_its_length():
    q, k, v = draws(2, 4, 2, 1, 3)
    lengths = torch.tensor([1, 3], dtype=torch.int32, device="cuda")
    beyond = (torch.arange(3, device="cuda") >= lengths.unsqueeze(1)).view(2, 1, 3, 1)
    results = []
    for fill in (0.0, torch.nan, torch.inf):
        filled = [x.masked_fill(beyond, fill) for x in (k, v)]
        results.append(
            flashloom.attention(q, *filled, variant="cache", extras={"kv_lens": lengths}, return_lse=True)
        )
    for result in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(result, results[0]))
    close(results[0], standard(q, k, v, mask=~beyond.view(2, 1, 1, 3)))


def case_offsets_over_2_31():
    keys, batch = 24000, 750
    k, v = (draw(keys, batch, DIM).permute(1, 0, 2).unsqueeze(1) for _ in range(2))
    assert k.stride(2) * (keys - 1) > 2**31
    q = draw(batch, 1, 4, DIM)
    found = flashloom.attention(q, k, v, return_lse=True)
    last = slice(batch - 2, batch)
    close([x[last] for x in found], standard(q[last], k[last], v[last]))


def case_many_heads():
    q, k, v = draws(1, 65536, 65536, 4, 5)
    compare(q, k, v, causal=True)
    del q, k, v
    q, k, v = draws(70000, 1, 1, 2, 3)
    compare(q, k, v)


def case_expanded_over_batches():
    q, k, v = draws(1, 4, 4, 100, 120)
    q, k, v = draw(3, 4, 100, DIM), k.expand(3, -1, -1, -1), v.expand(3, -1, -1, -1)
    compare(q, k, v, causal=True)


def case_q_and_k_of_different_layouts():
    q, k, v = draws(2, 4, 4, 100, 120)
    compare(q.transpose(1, 2).contiguous().transpose(1, 2), k, v)


def case_last_stride_is_refused():
    q, k, v = draws(1, 2, 2, DIM, DIM)
    expect_refusal("k", lambda: flashloom.attention(q, k.transpose(2, 3), v))


def case_two_byte_alignment_is_refused():
    _, k, v = draws(1, 2, 2, 64, 64)
    q = draw(2 * 64 * DIM + 1)[1:].view(1, 2, 64, DIM)
    expect_refusal("q", lambda: flashloom.attention(q, k, v))


def case_head_dim_without_a_kernel():
    q = torch.zeros(1, 1, 8, 20, dtype=torch.bfloat16, device="cuda")
    expect_refusal("20", lambda: flashloom.attention(q, q, q))


def case_window_of_all_keys_is_causal():
    q, k, v = draws(1, 4, 2, 300, 300)
    window = flashloom.attention(q, k, v, window=(1023, 0), return_lse=True)
    close(window, standard(q, k, v, causal_mask(300, 300)))


def case_window_bounds_are_inclusive():
    q, k, v = draws(1, 2, 2, 1500, 1300)
    last = torch.arange(1500, device="cuda").unsqueeze(1) - 200
    key = torch.arange(1300, device="cuda")
    mask = (key <= last) & (key >= last - 1023)
    compare(q, k, v, mask=mask, window=(1023, 0))


def case_grouped_heads():
    for heads, kv_heads in ((3, 3), (3, 1), (12, 4), (16, 4), (16, 2)):
        for causal in (False, True):
            compare(*draws(1, heads, kv_heads, 130, 150), causal=causal)


def case_one_query_of_20_keys():
    for causal in (False, True):
        compare(*draws(2, 8, 2, 1, 20), causal=causal)


def case_odd_lengths():
    for length in (1, 17, 113, 1000, 4097):
        for causal in (False, True):
            compare(*draws(1, 2, 1, length, length), causal=causal)


def case_scores_over_f16():
    q, k, v = draws(1, 2, 2, 200, 300)
    q, k = q.fill_(256), k.fill_(256)
    for causal in (False, True):
        compare(q, k, v, causal=causal)


def case_graph_with_new_lengths():
    q, k, v = draws(2, 4, 2, 1, 500)
    lengths = torch.tensor([7, 300], dtype=torch.int32, device="cuda")

    def call():
        return flashloom.attention(q, k, v, variant="cache", extras={"kv_lens": lengths}, return_lse=True)

    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = call()
    for pair in ([7, 300], [500, 1]):
        lengths.copy_(torch.tensor(pair, dtype=torch.int32))
        graph.replay()
        torch.cuda.synchronize()
        mask = torch.arange(500, device="cuda") < lengths.unsqueeze(1)
        close(found, standard(q, k, v, mask=mask.view(2, 1, 1, 500)))


# -- Running them ------------------------------------------------------------------------------------------------------


def run(name, case):
    try:
        case()
    except flashloom.NoKernelError as error:
        print(f"skipped: {name}: {str(error).splitlines()[0]}")
        return "skipped"
    except Exception:
        print(f"FAILED: {name}")
        traceback.print_exc(limit=-3, file=sys.stdout)
        return "failed"
    print(f"passed: {name}", flush=True)
    return "passed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU")
        return NO_GPU
    flashloom.load(arguments.directory)
    torch.manual_seed(0)
    cases = {name[len("case_") :]: case for name, case in globals().items() if name.startswith("case_")}
    outcomes = [run(name, case) for name, case in cases.items() if arguments.only in name]
    count = outcomes.count
    skipped = f", {count('skipped')} skipped" if count("skipped") else ""
    print(f"{count('passed')} passed, {count('failed')} failed{skipped}")
    return 1 if count("failed") or not count("passed") else 0


if __name__ == "__main__":
    sys.exit(main())
