#!/usr/bin/env bash
# From a fresh checkout to a checked kernel: installs, builds, compiles the
# default kernel library into out/, and checks one kernel on the GPU, or in the
# simulator where there is no GPU. Work that is done already is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "quickstart: $*"; }
trap 'say "FAILED, see above" >&2' ERR

kernel=fwd_bf16_d128_causal
no_gpu=77 # what fa-bench exits with

scripts/setup.sh

say "building into build/"
[[ -f build/build.ninja ]] || cmake --preset release
ninja -C build fa-opt fa-run fa-gen fa-bench

say "compiling the default kernels into out/"
build/bin/fa-gen -o out

say "checking $kernel on the GPU"
status=0
build/bin/fa-bench check out --kernel "$kernel" || status=$?
if ((status == 0)); then
  say "ok: out/ is a kernel library, and $kernel is right on this GPU"
elif ((status == no_gpu)); then
  say "no GPU here; running the same kernel in the simulator instead"
  build/bin/fa-run kernels-gen/specs/attention.mlir --fa3=rescale=auto --on=sim --check
  say "ok: out/ is a kernel library; its attention is right in the simulator, down to level D"
else
  say "FAILED: fa-bench check ended with status $status" >&2
  exit 1
fi
