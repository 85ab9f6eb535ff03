#!/usr/bin/env python3
"""Writes .npy files of documents' ids, and of flags of keys, that block lists may be made of.

    ids.py FOLDER BATCHES LENGTH

Writes KIND.npy, i32 [BATCHES, LENGTH], for each kind below, and flags-KIND.npy, bool [BATCHES, LENGTH]. Batches differ.
"""
import math
import random
import struct
import sys
from pathlib import Path

LEAST, LARGEST = -(1 << 31), (1 << 31) - 1


def documents(length, batch):
    return [i // (40 + batch) for i in range(length)]


def changed(ids, place, value):
    return ids[:place] + [value] + ids[place + 1:]


def ids_of(kind, length, batch, draw):
    sorted_ids = documents(length, batch)
    return {
        "sorted": lambda: sorted_ids,
        "falling": lambda: sorted_ids[::-1],
        # What is behind the last document belongs to none.
        "padded": lambda: [x if i < length * 2 // 3 else -1 for i, x in enumerate(sorted_ids)],
        # One id inside a block that neither end of the block has.
        "outlier": lambda: changed(sorted_ids, 100, 77),
        "missing": lambda: [2 * (x // 2) + 3 * (x % 2) for x in sorted_ids],
        "shuffled": lambda: [draw.randrange(4) for _ in range(length)],
        "alternating": lambda: [i % 2 for i in range(length)],
        "extreme": lambda: [LEAST if i < 90 else LARGEST for i in range(length)],
        "one": lambda: [5] * length,
    }[kind]()


def flags_of(kind, length, batch, draw):
    return {
        "all": lambda: [True] * length,
        "none": lambda: [False] * length,
        "prefix": lambda: [i < 100 + batch for i in range(length)],
        "hole": lambda: [i != 70 for i in range(length)],
        "spike": lambda: [i == 70 for i in range(length)],
        "shuffled": lambda: [draw.random() < 0.5 for _ in range(length)],
    }[kind]()


def write(file, descr, code, rows):
    header = repr({"descr": descr, "fortran_order": False, "shape": (len(rows), len(rows[0]))})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    values = [value for row in rows for value in row]
    data = struct.pack(f"<{math.prod((len(rows), len(rows[0])))}{code}", *values)
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    folder, batches, length = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    for kind in "sorted falling padded outlier missing shuffled alternating extreme one".split():
        write(folder / f"{kind}.npy", "<i4", "i", [ids_of(kind, length, b, draw) for b in range(batches)])
    for kind in "all none prefix hole spike shuffled".split():
        write(folder / f"flags-{kind}.npy", "|b1", "?", [flags_of(kind, length, b, draw) for b in range(batches)])


main()
