#!/bin/sh
# A stand-in for every tool of the pipeline except hone-plan, in a few lines each. The tools folder has it under each
# tool's name. It takes exactly the tool's flags, keeps the tool's promises (outputs only if changed, resume from the
# records, 75 on SIGTERM), and appends each call to the file `calls` beside it. Other files beside it control it:
# networks/NAME (the task ids of a network), workloads/TASK (a workload instead of TASK()), speed (the time of a trial;
# speed.TASK for one task), broken.TASK (if it exists, no trial of the task is
# correct), TOOL.abi (the answer to --abi), figures (what picking adds to a best file but not to the
# choice), slow (if it exists, a trial takes a while), no-device (if it exists, no GPU is found). It avoids starting
# programs, as the tests run it hundreds of times.
set -eu
bin=${0%/*}
tool=${0##*/}
if [ "$1" = --abi ]; then exec cat "$bin/$tool.abi"; fi
case "$tool $1" in
  "hone-bench nightly" | "hone-report nightly") echo "$1 $3" >>"$bin/calls"; exit 0 ;;
esac

untuned=no
while [ $# -gt 0 ]; do
  case "$tool $1" in
    "hone-build --untuned") untuned=yes; shift; continue ;;
    "hone-tune --optional") optional=yes; shift; continue ;;
    "hone-extract --keep-going") shift; continue ;;
    "hone-pick-best --or-default") or_default=yes; shift; continue ;;
    "hone-extract --network") network=$2 ;;
    "hone-extract --batch") batch=$2 ;;
    "hone-extract --task-dir") task_dir=$2 ;;
    "hone-extract --target" | "hone-build --target" | "hone-confirm --target") target=$2 ;;
    "hone-extract --graph" | "hone-pick-best --graph" | "hone-build --graph" | "hone-confirm --graph") graph=$2 ;;
    "hone-extract --tasks" | "hone-pick-best --tasks" | "hone-report --tasks") tasks=$2 ;;
    "hone-tune --find-device") target=$2 ;;
    "hone-tune --out") out=$2 ;;
    "hone-tune --task") task=$2 ;;
    "hone-tune --settings" | "hone-bench --settings") settings=$2 ;;
    "hone-tune --db") db=$2 ;;
    "hone-tune --stamp") stamp=$2 ;;
    "hone-tune --donor") [ -f "$2" ]; donors="${donors-} ${2##*/}" ;;
    "hone-pick-best --winograd" | "hone-build --winograd") cap=$2 ;;
    "hone-pick-best --memory") memory=$2 ;;
    "hone-extract --input") input=$2 ;;
    "hone-pick-best --records" | "hone-report --records") records=$2 ;;
    "hone-build --name") net=$2 ;;
    "hone-confirm --best" | "hone-build --best" | "hone-bench --best" | "hone-report --best") best=$2 ;;
    "hone-bench --lib") lib=$2 ;;
    "hone-bench --baseline") baseline=$2 ;;
    "hone-report --bench") bench=$2 ;;
    "hone-pick-best --choice" | "hone-confirm --choice") choice=$2 ;;
    "hone-pick-best --out" | "hone-confirm --out" | "hone-build --out" | "hone-bench --out" | "hone-report --out") out=$2 ;;
    *) echo "$tool: unknown flag $1" >&2; exit 2 ;;
  esac
  shift 2
done

