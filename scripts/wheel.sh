#!/usr/bin/env bash
# The wheel for any Linux with glibc 2.28 (2018) or newer and Python 3.11 or newer, into dist/.
#
#   scripts/wheel.sh PYTHON [FOLDER]    PYTHON has maturin and ziglang
#
# Zig links against the glibc that the tag promises, whatever this system has, so that an older
# or newer system makes the same wheel. Where ziglang has no build for the processor, use
# `maturin build --release`: its wheel is tagged for the glibc that is here.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$1
out=${2:-dist}
bin=$(cd "$(dirname "$python")" && pwd)

# Messages of panics name sources: without the folders of who built it.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=lightloom --remap-path-prefix=$cargo_home=cargo"
export PYO3_PYTHON="$bin/$(basename "$python")"
PATH="$bin:$PATH" "$bin/maturin" build --release --zig --compatibility manylinux_2_28 -o "$out"
