#!/usr/bin/env python3
"""The pictures of docs/benchmarks.md, from the files that were measured.

    plot_benchmarks.py forward docs/benchmarks/2026-11-30-h200.csv > docs/benchmarks/forward.svg
    plot_benchmarks.py ablation docs/benchmarks/2026-11-30-h200-ablation.txt > docs/benchmarks/ablation.svg
    plot_benchmarks.py llama docs/benchmarks/2026-11-30-h200-llama.csv > docs/benchmarks/llama.svg
"""
import csv
import math
import statistics
import sys

from svg import BLUE, GREEN, GREY, ORANGE, bar, dot, grid_line, line, open_picture, text

BOLD = ' font-weight="bold"'

# By their names in the files: what they are called here, and their colours.
LIBRARIES = {"flashloom": ("Flashloom", BLUE), "cudnn": ("cuDNN", GREEN), "flash": ("FlashAttention 2", ORANGE)}
BACKENDS = {**LIBRARIES, "math": ("standard attention (math)", GREY)}
MASKS = {"full": ("no mask", GREEN), "causal": ("causal", BLUE)}


class Panel:
    """The area of a plot in pixels, and its value axis, from 0 up."""

    def __init__(self, left, top, width, height, limit):
        self.left, self.top, self.width, self.height, self.limit = left, top, width, height, limit
        self.right, self.bottom = left + width, top + height

    def y(self, value):
        return self.bottom - self.height * value / self.limit

    def grid(self, step, with_numbers=True):
        for value in range(0, self.limit + 1, step):
            yield grid_line(self.left, self.y(value), self.right, self.y(value))
            if with_numbers:
                yield text(self.left - 8, self.y(value) + 4, value, "end")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(row for row in file if not row.startswith("#")))


def legend(entries, x, y):
    """Squares with names, in a row from x on; a letter is taken for 6.5 pixels."""
    for name, colour in entries:
        yield bar(x, y - 9, 10, 10, colour)
        yield text(x + 15, y, name, "start")
        x += 15 + 6.5 * len(name) + 18


def length_name(length):
    return f"{length // 1024}K" if length >= 1024 else str(length)


# -- Forward -----------------------------------------------------------------


def draw_forward(path):
    """A panel for each mask and head dimension: TFLOP/s over the length. Of several timings it is the mean."""
    rows = [row for row in rows_of(path) if row["pass"] == "fwd" and row["dtype"] == "bf16"]
    dims, lengths = (64, 128, 256), (512, 1024, 2048, 4096, 8192, 16384)
    width, height, gap, left, top = 238, 160, 22, 52, 76
    yield open_picture(840, 490)
    yield text(left, 20, "Attention forward, bf16, NVIDIA H200: TFLOP/s", "start", more=BOLD)
    yield from legend(LIBRARIES.values(), left, 44)
    for i, mask in enumerate(MASKS):
        for j, dim in enumerate(dims):
            panel = Panel(left + j * (width + gap), top + i * (height + 44), width, height, 900)
            yield from panel.grid(300, with_numbers=j == 0)
            yield text(panel.left + 6, panel.top - 4, f"D {dim}, {MASKS[mask][0]}", "start", more=BOLD)
            place = lambda length: panel.left + 14 + (width - 28) * math.log2(length / lengths[0]) / (len(lengths) - 1)
            for length in lengths:
                yield text(place(length), panel.bottom + 16, length_name(length))
            for library in reversed(LIBRARIES):
                chosen = [row for row in rows if (row["peer"], row["head_dim"], row["head_dim_v"], row["variant"]) ==
                          (library, str(dim), str(dim), mask)]
                rate = lambda length: statistics.mean(
                    float(row["rate"]) for row in chosen if row["seq_kv"] == str(length))
                yield from curve([(place(length), panel.y(rate(length))) for length in lengths], LIBRARIES[library][1])
    yield text(left + 1.5 * width + gap, 482, "queries and keys (16384 tokens in all, 2048 / D heads)")


