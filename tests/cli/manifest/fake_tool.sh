#!/bin/sh
# Every tool of the pipeline but hone-plan, in a few lines each: it stands in the tools folder under each tool's name, takes
# exactly the tool's flags, keeps the tool's promises (outputs only if changed, resume from the records, 75 on SIGTERM), and
# notes each call in the file `calls` beside it. Also beside it: networks/NAME (the task ids of a network), speed (what a trial
# measures), TOOL.abi (the answer to --abi), slow (if it is there, a trial takes a while).
set -eu
bin=$(dirname "$0")
tool=$(basename "$0")
if [ "$1" = --abi ]; then exec cat "$bin/$tool.abi"; fi

untuned=no
while [ $# -gt 0 ]; do
  case "$tool $1" in
    "hone-build --untuned") untuned=yes; shift; continue ;;
    "hone-extract --network") network=$2 ;;
    "hone-extract --batch") batch=$2 ;;
    "hone-extract --task-dir") task_dir=$2 ;;
    "hone-extract --target" | "hone-build --target") target=$2 ;;
    "hone-extract --graph" | "hone-build --graph") graph=$2 ;;
    "hone-extract --tasks" | "hone-pick-best --tasks" | "hone-report --tasks") tasks=$2 ;;
    "hone-tune --task") task=$2 ;;
    "hone-tune --settings" | "hone-bench --settings") settings=$2 ;;
    "hone-tune --db") db=$2 ;;
    "hone-tune --stamp") stamp=$2 ;;
    "hone-pick-best --records" | "hone-report --records") records=$2 ;;
    "hone-build --best" | "hone-report --best") best=$2 ;;
    "hone-bench --lib") lib=$2 ;;
    "hone-bench --baseline") baseline=$2 ;;
    "hone-report --bench") bench=$2 ;;
    "hone-pick-best --out" | "hone-build --out" | "hone-bench --out" | "hone-report --out") out=$2 ;;
    *) echo "$tool: unknown flag $1" >&2; exit 2 ;;
  esac
  shift 2
done

say() { echo "$*" >>"$bin/calls"; }
put() {
  mkdir -p "$(dirname "$1")"
  cat >"$1.$$"
  if cmp -s "$1.$$" "$1"; then rm "$1.$$"; else mv "$1.$$" "$1"; fi
}

case $tool in
  hone-extract)
    [ -f "$bin/networks/$network" ] || { echo "hone-extract: no network $network" >&2; exit 1; }
    say extract "$(basename "$tasks" .tasks.json)"
    rows=
    for id in $(cat "$bin/networks/$network"); do
      rows="$rows${rows:+,}{\"id\":\"$id\",\"workload\":\"$id()\",\"weight\":1,\"flop\":1}"
      echo "$id" | put "$task_dir/$id.task.json"
    done
    echo "$network $batch" | put "$graph"
    [ -f "$target" ]
    echo "{\"version\":1,\"network\":\"n\",\"target\":\"t\",\"target_name\":\"cpu\",\"tasks\":[$rows]}" | put "$tasks"
    ;;
  hone-tune)
    id=$(cat "$task")
    trials=$(sed -n 's/.*"trials": \([0-9]*\).*/\1/p' "$settings")
    mkdir -p "$(dirname "$db")"
    touch "$db"
    trap '' PIPE  # an interrupted Ninja no longer reads what we, or the shell, still have to say
    trap 'echo committed >>"$db.end"; exit 75' INT TERM HUP
    had=$(wc -l <"$db")
    have=$had
    while [ "$have" -lt "$trials" ]; do
      have=$((have + 1))
      cat "$bin/speed" >>"$db"
      [ ! -f "$bin/slow" ] || sleep 0.05 || true
    done
    say tune "$id" "$((have - had))"
    echo "$id $trials" | put "$stamp"
    ;;
  hone-pick-best)
    say pick-best "$(basename "$out" .json)"
    for id in $(grep -o '"id":"[^"]*"' "$tasks" | cut -d '"' -f 4); do
      echo "$id $(sort -n "$records/$id.db" | head -n 1)"
    done | put "$out"
    ;;
  hone-build)
    say build "$(basename "$out")"
    net=$(basename "$graph" .graph.json)
    if [ $untuned = yes ]; then best=$target; fi
    cat "$graph" "$best" "$target" | put "$out/lib$net.so"
    echo header | put "$out/$net.h"
    echo parameters | put "$out/$net.params"
    cat "$best" | put "$out/manifest.json"
    ;;
  hone-bench)
    say bench "$(basename "$out" .json)"
    cat "$lib"/lib*.so "$baseline"/lib*.so "$settings" | put "$out"
    ;;
  hone-report)
    say report "$(basename "$out")"
    for name in index.html report.json junit.xml report.md; do
      cat "$bench" "$tasks" "$best" | put "$out/$name"
    done
    ls "$records" >/dev/null
    ;;
esac
