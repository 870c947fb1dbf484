#!/usr/bin/env bash
# Installs what building strop needs and is not there. Asks nothing; changes nothing, in well under a second, when nothing is missing.
#
#   tools/setup.sh            what the library, the command and the examples need
#   tools/setup.sh --tests    what the tests need besides
#
# Debian packages come through apt-get (through sudo when not root). NVRTC and the CUDA headers come from a CUDA toolkit where there
# is one, else from NVIDIA's Python wheels, which go to .deps/cuda in this folder and nowhere else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# The first of $1's comma-separated commands that exists, if any does.
have_command() {
  local name
  for name in ${1//,/ }; do
    if command -v "$name" >/dev/null 2>&1; then return 0; fi
  done
  return 1
}

# Prints those of the given headers that the compiler does not find; one run of the preprocessor for all of them.
missing_headers() {
  local header source='' i=0
  for header in "$@"; do
    source+="#if !__has_include(<$header>)"$'\n'"strop_missing $header"$'\n'"#endif"$'\n'
  done
  c++ -std=c++20 -E -P -x c++ - <<<"$source" | sed -n 's/^strop_missing //p'
}

# Prints the Debian packages that are missing: a package is missing when the command or the header it is wanted for is.
missing_packages() {
  local -A by_command=([c++,g++]=g++ [cmake]=cmake [ninja]=ninja-build)
  local -A by_header=(
    [fmt/format.h]=libfmt-dev [spdlog/spdlog.h]=libspdlog-dev [sqlite3.h]=libsqlite3-dev [sodium.h]=libsodium-dev
    [boost/context/fiber.hpp]=libboost-context-dev [CLI/CLI.hpp]=libcli11-dev [nlohmann/json.hpp]=nlohmann-json3-dev
  )
  if [ "$tests" = yes ]; then
    by_command[clang-tidy]=clang-tidy
    by_command[run-clang-tidy]=clang-tidy
    by_header[gtest/gtest.h]=libgtest-dev
  fi
  local name
  for name in "${!by_command[@]}"; do
    have_command "$name" || echo "${by_command[$name]}"
  done
  if have_command c++; then
    for name in $(missing_headers "${!by_header[@]}"); do echo "${by_header[$name]}"; done
  else
    printf '%s\n' "${by_header[@]}"
  fi
}

install_packages() {
  local as_root=()
  have_command apt-get || fail "please install: $* (this is not a Debian system, so it can't be done here)"
  if [ "$(id -u)" -ne 0 ]; then
    have_command sudo && sudo -n true 2>/dev/null ||
      fail "missing Debian packages, and neither root nor sudo without a password to install them. Please run: apt-get install $*"
    as_root=(sudo -n)
  fi
  say "installing $*"
  "${as_root[@]}" apt-get -q update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" >&2
}

# True when some folder of a toolkit, or the system's own include path, has the two headers and a libnvrtc goes with them.
toolkit_is_there() {
  local root library
  for root in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /usr; do
    [ -n "$root" ] && [ -e "$root/include/cudaTypedefs.h" ] && [ -e "$root/include/nvrtc.h" ] && [ -e "$root/include/cuda.h" ] || continue
    for library in "$root"/{lib64,lib,lib/x86_64-linux-gnu,targets/x86_64-linux/lib}/libnvrtc.so*; do
      [ -e "$library" ] && return 0
    done
  done
  return 1
}

# The wheels' folder that has everything, or nothing.
wheels_are_there() {
  local root=.deps/cuda/nvidia/cu13
  [ -e $root/include/cuda.h ] && [ -e $root/include/cudaTypedefs.h ] && [ -e $root/include/nvrtc.h ] && [ -e $root/lib/libnvrtc.so.13 ]
}

install_wheels() {
  if ! python3 -m pip --version >/dev/null 2>&1; then install_packages python3 python3-pip; fi
  say "no CUDA toolkit here: taking the CUDA headers and NVRTC from NVIDIA's Python wheels into .deps/cuda"
  # Into a folder of its own and then renamed, so that a run that is cut short leaves nothing that looks whole.
  rm -rf .deps/cuda .deps/cuda.part
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-deps --no-warn-script-location --target .deps/cuda.part \
    'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-nvrtc==13.0.*' >&2
  mv .deps/cuda.part .deps/cuda
  wheels_are_there || fail "NVIDIA's wheels in .deps/cuda lack cuda.h, cudaTypedefs.h, nvrtc.h or libnvrtc.so.13"
}

disassembler_is_there() {
  have_command nvdisasm || [ -x /usr/local/cuda/bin/nvdisasm ] || [ -x "${CUDA_PATH:-${CUDA_HOME:-/nowhere}}/bin/nvdisasm" ] ||
    [ -x .deps/nvdisasm/nvidia/cu13/bin/nvdisasm ]
}

# For the test that reads machine code; without it that test skips, and says so.
install_disassembler() {
  if ! python3 -m pip --version >/dev/null 2>&1; then install_packages python3 python3-pip; fi
  say "no nvdisasm here: taking it from NVIDIA's Python wheel into .deps/nvdisasm"
  rm -rf .deps/nvdisasm .deps/nvdisasm.part
  if PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-deps --no-warn-script-location --target .deps/nvdisasm.part \
    'nvidia-cuda-nvdisasm>=13,<14' >&2; then
    mv .deps/nvdisasm.part .deps/nvdisasm
    chmod +x .deps/nvdisasm/nvidia/cu13/bin/nvdisasm
  else
    rm -rf .deps/nvdisasm.part
    say "it could not be had; the test of machine code will skip"
  fi
}

tests=no
for argument in "$@"; do
  case "$argument" in
    --tests) tests=yes ;;
    *) say "unknown argument '$argument'; known: --tests"; exit 2 ;;
  esac
done

mapfile -t packages < <(missing_packages | sort -u)
if [ "${#packages[@]}" -gt 0 ]; then
  install_packages "${packages[@]}"
  mapfile -t packages < <(missing_packages | sort -u)
  [ "${#packages[@]}" -eq 0 ] || fail "still missing after installing: ${packages[*]}"
fi
toolkit_is_there || wheels_are_there || install_wheels
if [ "$tests" = yes ]; then disassembler_is_there || install_disassembler; fi
