#!/usr/bin/env bash
# What Lightloom needs of the machine: Python 3.11 or newer with venv, a C
# compiler and linker, Rust 1.88 or newer. As root on Debian or Ubuntu the
# missing packages are installed; elsewhere the script says what is missing.
#
#   scripts/system.sh             check, install, or explain
#   scripts/system.sh --python    print the Python to use
#   scripts/system.sh --browser   the same for Chromium, in which the report's page is tested;
#                                 without it those tests are skipped
#   scripts/system.sh --testbed   the same for the programs of the Linux testbed and for clang,
#                                 which compiles its kernel plane; without them that is left out
#   scripts/system.sh --database  the same for PostgreSQL, on which the controller's store is
#                                 tested; without it those tests are skipped
set -euo pipefail

rust_needed=1.88

find_python() {
  local name
  for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  return 1
}

install_packages() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing: $*"
    DEBIAN_FRONTEND=noninteractive apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  else
    echo "missing: install the packages $* (Debian's names), then run make again" >&2
    exit 1
  fi
}

find_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
}

if [ "${1:-}" = --python ]; then
  find_python
  exit
fi

if [ "${1:-}" = --browser ]; then
  find_browser >/dev/null || (install_packages chromium) ||
    echo "without Chromium the report's page is not tested in a browser" >&2
  exit 0
fi

if [ "${1:-}" = --testbed ]; then
  wanted=()
  for pair in clang:clang ip:iproute2 iperf3:iperf3 nbdcopy:libnbd-bin nbdkit:nbdkit \
    tcpdump:tcpdump mpirun:openmpi-bin mpicc:libopenmpi-dev setpriv:util-linux \
    memcached:memcached ovs-vswitchd:openvswitch-switch; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || wanted+=("${pair##*:}")
  done
  [ -e /usr/include/fftw3.h ] || wanted+=(libfftw3-dev)
  [ -e /usr/include/fftw3-mpi.h ] || wanted+=(libfftw3-mpi-dev)
  [ -e /usr/include/gloo/allreduce.h ] || wanted+=(libgloo-dev)
  [ ${#wanted[@]} = 0 ] || (install_packages "${wanted[@]}") ||
    echo "without ${wanted[*]} the testbed is not built and tested in full" >&2
  exit 0
fi

if [ "${1:-}" = --database ]; then
  compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || (install_packages postgresql) ||
    echo "without PostgreSQL the controller's store is tested on SQLite alone" >&2
  exit 0
fi

missing=()
command -v cc >/dev/null || missing+=(build-essential)
find_python >/dev/null || missing+=(python3 python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  install_packages "${missing[@]}"
fi

if ! find_python >/dev/null; then
  echo "missing: Python 3.11 or newer with venv; name it with PYTHON=/path/to/python make …" >&2
  exit 1
fi

rust=$(rustc --version 2>/dev/null | cut -d' ' -f2 || true)
oldest=$(printf '%s\n%s\n' "$rust_needed" "${rust%%-*}" | sort -V | head -n 1)
if [ -z "$rust" ] || [ "$oldest" != "$rust_needed" ] || ! command -v cargo >/dev/null; then
  echo "missing: Rust $rust_needed or newer (found: ${rust:-none}); install it with rustup," \
    "or your distribution's package rustup, then run make again" >&2
  exit 1
fi
