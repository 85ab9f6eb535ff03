//===- Html.cpp - Parts of a page -----------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace fa;

static constexpr const char *kStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2128; --soft: #59636e;
  --paper: #ffffff; --card: #f6f8fa; --line: #d1d9e0; --bar: #2f6fdb;
  --track: #e3e8ee; --full: #c4432b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1;
  --paper: #0d1117; --card: #151b23; --line: #3d444d; --bar: #6ea8fe;
  --track: #2a313c; --full: #ff8a70; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem;
  background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h3 { font-size: .95rem; margin: 1.1rem 0 .35rem; }
p { margin: .35rem 0; }
a { color: var(--bar); }
.soft { color: var(--soft); }
.wide { overflow-x: auto; margin: 1.2rem 0 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top;
  white-space: nowrap; }
th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); }
.wide td { border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; }
section { background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 1rem 1.2rem; margin: 1rem 0; }
section.bad { border-color: var(--full); }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; }
pre { overflow: auto; max-height: 28rem; margin: .4rem 0; padding: .8rem;
  background: var(--paper); border: 1px solid var(--line); border-radius: 6px; }
summary { cursor: pointer; }
.track { position: relative; width: 11rem; height: .75rem; margin-top: .35rem;
  background: var(--track); border-radius: 3px; }
.bar { height: 100%; background: var(--bar); border-radius: 3px; }
.full { background: var(--full); }
.mark { position: absolute; top: -2px; bottom: -2px; width: 2px;
  margin-left: -1px; background: var(--ink); }
)css";

void fa::beginPage(llvm::raw_ostream &os, llvm::StringRef title) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<title>"
     << escaped(title) << "</title>\n<style>" << kStyle
     << "</style>\n</head>\n<body>\n";
}

void fa::endPage(llvm::raw_ostream &os) { os << "</body>\n</html>\n"; }

std::string fa::escaped(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

std::string fa::drawBar(double value, double limit, llvm::StringRef words,
                        double mark) {
  // A bar that is this full has no room for more.
  constexpr double kNearlyFull = 0.98;
  auto percent = [&](double part) {
    return llvm::formatv("{0:f1}%", 100 * std::clamp(part / limit, 0.0, 1.0))
        .str();
  };
  std::string bar = "<div class=\"track\" role=\"img\" aria-label=\"" +
                    escaped(words) + "\"><div class=\"" +
                    (value > kNearlyFull * limit ? "bar full" : "bar") +
                    "\" style=\"width:" + percent(value) + "\"></div>";
  if (mark > 0)
    bar += "<div class=\"mark\" style=\"left:" + percent(mark) + "\"></div>";
  return bar + "</div>";
}
