#!/usr/bin/env python3
"""Holds --traffic-csv against closed forms: FlashAttention 1's and 2's loops, for several sizes of shared memory.

    traffic.py FA_RUN SPEC

SPEC is causal attention in bf16 with D = 128.
"""
import csv
import os
import subprocess
import sys
import tempfile

N, D, HEADS = 2048, 128, 1
INPUT_BYTES, STATE_BYTES = 2, 4
MEMORIES = [25, 50, 100, 200]
V1 = ["--tile"]
V2 = ["--tile", "--interchange"]
failed = 0


def check(what, found, wanted):
    global failed
    if found != wanted:
        failed += 1
        print(f"{what}: found {found}, wanted {wanted}")


def measure(fa_run, spec, memory, passes):
    """Loads and stores by tensor."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "traffic.csv")
        subprocess.run([fa_run, spec, f"--choose-schedule=policy=paper shared-bytes={memory * 1024}", *passes,
                        f"--sizes=B=1,Hq={HEADS},Hkv={HEADS},Sq={N},Skv={N}", f"--traffic-csv={path}"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            return {row["tensor"]: (int(row["load_bytes"]), int(row["store_bytes"])) for row in csv.DictReader(file)}


def blocks(memory):
    """The paper's block sizes, rounded down to 16: (Br, Bc)."""
    block = -(-memory * 1024 // INPUT_BYTES // (4 * D))
    return min(block, D) // 16 * 16, block // 16 * 16


def trips(block):
    return -(-N // block)


def closed_form_v1(memory):
    br, bc = blocks(memory)
    matrix, rows = N * D, N
    turns = trips(bc)
    # All rows of the state are made once, loaded and stored with each block of keys, and read once at the end.
    state = lambda size: ((turns + 1) * size * STATE_BYTES, (turns + 1) * size * STATE_BYTES)
    return {"q": (turns * matrix * INPUT_BYTES, 0),
            "k": (trips(br) * matrix * INPUT_BYTES, 0),
            "v": (trips(br) * matrix * INPUT_BYTES, 0),
            "acc": state(matrix), "max": state(rows), "sum": state(rows),
            "o": (0, matrix * INPUT_BYTES), "lse": (0, rows * STATE_BYTES)}


def hoist(form):
    """With K's and V's tiles loaded before the loop over queries, as the paper says it, both are read once."""
    return {**form, "k": (N * D * INPUT_BYTES, 0), "v": (N * D * INPUT_BYTES, 0)}


def closed_form_v2(memory, keys=None):
    br, _ = blocks(memory)
    keys = trips(br) * N if keys is None else keys
    return {"q": (N * D * INPUT_BYTES, 0),
            "k": (keys * D * INPUT_BYTES, 0),
            "v": (keys * D * INPUT_BYTES, 0),
            "o": (0, N * D * INPUT_BYTES), "lse": (0, N * STATE_BYTES)}


def causal_keys(memory):
    """Each block of queries reads the blocks of keys that hold one that its last query sees."""
    br, bc = blocks(memory)
    ends = [min(start + br, N) for start in range(0, N, br)]
    return sum(min(-(-end // bc) * bc, N) for end in ends)


def total(traffic):
    return sum(loads + stores for loads, stores in traffic.values())


def check_memory(fa_run, full, memory):
    """Both loops for one size of memory. Returns the bytes that FlashAttention 1's move."""
    paper = measure(fa_run, full, memory, [*V1, "--loop-invariant-code-motion"])
    check(f"V1, hoisted, {memory} KiB", paper, hoist(closed_form_v1(memory)))
    v2 = measure(fa_run, full, memory, V2)
    check(f"V2, {memory} KiB", v2, closed_form_v2(memory))
    check(f"V2 below V1, {memory} KiB", total(v2) < total(paper), True)
    return total(paper)


def check_variants(fa_run, full, causal, memory):
    """The loops as --tile leaves them, all passes of level B, and causal skipping."""
    check("V1", measure(fa_run, full, memory, V1), closed_form_v1(memory))
    padded = measure(fa_run, full, memory, [*V2, "--delay-normalization", "--pad-tiles", "--online-softmax"])
    check("V2 down to level C", padded, closed_form_v2(memory))
    skipped = measure(fa_run, causal, memory, [*V2, "--delay-normalization", "--skip-masked-blocks"])
    check("V2, causal", skipped, closed_form_v2(memory, causal_keys(memory)))
    share = skipped["k"][0] / padded["k"][0]
    check("about half of the keys", 0.5 < share < 0.5 + sum(blocks(memory)) / 2 / N, True)


def main():
    fa_run, spec = sys.argv[1:]
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as full:
        with open(spec, encoding="utf-8") as file:
            full.write(file.read().replace("using [#attn.causal]", ""))
        full.flush()
        moved = {memory: check_memory(fa_run, full.name, memory) for memory in MEMORIES}
        check_variants(fa_run, full.name, spec, 100)
    # N^2 D^2 / M, apart from the rounding of blocks to 16 rows and from what is moved once.
    for memory in MEMORIES:
        ideal = memory * 1024 / INPUT_BYTES / (4 * D)
        rounding = ideal / blocks(memory)[1]
        constant = moved[memory] * memory / (moved[100] * 100) / rounding
        check(f"N^2 D^2 / M at {memory} KiB: {constant:.3f} is about 1", 0.85 < constant < 1.15, True)
    print(f"{len(MEMORIES)} sizes of memory, {failed} wrong")
    sys.exit(1 if failed else 0)


main()
