#!/usr/bin/env python3
"""Checks a kernel library's figures for sense: manifest_figures.py DIR COUNT."""
import json
import os
import sys

directory, count = sys.argv[1], int(sys.argv[2])
with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as file:
    kernels = json.load(file)["kernels"]
assert len(kernels) == count, len(kernels)
for kernel in kernels:
    assert os.path.getsize(os.path.join(directory, kernel["file"])) > 1000, kernel["file"]
    assert 32 <= kernel["registers"] <= 255 and kernel["spill_bytes"] == 0, kernel
    assert kernel["registers"] * kernel["block"] <= 65536, kernel
    limit = 227 if kernel["arch"] == "sm_90a" else 163
    assert 0 < kernel["shared_bytes"] <= limit * 1024, kernel
    assert [p["name"] for p in kernel["params"]] == ["q", "k", "v", "scale", "o", "lse"], kernel
    assert [g["dim"] for g in kernel["grid"]] == [2, 1, 0], kernel
