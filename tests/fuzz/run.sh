#!/bin/sh
# Builds fuzzers in a build folder configured with HONE_FUZZ, and runs each for the given seconds on its corpus, two at
# a time. New interesting inputs stay in BUILD/corpus for the next run. Exits with 1 if there is a finding and prints
# its input, which `BUILD/bin/fuzz_NAME FILE` reproduces; add it to tests/fuzz/corpus/NAME.
set -eu

build=${1:?usage: run.sh BUILD_FOLDER SECONDS [NAME...]}
seconds=${2:?usage: run.sh BUILD_FOLDER SECONDS [NAME...]}
shift 2
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
[ $# -gt 0 ] || set -- $(ls "$corpus")
ninja -C "$build" $(printf 'fuzz_%s ' "$@")
mkdir -p "$build/corpus" "$build/findings"

export build seconds corpus
printf '%s\n' "$@" | xargs -P 2 -n 1 sh -c '
  name=$0 log=$build/findings/$0.log
  mkdir -p "$build/corpus/$name"
  if "$build/bin/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=16384 \
      -print_final_stats=1 -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" "$corpus/$name" >"$log" 2>&1; then
    echo "$name: $(sed -n "s/^stat::number_of_executed_units: *//p" "$log") runs, no finding"
  else
    echo "$name: FINDING: $(grep -m 1 "^SUMMARY\|^==.*ERROR\|^ALARM" "$log" || echo "see the log"); $(grep -o "$build/findings/$name-[a-z]*-[0-9a-f]*" "$log" | tail -1) ($log)"
    exit 1
  fi'
