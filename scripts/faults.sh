#!/bin/sh
# Kills, fills, locks and truncates: after each, complete old or complete new results, no process
# left behind, no stray file. `scripts/faults.sh --tries 20 --seed 1`; root also tries a full tmpfs.
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" scripts/faults.py "$@"
