#!/usr/bin/env python3
"""Checks a page of fa-gen --report: check_report.py PAGE MANIFEST.

Its tags are balanced, nothing is loaded from elsewhere, links lead somewhere, and each kernel of the manifest has its section.
"""
import html.parser
import json
import pathlib
import sys

VOID = {"meta", "br"}
LOADS = {"script", "link", "img", "iframe", "object"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], set(), []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag not in LOADS and "src" not in attrs, tag
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            assert attrs["id"] not in self.ids, attrs["id"]
            self.ids.add(attrs["id"])
        if "href" in attrs:
            self.links.append(attrs["href"])

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"


path = pathlib.Path(sys.argv[1])
text = path.read_text(encoding="utf-8")
assert "url(" not in text and "@import" not in text
page = Page()
page.feed(text)
assert not page.open, page.open
for link in page.links:
    assert link[1:] in page.ids if link.startswith("#") else (path.parent / link).is_file(), link
for kernel in json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))["kernels"]:
    assert kernel["name"] in page.ids, kernel["name"]
