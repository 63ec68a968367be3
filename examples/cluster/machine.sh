#!/bin/sh
# A scheduler and a worker process for each processor of this machine, and a sweep on them.
#
#   sh examples/cluster/machine.sh examples/sweep.toml -o out/sweep
#
# Ports are chosen by the system; scheduler and workers end with this script.
set -eu
folder=$(mktemp -d)
file="$folder/scheduler.json"
trap 'kill $scheduler $workers 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
scheduler= workers=

dask scheduler --host 127.0.0.1 --port 0 --dashboard-address 127.0.0.1:0 \
  --scheduler-file "$file" >"$folder/scheduler.log" 2>&1 &
scheduler=$!
until [ -s "$file" ]; do sleep 0.2; done
dask worker --scheduler-file "$file" --nworkers "$(nproc)" --nthreads 1 --no-dashboard \
  --local-directory "$folder" >"$folder/workers.log" 2>&1 &
workers=$!

lightloom sweep "$@" --scheduler-file "$file"
