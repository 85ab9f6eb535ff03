#!/usr/bin/env python3
"""Measures and plots the bytes that attention moves, against the size of shared memory.

    plot_traffic.py measure FA_RUN SPEC CSV    runs FlashAttention 1's and 2's loops with the paper's blocks
    plot_traffic.py plot CSV SVG               draws them

A line of the CSV is a pipeline, its shared memory in KiB, and a line of fa-run's --traffic-csv. Standard attention, whose
scores go to memory and come back, moves the same for any memory.
"""
import csv
import os
import subprocess
import sys
import tempfile

MEMORIES = [32, 48, 64, 80, 96, 128, 160, 192, 224]
SEQ, HEAD_DIM = 2048, 128
PIPELINES = {"--tile": "--tile",
             "--tile --loop-invariant-code-motion": "FlashAttention 1: --tile, K and V hoisted",
             "--tile --interchange": "FlashAttention 2: --tile --interchange",
             "--decompose-attention": "standard attention: --decompose-attention"}
COLORS = ["#9a6fb0", "#c8553d", "#2a6f97", "#6b705c"]
MIB = 1 << 20

# The picture, in pixels.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 20, 50, 50


def run(fa_run, spec, memory, passes):
    """The lines of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "traffic.csv")
        subprocess.run([fa_run, spec, f"--choose-schedule=policy=paper shared-bytes={memory * 1024}", *passes,
                        f"--sizes=B=1,Hq=1,Hkv=1,Sq={SEQ},Skv={SEQ}", f"--traffic-csv={path}"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            return list(csv.DictReader(file))


def measure(fa_run, spec, path):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as full, open(path, "w", encoding="utf-8") as out:
        with open(spec, encoding="utf-8") as file:
            full.write(file.read().replace("using [#attn.causal]", ""))
        full.flush()
        writer = None
        for name in PIPELINES:
            for memory in MEMORIES:
                for row in run(fa_run, full.name, memory, name.split()):
                    row = {"pipeline": name, "shared_kib": memory, **row}
                    if not writer:
                        writer = csv.DictWriter(out, row.keys(), lineterminator="\n")
                        writer.writeheader()
                    writer.writerow(row)


def read(path):
    """Total MiB by pipeline and KiB, and the sequence length."""
    totals = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            series = totals.setdefault(row["pipeline"], {})
            memory, moved = int(row["shared_kib"]), int(row["load_bytes"]) + int(row["store_bytes"])
            series[memory] = series.get(memory, 0) + moved / MIB
            length = int(row["seq_q"])
    return totals, length


def text(x, y, content, anchor="middle", color="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{content}</text>'


def line(x0, y0, x1, y1, color):
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{color}"/>'


def tick_step(most):
    """A round step with at most eight ticks."""
    step = 1
    while most / step > 8:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


def draw(totals, length):
    series = {PIPELINES.get(name, name): points for name, points in totals.items()}
    memories = sorted({memory for points in series.values() for memory in points})
    most = max(value for points in series.values() for value in points.values())
    scale_x = (WIDTH - LEFT - RIGHT) / memories[-1]
    scale_y = (HEIGHT - TOP - BOTTOM) / most
    place = lambda memory, value: (LEFT + memory * scale_x, HEIGHT - BOTTOM - value * scale_y)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(WIDTH / 2, 24, f"MiB moved by one head, N = {length}, D = {HEAD_DIM}, bf16, the paper's blocks"),
             text(WIDTH / 2, HEIGHT - 12, "shared memory M, KiB")]
    step = tick_step(most)
    for value in range(0, int(most) + 1, step):
        x, y = place(0, value)
        parts += [line(x, y, WIDTH - RIGHT, y, "#ddd"), text(x - 8, y + 4, value, "end")]
    for memory in memories:
        x, y = place(memory, 0)
        parts += [line(x, y, x, y + 4, "#333"), text(x, y + 18, memory)]
    for index, (label, points) in enumerate(series.items()):
        color = COLORS[index % len(COLORS)]
        path = " ".join("{:.1f},{:.1f}".format(*place(memory, points[memory])) for memory in sorted(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        y = TOP + 16 * index
        parts += [line(WIDTH - RIGHT - 300, y - 4, WIDTH - RIGHT - 276, y - 4, color),
                  text(WIDTH - RIGHT - 270, y, label, "start", color)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "measure":
        measure(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "plot":
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write(draw(*read(sys.argv[2])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
