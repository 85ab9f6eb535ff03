#!/usr/bin/env python3
"""Holds a page's excerpts against what the tools print: check_tour.py [--update] [PAGE], by default docs/tour.md.

An HTML comment directly before a fenced block says how it is checked; a block without one is an error.
  <!-- check: COMMAND -->            the block is an excerpt of what COMMAND prints
  <!-- check if TOOL: COMMAND -->    the same, but only where TOOL is in PATH
  <!-- run -->                       the block is a shell script that must succeed
In an excerpt a line `...` stands for any lines, and `...` within a line for any text. The lines between must follow each
other in the output. Spaces and empty lines do not count. Commands run by bash in the repository's root, with the tools
from PATH, and must exit 0; $OUT is a folder that is deleted afterwards. Exits 1 where something is wrong.

A change of a pass often does no more than number values anew: --update renews the names in excerpts (not in the prose,
which is to be read again), and then checks.
"""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMENT = re.compile(r"<!-- (run|check(?: if (\S+))?: (.+)) -->$")
VALUE = r"%[\w-]+"
TIMEOUT_SECONDS = 100


def blocks(path):
    """Each fenced block: the number of its first line, the match of the comment before it or None, its lines."""
    comment = block = None
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            line = line.strip()
            if block is not None:
                if line == "```":
                    yield block
                    block = comment = None
                else:
                    block[2].append(line)
            elif line.startswith("```"):
                block = (number + 1, comment, [])
            elif line:
                comment = COMMENT.match(line)
    if block is not None:
        yield block[0], None, block[2]  # never closed


def plain(lines):
    """The lines with single spaces, without the empty ones."""
    return [line for line in (" ".join(line.split()) for line in lines) if line]


@functools.lru_cache(maxsize=None)
def run(command):
    """What the command prints, as lines, and what is wrong with it or None."""
    try:
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return [], f"not done after {TIMEOUT_SECONDS} s: {command}"
    wrong = f"exit code {done.returncode}: {command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return plain(done.stdout.splitlines()), wrong if done.returncode else None


def pattern(line, names=False):
    """A regular expression for a line of an excerpt. With `names`, values may have other names, which are its groups."""
    tokens = re.split(rf"(\.\.\.|{VALUE})", line)
    return re.compile("".join(".*?" if token == "..." else f"({VALUE})" if names and token.startswith("%") else
                              re.escape(token) for token in tokens))


def find(excerpt, output, names=False):
    """The matches of the excerpt's lines, those left out apart, and its first line that is not there, or None."""
    matches, position = [], 0
    for lines in "\n".join(excerpt).split("\n...\n"):
        patterns = [(line, pattern(line, names)) for line in lines.split("\n") if line != "..."]
        longest = 0
        while longest < len(patterns):
            if position >= len(output):
                return matches, patterns[longest][0]
            found = []
            for (_, wanted), line in zip(patterns, output[position:]):
                match = wanted.fullmatch(line)
                if not match:
                    break
                found.append(match)
            longest = max(longest, len(found))
            position += len(found) if len(found) == len(patterns) else 1
        matches += found if patterns else []
    return matches, None


def check(comment, lines):
    """What is wrong with a block, or None."""
    if not comment:
        return "a block without a command: <!-- check: COMMAND --> or <!-- run --> goes before it"
    kind, tool, command = comment.groups()
    if kind == "run":
        return run("\n".join(lines))[1]
    if tool and not shutil.which(tool):
        print(f"left out where there is no {tool}: {command}")
        return None
    output, wrong = run(command)
    excerpt = plain(lines)
    if not wrong and not any(line != "..." for line in excerpt):
        wrong = "an excerpt without a line"
    missing = None if wrong else find(excerpt, output)[1]
    return wrong or (missing and f"not where the excerpt has it in the output of\n  {command}\n  {missing}")


def update(path):
    """Gives the values in excerpts the names that the tools print, where nothing but the names has changed."""
    with open(path, encoding="utf-8") as page:
        text = page.read().split("\n")
    for first, comment, lines in blocks(path):
        if not comment or not comment[3] or (comment[2] and not shutil.which(comment[2])):
            continue
        matches, missing = find(plain(lines), run(comment[3])[0], names=True)
        if missing:
            continue
        numbers = [first - 1 + i for i, line in enumerate(lines) if line.strip() not in ("", "...")]
        for number, match in zip(numbers, matches):
            names = iter(match.groups())
            text[number] = re.sub(VALUE, lambda _: next(names), text[number])
    with open(path, "w", encoding="utf-8") as page:
        page.write("\n".join(text))


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    path = arguments[0] if arguments else os.path.join(ROOT, "docs", "tour.md")
    count = failures = 0
    with tempfile.TemporaryDirectory() as out:
        os.environ["OUT"] = out
        if "--update" in sys.argv:
            update(path)
        for number, comment, lines in blocks(path):
            count += 1
            wrong = check(comment, lines)
            if wrong:
                failures += 1
                print(f"{path}:{number}: {wrong}", file=sys.stderr)
    print(f"{count} blocks checked, {failures} wrong")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
