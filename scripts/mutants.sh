#!/usr/bin/env bash
# Mutation testing of the modules that carry mechanisms: a mutant that no test notices is printed
# as MISSED. It needs a test, or a sentence in scripts/mutants.md why it is the same program:
# what stands there is left out.
#
#   scripts/mutants.sh                     every area: some 2,500 mutants, a day
#   scripts/mutants.sh fair matchings      these
#   scripts/mutants.sh --since COMMIT      only what has changed since, in every area
#   SHARD=0/8 scripts/mutants.sh arbiters  one mutant of eight
#
# The first time it builds cargo-mutants: four minutes on two processors that had other work to do.
# There a change of some lines of iSLIP and its pointers, 14 mutants, took five and a half, three of
# them for the tests as they are; a mutant of Sirius' grants two.
#
# What is missed stands in mutants.out/AREA/mutants.out/missed.txt. Exits with 1 if anything is.
set -euo pipefail
cd "$(dirname "$0")/.."

version=27.1.0
tool=${CARGO_TARGET_DIR:-target}/tools
[ -x "$tool/bin/cargo-mutants" ] ||
  cargo install --quiet --locked --root "$tool" --version "$version" cargo-mutants
export PATH="$tool/bin:$PATH"

# Each area: its crate, the tests that look at it (a filter of names; - for the matchings' own, of
# the crate and beside it), its files.
area_of() {
  case $1 in
    fair) echo "lightloom-engine fair crates/engine/src/fair/{columns,fill,mod,settle,solve}.rs" ;;
    matchings) echo "lightloom-control - crates/control/src/algorithms/{hopcroft_karp,islip,drrm,round_robin}.rs crates/control/src/algorithms/{assignment,matching}/**/*.rs" ;;
    arbiters) echo "lightloom-fabrics lions crates/fabrics/src/lions/{arbiter,slotted,loopback}.rs" ;;
    allocation) echo "lightloom-fabrics butterfly crates/fabrics/src/butterfly/allocation.rs" ;;
    grants) echo "lightloom-fabrics sirius crates/fabrics/src/sirius/protocol/{accept,grant,request}.rs" ;;
    recovery) echo "lightloom-fabrics sirius crates/fabrics/src/sirius/failure/*.rs" ;;
    *) echo "areas: fair matchings arbiters allocation grants recovery; not $1" >&2; return 2 ;;
  esac
}
all=(fair matchings arbiters allocation grants recovery)

# The mutants that are known to be the same program, as patterns of cargo-mutants' names: in
# mutants.md they have a file and a column; lines come and go.
known=()
while read -r name; do
  known+=(--exclude-re "$name")
done < <(sed -n 's/^- `\([^`]*\)`.*/\1/p' scripts/mutants.md |
  sed 's/[][\.*^$+?(){}|]/\\&/g; s/^\([^:]*\):\([0-9]*\): /\1:[0-9]+:\2: /')

only=()
if [ "${1:-}" = --since ]; then
  [ -n "${2:-}" ] || { echo "--since needs a commit" >&2; exit 2; }
  change=$(mktemp)
  trap 'rm -f "$change"' EXIT
  git diff "$2" -- crates >"$change"
  only=(--in-diff "$change")
  shift 2
  [ -s "$change" ] || { echo "nothing in crates has changed" >&2; exit 0; }
fi
[ ${#only[@]} -gt 0 ] || [ $# -gt 0 ] || echo "every area: this takes a day" >&2

missed=0
for area in "${@:-${all[@]}}"; do
  spec=$(area_of "$area") || exit 2
  read -r crate filter files <<<"$spec"
  [ "$filter" = - ] && filter=(--test matching --test matching_assignment)
  globs=()
  for file in $files; do globs+=(--file "$file"); done
  mkdir -p "mutants.out/$area"
  echo "== $area"
  # 2: some were missed; 3: some hung, which a test would have noticed.
  rm -f "mutants.out/$area/mutants.out/missed.txt"
  cargo mutants --package "$crate" "${globs[@]}" "${only[@]}" "${known[@]}" \
    ${SHARD:+--shard "$SHARD" --sharding round-robin} \
    --profile mutants --minimum-test-timeout 30 --timeout-multiplier 3 --output "mutants.out/$area" \
    -- --lib "${filter[@]}" || case $? in 2 | 3) ;; *) exit 1 ;; esac
  [ ! -s "mutants.out/$area/mutants.out/missed.txt" ] || missed=1
  # A machine that was too busy ends what no test notices, too.
  [ ! -s "mutants.out/$area/mutants.out/timeout.txt" ] ||
    sed 's/^/out of time, tell hung from slow: /' "mutants.out/$area/mutants.out/timeout.txt" >&2
done
exit "$missed"
