#!/usr/bin/env python3
"""Prints one line with the counts of a lit run, from the file of its --xunit-xml-output.

Exits 1 where a test failed, where none ran and where there is no such file.
"""
import sys
import xml.etree.ElementTree


def count(path):
    """The passed, failed and skipped tests of the report `path`."""
    passed = failed = skipped = 0
    for test in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        skip = test.find("skipped")
        if test.find("failure") is not None:
            failed += 1
        elif skip is None:
            passed += 1
        # lit lists what --filter left out; it counts nowhere.
        elif not skip.get("message", "").startswith("Test not selected"):
            skipped += 1
    return passed, failed, skipped


def main():
    path = sys.argv[1]
    try:
        passed, failed, skipped = count(path)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"lit left no results: {error}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
