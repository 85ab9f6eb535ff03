#!/usr/bin/env python3
"""Checks the numbers of a problem after every pass of levels A to C: fa-run --check after each prefix of the lists of
passes, which are FlashAttention 2's (with split keys), FlashAttention 1's, standard attention, and FlashAttention 2's with
the other policies of rescaling.

    every_pass.py FILE [options of fa-run]

What fails is printed as a command that repeats it. Needs fa-run in PATH.
"""
import shlex
import subprocess
import sys

POLICIES = ["always", "lazy", "first-max"]


def fa2_prefixes(front, splits, policy):
    """From no pass at all down to level C. `front` ends with --tile."""
    split = [f"--split-kv=splits={splits}"] if splits else []
    passes = [*front, "--interchange", "--delay-normalization", "--skip-masked-blocks", *split, "--pad-tiles",
              "--online-softmax=rescale=" + policy]
    return [passes[:n] for n in range(len(passes) + 1)]


def fa1_prefixes(front):
    """From behind --tile on."""
    return [[*front, "--pad-tiles"], [*front, "--pad-tiles", "--online-softmax"]]


def make_front(is_packed, schedule=""):
    """The passes before the papers' ways part. `schedule` is the options of --choose-schedule."""
    first = ["--split-sequences"] if is_packed else []
    choose = "--choose-schedule" + ("=" + schedule if schedule else "")
    return [*first, "--expand-variants", choose, "--tile"]


def standard(front):
    return [name for name in front if name == "--split-sequences"] + ["--decompose-attention"]


def run_programs(text, programs, options, source):
    """Runs fa-run --check on the problem `text` with each list of passes. Returns how many failed; these are printed, with
    the input as the shell's word `source`."""
    failed = 0
    for passes in programs:
        command = ["fa-run", "-", *passes, "--check", *options]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode or "warning" in done.stderr:
            failed += 1
            print(f"{source} | {shlex.join(command)}", done.stdout + done.stderr, sep="\n", flush=True)
    return failed


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    path, options = sys.argv[1], sys.argv[2:]
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
        text = file.read()
    front = make_front("cu_seqlens(" in text)
    programs = fa2_prefixes(front, 3, "always") + fa1_prefixes(front) + [standard(front)]
    programs += [fa2_prefixes(front, 0, policy)[-1] for policy in POLICIES]
    failed = run_programs(text, programs, options, "cat " + shlex.quote(path))
    print(f"{len(programs)} programs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
