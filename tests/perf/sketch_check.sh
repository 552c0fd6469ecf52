#!/bin/sh
# sketch_check.sh BUILD WORK PART ..: measures how good derived sketches are, and prints a line for each figure:
# what, wanted, now. Close other programs first.
#
#   dags      200 random computations through all rules: refused, wrong, without a candidate
#   draw      all tasks of the built-in networks: legal points drawn and scored a second; 8 of them compiled and run
#   replay    tuners on the measured spaces of sketches (tests/replay/tasks.txt)
#   layers    the best of TRIALS trials (128) of sketches and of templates, Winograd off, for each layer of
#             sketch_layers.txt
#   pace      all tasks of ResNet-18, sketches alone, 45 trials each: seconds a trial, everything counted
#   both      networks ($NETWORKS) with templates and sketches, and with templates, SECONDS_EACH (5) a task
#
# `make bench-peers` compares with other engines. Each part writes into WORK/sketch-check/PART, and begins there anew.
set -eu
build=$(cd "$1" && pwd) work=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd) bin=$build/bin
networks=${NETWORKS:-resnet-18 mobilenet_v2 squeezenet_v1.1 resnet-50 inception_v3 vgg-16}
mkdir -p "$work/sketch-check"
dir=$(cd "$work/sketch-check" && pwd)
figures=$dir/figures.md

figure() { printf '| %s | %s | %s |\n' "$1" "$2" "$3" | tee -a "$figures.new"; }

# plan NAME: plans the pipelines of $dir/$part/NAME.
plan() {
  mkdir -p "$1/pipelines/targets"
  cp "$here/../../pipelines/targets/cpu.toml" "$1/pipelines/targets/"
  "$bin/hone-plan" --pipelines "$1/pipelines" --work "$1/work" --tools "$bin" >&2
}

# Geometric mean and largest of the numbers in the last column of stdin's lines that begin with $1.
mean() {
  awk -v set="$1" '$1 == set { n++; sum += log($NF); if ($NF > most) most = $NF }
    END { if (n) printf "%.2f, worst %.2f (%d)", exp(sum / n), most, n }'
}

dags() {
  "$bin/agree_sketches_test" >"$dir/dags.log" || { tail -20 "$dir/dags.log"; exit 1; }
  figure "200 random DAGs: refused, wrong, without a candidate" "0" \
    "none ($(sed -n 's/^\[  PASSED  \] //p' "$dir/dags.log"))"
}

draw() {
  echo '{"kind": "cpu"}' >cpu.json
  lists=
  for network in resnet-18 resnet-50 mobilenet mobilenet_v2 squeezenet_v1.1 inception_v3 vgg-16 resnet3d-18 \
    resnet18_v2 encoder encoder-197; do
    "$bin/hone-extract" --network "$network" --target cpu.json --graph graph.json --tasks "$network.json" \
      --task-dir tasks
    lists="$lists $network.json"
  done
  # shellcheck disable=SC2086
  "$bin/sketch_perf" $lists >points.md || touch "$dir/wrong"
  cat points.md
  awk -F' *[|] *' '$2 == "all" { print $3, $4, $5, $6, $7, $8 }' points.md >all.txt
  read -r tasks drawn scored compiled refused wrong <all.txt
  figure "legal candidates drawn / scored a second and core ($tasks tasks)" "200,000 / 100,000" "$drawn / $scored"
  figure "drawn candidates: refused / wrong" "0.1 % / 0" "$refused / $wrong of $compiled"
}

replay() {
  # shellcheck disable=SC2046
  "$bin/replay_bench" --tuners="${TUNERS:-auto,random}" --seeds=16 \
    $(awk -v dir="$here/../replay/spaces" '$1 == "sketch" { print dir "/" $2 ".replay" }' "$here/../replay/tasks.txt") \
    >table.md
  cat table.md
  figure "replay, median share after 16, 32, 64 trials; worst after 64" "93, 96, 98 %; 93 %" \
    "$(awk -F' *[|] *' '$2 == "auto" { printf "%s, %s, %s %%; %s %%", $5, $6, $7, $13; exit }' table.md)"
}