say() { echo "$*" >>"$bin/calls"; }
get() { IFS= read -r got <"$1"; }
# put FILE LINE: writes the line to the file, unless it already has this content.
put() {
  [ -d "${1%/*}" ] || mkdir -p "${1%/*}"
  if [ -f "$1" ]; then
    got=
    get "$1" || true
    [ "$got" != "$2" ] || return 0
  fi
  echo "$2" >"$1"
}
# stem FILE SUFFIX: prints the name without folder and suffix.
stem() {
  name=${1##*/}
  name=${name%"$2"}
}

case $tool in
  hone-extract)
    [ -f "$bin/networks/$network" ] || { echo "hone-extract: no network $network" >&2; exit 1; }
    [ -f "$target" ]
    stem "$tasks" .tasks.json
    say extract "$name${input:+ with $input}"
    rows=
    get "$bin/networks/$network"
    for id in $got; do
      workload="$id()"
      if [ -f "$bin/workloads/$id" ]; then get "$bin/workloads/$id"; workload=$got; fi
      rows="$rows${rows:+,}{\"id\":\"$id\",\"workload\":\"$workload\",\"weight\":1,\"flop\":1}"
      put "$task_dir/$id.task.json" "$id"
    done
    put "$graph" "$network $batch"
    put "$tasks" "{\"version\":1,\"network\":\"n\",\"target\":\"t\",\"target_name\":\"cpu\",\"tasks\":[$rows]}"
    ;;
  hone-tune)
    if [ -z "${task-}" ]; then  # --find-device
      say find "$target"
      [ ! -f "$bin/no-device" ] || { echo "hone-tune: error: no device for $target" >&2; exit 1; }
      put "$out" found
      exit 0
    fi
    get "$task"
    id=$got
    trials= seconds=
    while read -r key value; do
      if [ "$key" = '"trials":' ]; then trials=${value%,}; fi
      if [ "$key" = '"seconds":' ]; then seconds=${value%,}; fi
    done <"$settings"
    met_by=trials whole=${seconds%.*}
    if [ "$whole" != 0 ]; then met_by=seconds budget=$trials trials=$whole; fi  # a trial takes a second
    [ -d "${db%/*}" ] || mkdir -p "${db%/*}"
    : >>"$db"
    trap '' PIPE  # an interrupted Ninja no longer reads output of this script or the shell
    trap 'echo committed >>"$db.end"; exit 75' INT TERM HUP
    had=0
    while read -r _; do had=$((had + 1)); done <"$db"
    have=$had
    speed=$bin/speed
    [ ! -f "$speed.$id" ] || speed=$speed.$id
    get "$speed"
    time=$got
    if [ -f "$bin/broken.$id" ]; then
      time=0
      [ -n "${optional-}" ] || { echo "hone-tune: error: $id: no trial was correct" >&2; exit 1; }
    fi
    while [ "$have" -lt "$trials" ]; do
      have=$((have + 1))
      echo "$got" >>"$db"
      [ ! -f "$bin/slow" ] || sleep 0.05 || true
    done
    say tune "$id" "$((have - had))${donors:+ from$donors}"
    put "$stamp" "{\"version\":1,\"met_by\":\"$met_by\",\"budget\":{\"trials\":${budget-$trials},\"seconds\":$seconds},\
\"search\":{\"trials\":$trials,\"seconds\":$time,\"tuning_seconds\":$trials}}"
    ;;
  hone-pick-best)
    stem "$out" .json
    say pick-best "$name${cap:+ up to $cap}${memory:+ within $memory}${or_default:+ or default}"
    get "$tasks"
    rest=${got#*\"tasks\":}
    line=
    while [ "$rest" != "${rest#*\"id\":\"}" ]; do
      rest=${rest#*\"id\":\"}
      id=${rest%%\"*}
      best=999
      while read -r speed; do
        if [ "$speed" -lt "$best" ]; then best=$speed; fi
      done <"$records/$id.db"
      line="$line${line:+, }$id $best"
    done
    got=
    [ ! -f "$bin/figures" ] || get "$bin/figures"
    put "$out" "$line${got:+ $got}"
    [ -z "${choice-}" ] || put "$choice" "$line"
    ;;
  hone-confirm)
    stem "$best" .json
    say confirm "$name"
    [ -f "$graph" ] && [ -f "$target" ]
    get "$best"
    line=${got% timed again}
    put "$out" "$got, confirmed"
    put "$choice" "$line"
    ;;
  hone-build)
    say build "${out##*/}${cap:+ up to $cap}"
    get "$graph"
    if [ $untuned = yes ]; then line="$got, untuned"; else line=$got; get "$best"; line="$line, $got"; fi
    [ -f "$target" ]
    put "$out/lib$net.so" "$line"
    put "$out/$net.h" header
    put "$out/$net.params" parameters
    put "$out/$net.graph.json" "$got"
    put "$out/manifest.json" "$line"
    ;;
  hone-bench)
    stem "$out" .json
    say bench "$name"
    [ -d "$lib" ] && [ -d "$baseline" ] && [ -f "$settings" ] && [ -f "$best" ]
    get "$lib"/manifest.json
    put "$out" "$got"
    ;;
  hone-report)
    say report "${out##*/}"
    [ -d "$records" ] && [ -f "$tasks" ]
    get "$bench"
    line=$got
    get "$best"
    for name in index.html report.json junit.xml report.md; do put "$out/$name" "$line, $got"; done
    ;;
esac
