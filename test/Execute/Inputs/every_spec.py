#!/usr/bin/env python3
"""Runs fa-run --fa2 --check on every .mlir file of folders that has attention in it, at two lists of sizes.

    every_spec.py FOLDER...

Needs fa-run in PATH.
"""
import pathlib
import subprocess
import sys

# Short and ragged; and longer, with more queries than keys in one and grouped heads in both.
SIZES = [["Sq=1,Skv=20", "Sq=5,Skv=2", "B=2,Hq=4,Hkv=2,Sq=33,Skv=70"], ["Hq=3,Hkv=1,Sq=65,Skv=300", "Hq=2,Hkv=1,Sq=150,Skv=100"]]


def check(path, sizes):
    command = ["fa-run", path, "--fa2", "--check", *("--sizes=" + text for text in sizes)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(*command, done.stdout + done.stderr, sep="\n")
    return done.returncode == 0


def main():
    paths = sorted(path for folder in sys.argv[1:] for path in pathlib.Path(folder).glob("*.mlir")
                   if "attn.forward" in path.read_text())
    if not paths:
        sys.exit(__doc__)
    failed = sum(not check(path, sizes) for path in paths for sizes in SIZES)
    print("every spec passes" if not failed else f"{failed} runs failed")
    print(f"{len(paths)} files")
    sys.exit(1 if failed else 0)


main()
