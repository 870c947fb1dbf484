#!/usr/bin/env bash
# From a fresh clone to tuned kernels: sets up what is missing, builds, and runs the main job twice in two processes: a cold warmup of
# training shapes, then one that finds everything. On the GPU where there is one, else on the host device with small shapes. The cache
# is a folder of its own below build/, empty at the start, so that yours is left alone and every run shows the same. Safe to repeat.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -eq 0 ] || { echo "quickstart.sh takes no arguments" >&2; exit 2; }

step() { printf '\n\033[1m== %s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }

step "set up"
tools/setup.sh

step "build"
mkdir -p build
cmake --preset release -DSTROP_BUILD_TESTS=OFF >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset release --parallel "$(nproc)" --target strop_command
strop=build/bin/strop

step "strop doctor"
export STROP_CACHE=$PWD/build/quickstart-cache
rm -rf "$STROP_CACHE"
mkdir -p "$STROP_CACHE"
"$strop" doctor

if "$strop" doctor --require-gpu >/dev/null 2>&1; then
  shapes=(--device cuda --B 16 --T 8192 --D 2048,4096 --W 4)
else
  shapes=(--device host --B 2 --T 64 --D 16,24 --W 4)
fi

step "first process, empty cache: strop warmup causal_conv1d ${shapes[*]}"
"$strop" warmup causal_conv1d "${shapes[@]}" | tee build/quickstart-cold.txt
step "second process: the same command"
"$strop" warmup causal_conv1d "${shapes[@]}" | tee build/quickstart-warm.txt

step "in short"
printf 'cold: %s\nwarm: %s\n' "$(tail -n 1 build/quickstart-cold.txt)" "$(tail -n 1 build/quickstart-warm.txt)"
printf 'look around: STROP_CACHE=%s %s cache list\n' build/quickstart-cache "$strop"
