#!/usr/bin/env python3
"""Bytes that attention moves against M, the on-chip memory: measures them, and draws docs/traffic.svg.

    plot_traffic.py --measure FA_RUN SPEC [KIB...] > docs/traffic.csv    executes SPEC (bf16, D = 128) for each M, in KiB
    plot_traffic.py docs/traffic.csv > docs/traffic.svg

One head of N = 2048 queries and keys. The outer loop's block has M / 4 D rows, the inner one's as many, D at most
(FlashAttention 1, Algorithm 1), M in elements. Standard attention has no blocks, so M is nothing to it.
"""
import csv
import math
import subprocess
import sys
import tempfile

from svg import BLUE, GREEN, ORANGE, TEXT, dot, grid_line, line, open_picture, text

N, D, ELEMENT_BYTES, STATE_BYTES = 2048, 128, 2, 4
MEMORIES = [16, 32, 64, 128, 256]
MIB = 2 ** 20

# What each kind of loops is called in the CSV and in the picture, and its colour.
SERIES = {"standard": ("standard attention", GREEN),
          "v1": ("V1: KV outside", ORANGE),
          "v2": ("V2: Q outside", BLUE)}

# The picture and its axes, in pixels; both axes are logarithmic.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 380, 70, 170, 44, 52
BYTES_RANGE = (4, 512)


def passes(loops, kib):
    """The command line of the loops for M of `kib` KiB. --tile puts KV outside, --interchange Q."""
    if loops == "standard":
        return ["--decompose-attention"]
    outer = -(-kib * 1024 // ELEMENT_BYTES // (4 * D))
    inner = min(outer, D)
    if loops == "v1":
        # K's and V's tiles are loaded outside the loop over queries, as in the paper's line 6.
        return [f"--choose-schedule=policy=paper br={inner} bc={outer}", "--tile", "--loop-invariant-code-motion"]
    return [f"--choose-schedule=policy=paper br={outer} bc={inner}", "--tile", "--interchange"]


def measure(fa_run, spec, loops, kib):
    """The bytes loaded and stored."""
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as file:
        subprocess.run([fa_run, spec, *passes(loops, kib), f"--sizes=B=1,Hq=1,Hkv=1,Sq={N},Skv={N}",
                        f"--traffic-csv={file.name}"], check=True, stdout=subprocess.DEVNULL)
        rows = list(csv.DictReader(file))
    return sum(int(row["load_bytes"]) for row in rows), sum(int(row["store_bytes"]) for row in rows)


def write_csv(fa_run, spec, memories):
    print("loops,memory_kib,load_bytes,store_bytes")
    for loops in SERIES:
        for kib in memories:
            print(loops, kib, *measure(fa_run, spec, loops, kib), sep=",")


def law(loops, kib):
    """The term that goes with N^2 D^2 / M, in bytes: what is moved with each block of the outer loop."""
    moved = ELEMENT_BYTES + 2 * STATE_BYTES if loops == "v1" else 2 * ELEMENT_BYTES  # q, acc twice; k, v
    return 4 * moved * ELEMENT_BYTES * N * N * D * D / (kib * 1024)


def place_x(kib):
    span = math.log2(MEMORIES[-1] / MEMORIES[0])
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log2(kib / MEMORIES[0]) / span


def place_y(count):
    low, high = BYTES_RANGE
    share = math.log2(count / MIB / low) / math.log2(high / low)
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def axes():
    end = WIDTH - RIGHT
    yield text(LEFT, 20, f"Bytes moved: N = {N}, D = {D}, bf16, one head", "start")
    for power in range(int(math.log2(BYTES_RANGE[0])), int(math.log2(BYTES_RANGE[1])) + 1):
        y = place_y(2 ** power * MIB)
        yield grid_line(LEFT, y, end, y)
        yield text(LEFT - 8, y + 4, f"{2 ** power} MiB", "end")
    for kib in MEMORIES:
        yield text(place_x(kib), HEIGHT - BOTTOM + 20, f"{kib} KiB")
    yield text((LEFT + end) / 2, HEIGHT - 10, "M, on-chip memory")


def series(loops, rows):
    name, colour = SERIES[loops]
    points = [(place_x(kib), place_y(count)) for kib, count in rows]
    yield line(points, colour, ' stroke-width="2"')
    for x, y in points:
        yield dot(x, y, colour)
    yield text(points[-1][0] + 10, points[-1][1] + 4, name, "start", colour)
    if loops != "standard":
        yield line([(place_x(kib), place_y(law(loops, kib))) for kib in (MEMORIES[0], MEMORIES[-1])], colour,
                   ' stroke-dasharray="3 4"')


def draw(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print(open_picture(WIDTH, HEIGHT))
    print(*axes(), sep="\n")
    for loops in SERIES:
        counts = [(int(row["memory_kib"]), int(row["load_bytes"]) + int(row["store_bytes"]))
                  for row in rows if row["loops"] == loops]
        print(*series(loops, counts), sep="\n")
    print(text(WIDTH - RIGHT + 10, HEIGHT - BOTTOM + 4, "dashed: N² D² / M", "start"))
    print("</svg>")


def main():
    arguments = sys.argv[1:]
    if len(arguments) >= 3 and arguments[0] == "--measure":
        write_csv(arguments[1], arguments[2], [int(kib) for kib in arguments[3:]] or MEMORIES)
    elif len(arguments) == 1:
        draw(arguments[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
