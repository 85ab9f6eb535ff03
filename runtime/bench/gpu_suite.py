#!/usr/bin/env python3
"""Checks a kernel library on this machine's GPU: every kernel in every case, each in a process of its own.

    gpu_suite.py DIR [--fa-bench PATH] [--case NAME ...] [--kernel SUBSTRING]

DIR is a folder that fa-gen wrote. Needs Python's standard library and fa-bench, no LLVM. Prints a line for each check and
at the end `N passed, N failed, N unsupported`; a kernel for another architecture is unsupported. Exits 1 where a check
failed or nothing could be checked, 77 where there is no GPU.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

# What fa-bench check is run with, by the case's name.
CASES = {
    "default": ["--layout=bshd"],
    "bhsd": ["--layout=bhsd"],
    "large-12": ["--dist=large:12"],
    "large-40": ["--dist=large:40"],
    "constant-256": ["--dist=constant:256"],
}
NO_GPU = 77
TIMEOUT_SECONDS = 600
OUTCOMES = ["passed", "failed", "unsupported"]


def find_fa_bench():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fa-bench")
    return beside if os.path.exists(beside) else shutil.which("fa-bench")


def kernel_names(directory):
    with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as manifest:
        return [kernel["name"] for kernel in json.load(manifest)["kernels"]]


def run_check(fa_bench, directory, kernel, options):
    """fa-bench's exit status and output; the status is None where it did not end."""
    command = [fa_bench, "check", directory, "--kernel=" + kernel, *options]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"no end after {TIMEOUT_SECONDS} s"
    return done.returncode, done.stdout


def judge(status, output, kernel):
    """One of OUTCOMES. --kernel takes a substring: the output may be about other kernels too."""
    # Only whole runs have a summary that counts: 0 is fine, 1 a check that failed.
    if status in (0, 1) and "; stopped" not in output:
        if re.search(rf"^ok +{re.escape(kernel)}: \d+ problems, 0 failed", output, re.MULTILINE):
            return "passed"
        if re.search(r"^fa-bench: of the \d+ kernels .* none ", output, re.MULTILINE):
            return "unsupported"
        # Others ran that are named alike, this one did not.
        if status == 0:
            return "unsupported"
    return "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--fa-bench", default=find_fa_bench(), help="default: beside this file, else on PATH")
    parser.add_argument("--case", action="append", choices=CASES, help="default: all")
    parser.add_argument("--kernel", default="", help="only kernels whose name contains it")
    arguments = parser.parse_args()
    if not arguments.fa_bench:
        parser.error("fa-bench is neither beside this file nor on PATH")

    counts = dict.fromkeys(OUTCOMES, 0)
    names = [name for name in kernel_names(arguments.directory) if arguments.kernel in name]
    for case in arguments.case or CASES:
        for name in names:
            status, output = run_check(arguments.fa_bench, arguments.directory, name, CASES[case])
            if status == NO_GPU:
                print(output, end="")
                return NO_GPU
            outcome = judge(status, output, name)
            counts[outcome] += 1
            print(f"{outcome}: {name}, {case}", flush=True)
            if outcome == "failed":
                print(f"{output}\nfa-bench's exit status: {status}", flush=True)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
