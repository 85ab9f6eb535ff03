#!/usr/bin/env python3
"""Checks the numbers after every pass of --fa1 and --fa2 down to level C, with and without the causal mask.

    every_pass.py FA_RUN SPEC ELEMENT

SPEC is causal attention in bf16; ELEMENT (f32, bf16, f16) takes bf16's place. One process runs all sizes of one prefix.
"""
import subprocess
import sys
import tempfile

FA1 = ["--choose-schedule", "--tile", "--pad-tiles", "--online-softmax"]
FA2 = ["--choose-schedule", "--tile", "--interchange", "--delay-normalization", "--skip-masked-blocks", "--pad-tiles",
       "--online-softmax"]
SIZES = [(1, 20), (5, 2), (113, 271), (128, 1000), (1000, 128), (0, 16), (16, 0)]


def main():
    fa_run, spec, element = sys.argv[1:]
    with open(spec, encoding="utf-8") as file:
        causal = file.read().replace("bf16", element)
    prefixes = [FA1[:n] for n in range(len(FA1) + 1)] + [FA2[:n] for n in range(3, len(FA2) + 1)]
    sizes = [f"--sizes=B=1,Hq=2,Hkv=2,Sq={sq},Skv={skv}" for sq, skv in SIZES]
    failed = 0
    for source in (causal, causal.replace(" using [#attn.causal]", "")):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(source)
            file.flush()
            for prefix in prefixes:
                done = subprocess.run([fa_run, file.name, *prefix, "--check", *sizes], capture_output=True, text=True)
                if done.returncode:
                    failed += 1
                    print(" ".join(prefix), done.stdout, done.stderr, sep="\n")
    print(f"{2 * len(prefixes)} programs of {len(SIZES)} sizes, {failed} failed")
    sys.exit(1 if failed else 0)


main()
