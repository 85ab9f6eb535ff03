#!/usr/bin/env python3
"""Checks that a manifest's candidates have the schedules that they say: manifest_candidates.py DIR."""
import json
import os
import sys

with open(os.path.join(sys.argv[1], "manifest.json"), encoding="utf-8") as file:
    kernels = json.load(file)["kernels"]
assert len(kernels) >= 4
seen = set()
for kernel in kernels:
    tuning = kernel["tuning"]
    key = json.dumps([kernel["head_dim"], tuning], sort_keys=True)
    assert key not in seen, key
    seen.add(key)
    for field in ["br", "bc", "teams", "warps", "stages"]:
        assert f" {field} = {tuning[field]}," in kernel["schedule"], kernel
    rescale = tuning["rescale"].replace("-", "_")
    assert rescale == "always" or f"rescale = {rescale}" in kernel["schedule"], kernel
    assert tuning["persistent"] == ("blocks_per_sm" in kernel), kernel
    assert kernel["spill_bytes"] == 0, kernel
