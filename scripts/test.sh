#!/usr/bin/env bash
# Installs, builds everything and runs every test. The last line counts them:
# "N passed, N failed", and ", N skipped" where tests were unsupported. Exits 1
# where a test failed. Arguments go to lit:
#   scripts/test.sh --filter Attn
#   scripts/test.sh --param verify-roundtrip=1
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
[[ -f build/build.ninja ]] || cmake --preset release
ninja -C build

lit=$(sed -n 's/^LLVM_EXTERNAL_LIT:[A-Z]*=//p' build/CMakeCache.txt)
results=build/test/results.xml
rm -f "$results"
status=0
"$lit" -sv --xunit-xml-output "$results" "$@" build/test || status=1
python3 scripts/count_tests.py "$results" || status=1
exit $status
