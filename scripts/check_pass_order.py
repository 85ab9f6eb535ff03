#!/usr/bin/env python3
"""Holds docs/pass-order.md against the tools.

Reads the table of the page. Every order of the passes that it allows, for the lists of passes below, must
give the reference's numbers (fa-run --check); every row, turned around, must be refused with its reason.

    check_pass_order.py docs/pass-order.md kernels-gen/specs [--orders | --refusals]

Needs fa-opt and fa-run in PATH.
"""
import argparse
import itertools
import os
import re
import subprocess
import sys

# What is walked: problems, sizes, and the passes whose orders are tried.
WALKS = [
    ("attention", "B=1,Hq=2,Hkv=1,Sq=150,Skv=200",
     ["tile", "interchange", "delay-normalization", "skip-masked-blocks", "split-kv", "pad-tiles", "online-softmax"]),
    ("window1024", "B=1,Hq=2,Hkv=2,Sq=70,Skv=1500",
     ["tile", "interchange", "delay-normalization", "pad-tiles", "online-softmax"]),
    ("packed", "B=3,Hq=2,Hkv=1,Sq=90,Skv=150",
     ["split-sequences", "expand-variants", "choose-schedule", "tile", "interchange", "delay-normalization",
      "skip-masked-blocks"]),
    ("document", "B=2,Hq=2,Hkv=2,Sq=130,Skv=130",
     ["tile", "interchange", "delay-normalization", "skip-masked-blocks", "pad-tiles", "online-softmax"]),
]
OPTIONS = {"split-kv": "--split-kv=splits=3"}
ROW = re.compile(r"^\| ([a-z-]+) \| ([a-z-]+) \| (.+) \|$")


def flag(name):
    return OPTIONS.get(name, "--" + name)


def read_rows(path):
    with open(path, encoding="utf-8") as page:
        rows = [match.groups() for line in page if (match := ROW.match(line.rstrip()))]
    return [row for row in rows if row[0] != "pass"]


def legal_orders(passes, rows):
    """All orders of `passes` that the rows allow."""
    before = {(first, then) for first, then, _ in rows}
    for order in itertools.permutations(passes):
        place = {name: number for number, name in enumerate(order)}
        if all(place[a] < place[b] for a, b in before if a in place and b in place):
            yield order


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def check_orders(rows, specs):
    failures = 0
    count = 0
    for problem, sizes, passes in WALKS:
        orders = list(legal_orders(passes, rows))
        assert orders, problem
        for order in orders:
            count += 1
            result = run(["fa-run", os.path.join(specs, problem + ".mlir"), *map(flag, order), "--check", "--sizes=" + sizes])
            if result.returncode != 0 or "warning" in result.stderr:
                failures += 1
                print(f"{problem}: {' '.join(map(flag, order))}\n{result.stdout}{result.stderr}", file=sys.stderr)
    print(f"{count} orders, {failures} wrong")
    return failures


def reversed_pipeline(first, then):
    """The shortest list of passes with `then` before `first` and everything else that they need in place."""
    needs = {"interchange": ["tile"], "skip-masked-blocks": ["tile", "interchange"], "split-kv": ["tile", "interchange"],
             "delay-normalization": ["tile"], "pad-tiles": ["tile"], "online-softmax": ["tile"]}
    if first == "tile":
        return [then, first]
    wanted = {need for name in (then, first) for need in needs.get(name, [])} - {then, first}
    return [name for name in ("tile", "interchange") if name in wanted] + [then, first]


def check_refusals(rows, specs):
    failures = 0
    for first, then, reason in rows:
        # Only what is ragged has sequences to split.
        problem = "packed" if first == "split-sequences" else "attention"
        order = reversed_pipeline(first, then)
        result = run(["fa-opt", os.path.join(specs, problem + ".mlir"), *map(flag, order), "-o", os.devnull])
        if result.returncode == 0 or reason not in result.stderr or "error:" not in result.stderr:
            failures += 1
            print(f"not refused with '{reason}': {' '.join(map(flag, order))}\n{result.stderr}", file=sys.stderr)
    print(f"{len(rows)} reversed orders, {failures} not refused")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("specs")
    parser.add_argument("--orders", action="store_true", help="only the legal orders")
    parser.add_argument("--refusals", action="store_true", help="only the illegal ones")
    args = parser.parse_args()
    rows = read_rows(args.page)
    if not rows:
        sys.exit(f"no table in {args.page}")
    failures = 0
    if not args.refusals:
        failures += check_orders(rows, args.specs)
    if not args.orders:
        failures += check_refusals(rows, args.specs)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