def curve(points, colour):
    yield line(points, colour, ' stroke-width="2"')
    yield from (dot(x, y, colour, 3) for x, y in points)


# -- The steps from FlashAttention 1 to 3 ------------------------------------


def steps_of(path):
    """For each problem, by its line of description, the steps and their TFLOP/s, as `fa-bench ablate` prints them."""
    problems = {}
    with open(path, encoding="utf-8") as file:
        for words in map(str.split, file):
            if words and words[0] in ("bf16,", "f16,"):
                steps = problems.setdefault(" ".join(words), {})
            elif words and words[0] not in ("#", "step"):
                steps[words[0]] = float(words[2])
    return problems


def draw_ablation(path, length="S 4096"):
    problems = {mask: steps for mask in MASKS for name, steps in steps_of(path).items()
                if f", {mask}, " in name and name.endswith(length)}
    steps, left, top, row, width = list(problems["full"]), 160, 64, 30, 600
    limit, thickness = 800, 11
    end = top + row * len(steps)
    yield open_picture(840, end + 34)
    yield text(left, 20, f"Flashloom from FlashAttention 1 to 3, step by step: TFLOP/s (bf16, D 128, {length}, NVIDIA H200)",
               "start", more=BOLD)
    yield from legend(MASKS.values(), left, 44)
    for value in range(0, limit + 1, 100):
        x = left + width * value / limit
        yield grid_line(x, top, x, end)
        yield text(x, end + 18, value)
    for i, step in enumerate(steps):
        y = top + row * i + 4
        yield text(left - 10, y + thickness + 4, step, "end", more=BOLD if step.startswith("fa") else "")
        for mask, (_, colour) in MASKS.items():
            rate = problems[mask][step]
            yield bar(left, y, width * rate / limit, thickness, colour)
            yield text(left + width * rate / limit + 6, y + thickness - 1, f"{rate:.0f}", "start",
                       more=' font-size="11"')
            y += thickness


# -- A Llama layer -----------------------------------------------------------


def draw_llama(path):
    rows = rows_of(path)
    batches, lengths = (1, 4), (1024, 2048, 4096, 8192)
    order = ("math", "flash", "cudnn", "flashloom")
    width, height, gap, left, top, thickness = 368, 220, 26, 52, 76, 18
    yield open_picture(840, 346)
    yield text(left, 20, "A Llama layer through PyTorch: TFLOP/s (32 heads on 8, D 128, causal, bf16, NVIDIA H200)",
               "start", more=BOLD)
    yield from legend([BACKENDS[name] for name in order], left, 44)
    for i, batch in enumerate(batches):
        panel = Panel(left + i * (width + gap), top, width, height, 800)
        yield from panel.grid(200, with_numbers=i == 0)
        yield text(panel.left + 6, panel.top - 4, f"batch {batch}", "start", more=BOLD)
        for j, length in enumerate(lengths):
            middle = panel.left + width * (j + 0.5) / len(lengths)
            yield text(middle, panel.bottom + 18, f"S {length}")
            for k, name in enumerate(order):
                (rate,) = (float(row["tflops"]) for row in rows if (row["backend"], row["batch"], row["seq"]) ==
                           (name, str(batch), str(length)))
                x = middle + (k - len(order) / 2) * thickness
                yield bar(x + 1, panel.y(rate), thickness - 2, panel.bottom - panel.y(rate), BACKENDS[name][1])
                yield text(x + thickness / 2, panel.y(rate) - 4, f"{rate:.0f}", more=' font-size="9"')
    yield text(left + width + gap / 2, 338, "queries and keys")


def main():
    pictures = {"forward": draw_forward, "ablation": draw_ablation, "llama": draw_llama}
    if len(sys.argv) != 3 or sys.argv[1] not in pictures:
        sys.exit(__doc__)
    print(*pictures[sys.argv[1]](sys.argv[2]), "</svg>", sep="\n")


if __name__ == "__main__":
    main()
