#!/usr/bin/env bash
# Installs what building and testing Flashloom needs on Debian 12, and nothing
# that is there already: a second run does nothing and needs no network.
set -euo pipefail

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

missing=()

# want_program PROGRAM PACKAGE: a program counts whoever installed it.
want_program() {
  command -v "$1" >/dev/null || missing+=("$2")
}

want_package() {
  local status
  status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null || true)
  [[ $status == ii* ]] || missing+=("$1")
}

# install PACKAGE...
install() {
  local run=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "needs root for: apt-get install --no-install-recommends $*"
    run=(sudo)
  fi
  say "installing $*"
  "${run[@]}" apt-get update -q || say "apt-get update failed; going on with the package lists of before"
  for package in "$@"; do
    candidate=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
    [[ -n $candidate && $candidate != "(none)" ]] || lacks "$package"
  done
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# lacks PACKAGE: no configured apt source has it.
lacks() {
  case $1 in
  *llvm-22* | *mlir-22*)
    fail "no apt source here has $1. Debian 12 has LLVM 22 in its security and update suites: add
  deb http://deb.debian.org/debian-security bookworm-security main
  deb http://deb.debian.org/debian bookworm-updates main
to the apt sources. Elsewhere apt.llvm.org has it." ;;
  *) fail "no apt source here has $1" ;;
  esac
}

command -v dpkg-query >/dev/null || fail "this is not Debian; see CONTRIBUTING.md for what a build needs"

want_program g++ g++
want_program cmake cmake
want_program ninja ninja-build
want_program ccache ccache
want_program ld.lld lld
want_program python3 python3
for package in libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libgtest-dev nlohmann-json3-dev; do
  want_package "$package"
done

if ((${#missing[@]})); then
  install "${missing[@]}"
else
  say "nothing to install"
fi

if ! command -v ptxas >/dev/null && [[ ! -x /usr/local/cuda/bin/ptxas ]]; then
  say "no ptxas on PATH or in /usr/local/cuda/bin: kernels will be PTX text, which the GPU's driver compiles."
  say "for cubins get it from the CUDA toolkit, or from the pip package nvidia-cuda-nvcc, whose"
  say "site-packages/nvidia/cu13/bin then belongs on PATH"
fi