layers() {
  number=0
  while read -r set workload; do
    case $set in '' | '#'*) continue ;; esac
    number=$((number + 1))
    for mode in templates sketches; do
      mkdir -p "$mode/pipelines"
      printf 'network = "%s"\n[tune]\nmode = "%s"\ntrials = %s\n[numerics]\nwinograd = "off"\n' "$workload" "$mode" \
        "${TRIALS:-128}" >"$mode/pipelines/l$number.toml"
    done
    printf '%s l%s %s\n' "$set" "$number" "$workload" >>layers.txt
  done <"$here/sketch_layers.txt"
  for mode in templates sketches; do plan "$mode"; done
  while read -r set name workload; do
    times=
    for mode in templates sketches; do
      ninja -C "$mode/work" --quiet "best-$name-cpu" >/dev/null
      times="$times $(sed -n 's/^ *"median": \([0-9.e-]*\),*$/\1/p' "$mode/work/best/$name.cpu.json" | head -1)"
    done
    echo "$set $workload $times" | awk '{ printf "%s %.4g %.4g us %.3f\n", $0, 1e6 * $(NF - 1), 1e6 * $NF, $NF / $(NF - 1) }' \
      | tee -a rows.txt
  done <layers.txt
  figure "best of ${TRIALS:-128} trials, sketch / template" "1.03, worst 1.15" "$(mean even <rows.txt)"
  figure ".. channels and extents prime or odd" "1.05, worst 1.20" "$(mean odd <rows.txt)"
}

pace() {
  mkdir -p net/pipelines
  printf 'network = "resnet-18"\n[tune]\nmode = "sketches"\ntrials = 45\n' >net/pipelines/net.toml
  start=$(date +%s)
  plan net
  ninja -C net/work --quiet best-net-cpu >/dev/null
  seconds=$(($(date +%s) - start))
  trials=$(for db in net/work/records/cpu/*.db; do "$bin/hone-records" list --limit 1 "$db"; done \
    | awk '/^  [0-9]+ trials:/ { sum += $1 } END { print sum }')
  figure "seconds a trial, sketches alone, ResNet-18 ($trials trials, $seconds s)" "0.05" \
    "$(awk -v s="$seconds" -v n="$trials" 'BEGIN { printf "%.3f", s / n }')"
}

both() {
  for mode in templates both; do
    mkdir -p "$mode/pipelines"
    for network in $networks; do
      printf 'network = "%s"\n[tune]\nmode = "%s"\ntrials = 100000\nseconds = %s\n' "$network" "$mode" \
        "${SECONDS_EACH:-5}" >"$mode/pipelines/$(echo "$network" | tr -d -).toml"
    done
    plan "$mode"
  done
  for network in $networks; do
    job=$(echo "$network" | tr -d -)
    for mode in templates both; do ninja -C "$mode/work" --quiet "build-$job-cpu" >/dev/null; done
    "$bin/hone-bench" --lib "both/work/out/$job.cpu" --baseline "templates/work/out/$job.cpu" \
      --settings "both/work/settings/$job.bench.json" --out "$job.json" >"$job.txt"
    cat "$job.txt"
    figure "both / templates, $network, ${SECONDS_EACH:-5} s a task: medians" "1.00, worst 1.02" \
      "$(awk '$1 == "baseline" || $1 == "untuned" { before = $2 } $1 == "tuned" { after = $2 }
        END { printf "%.3f", after / before }' "$job.txt")"
  done
}

rm -f "$dir/wrong"
: >"$figures.new"
for part in "$@"; do
  case $part in dags | draw | replay | layers | pace | both) ;; *) echo "sketch_check.sh: no part $part" >&2; exit 2 ;; esac
  echo "== $part" >&2
  rm -rf "${dir:?}/$part"
  mkdir "$dir/$part"
  (
    cd "$dir/$part"
    "$part"
  )
done
mv "$figures.new" "$figures"
printf '\n| what | wanted | now |\n| --- | --- | --- |\n'
cat "$figures"
[ ! -e "$dir/wrong" ]
