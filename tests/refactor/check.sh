#!/usr/bin/env bash
# check.sh BUILD BASE: checks that this tree makes the same code, ids and files as the commit BASE. Prints a line per
# comparison, and exits with 1 if one differs; BUILD/refactor then has the files, `base.*` and `head.*`.
#
# BASE is built from its own sources, with its own refactor_probe, in BUILD/refactor/tree. The comparisons:
#   probe    steps and code of POINTS (200) seeded points per template: two CPU targets, opencl, sm_80
#   nets     task lists, task files and graphs of the built-in networks and of the models of tests/data/onnx
#   libraries  hone-build's output without records: libraries of small networks, for the CPU and OpenCL
#   stamps   stamp and records of a tuning job with simulated times
#   folder   a folder tuned by BASE's tools, in which this tree's tools have nothing to do
#   replay   the table of `make replay` with SEEDS (4) seeds, without its column of milliseconds
# PARTS="probe nets" runs some of them.
set -euo pipefail
build=$(cd "$1" && pwd)
base=$(git rev-parse --verify "$2^{commit}")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$build/refactor
POINTS=${POINTS:-200} SEEDS=${SEEDS:-4} PARTS=${PARTS:-probe nets libraries stamps folder replay}
cpu_v4="cpu -triple=x86_64-unknown-linux-gnu -cpu=x86-64-v4 -features=avx2,avx512bw,avx512cd,avx512dq,avx512f,avx512vl,fma -threads=2 -vector=64"
cpu_v3="cpu -triple=x86_64-unknown-linux-gnu -cpu=x86-64-v3 -features=avx2,fma -threads=4 -vector=32"
networks="resnet-18 resnet-34 resnet-50 vgg-16 mobilenet mobilenet_v2 squeezenet_v1.1 inception_v3 resnet3d-18"
models="attention branches inverted residual"
different=0

mkdir -p "$out"
tree=$out/tree
if [ "$(cat "$out/commit" 2>/dev/null)" != "$base" ]; then
  rm -rf "$tree" "$out/commit" && mkdir -p "$tree"
  git -C "$root" archive "$base" | tar -x -C "$tree"
fi
cmake -S "$tree" -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING >/dev/null
ninja -C "$out/build" tools refactor_probe replay_bench | tail -1
ninja -C "$build" tools refactor_probe replay_bench | tail -1
echo "$base" > "$out/commit"

bin() { if [ "$1" = base ]; then echo "$out/build/bin"; else echo "$build/bin"; fi; }
# compare NAME: compares base.NAME and head.NAME, files or folders.
compare() {
  if diff -r "$out/base.$1" "$out/head.$1" > "$out/$1.diff"; then
    echo "equal      $1"
  else
    echo "DIFFERENT  $1: $out/$1.diff"
    different=1
  fi
}
wanted() { case " $PARTS " in *" $1 "*) return 0 ;; *) return 1 ;; esac }
# both FUNCTION ARGS..: runs FUNCTION base ARGS and FUNCTION head ARGS in parallel.
both() {
  local function=$1; shift
  "$function" base "$@" & local first=$!
  "$function" head "$@" & local second=$!
  wait "$first" && wait "$second"
}

probe() { "$(bin "$1")/refactor_probe" "$3" "$POINTS" > "$out/$1.probe.$2"; }
if wanted probe; then
  sm_80="cuda -arch=sm_80 -shared=166912 -multiprocessors=108"
  opencl="opencl -threads=256 -block=256x256x64 -shared=32768 -multiprocessors=8"
  both probe x86-64-v4 "$cpu_v4"; compare probe.x86-64-v4
  both probe x86-64-v3 "$cpu_v3"; compare probe.x86-64-v3
  both probe opencl "$opencl"; compare probe.opencl
  both probe sm_80 "$sm_80"; compare probe.sm_80
fi

targets=$out/targets
mkdir -p "$targets"
echo '{"kind": "cpu", "cpu": "x86-64-v3", "threads": 2}' > "$targets/cpu.json"
echo '{"kind": "opencl", "threads_per_block": 256, "block": [256, 256, 64], "shared_bytes": 32768, "multiprocessors": 8}' > "$targets/opencl.json"
echo '{"kind": "cuda", "arch": "sm_80", "shared_bytes": 166912, "multiprocessors": 108}' > "$targets/sm_80.json"

extract() {  # SIDE NAME NETWORK TARGET FOLDER
  local inputs=()
  if [ "$2" = residual ]; then inputs=(--input x=2,3,20,20); fi
  mkdir -p "$5/tasks"
  "$(bin "$1")/hone-extract" --network "$3" "${inputs[@]}" --target "$targets/$4.json" --graph "$5/$2.graph.json" \
    --tasks "$5/$2.$4.tasks.json" --task-dir "$5/tasks"
}
nets() {
  rm -rf "$out/$1.nets"
  for target in cpu opencl sm_80; do
    for net in $networks; do extract "$1" "$net" "$net" "$target" "$out/$1.nets"; done
    for model in $models; do
      if [ -f "$root/tests/data/onnx/$model/model.onnx" ]; then
        extract "$1" "$model" "$root/tests/data/onnx/$model/model.onnx" "$target" "$out/$1.nets"
      fi
    done
  done
}
if wanted nets; then both nets; compare nets; fi

libraries() {
  local dir=$out/$1.libraries work=$out/$1.graphs target
  rm -rf "$dir" "$work"; mkdir -p "$dir"
  local inputs
  for target in cpu opencl; do
    for net in squeezenet_v1.1 mobilenet; do
      extract "$1" "$net" "$net" "$target" "$work"
      "$(bin "$1")/hone-build" --graph "$work/$net.graph.json" --target "$targets/$target.json" --untuned \
        --out "$dir/$net.$target" --jobs 1 2>/dev/null
    done
    for model in $models; do
      [ -f "$root/tests/data/onnx/$model/model.onnx" ] || continue
      extract "$1" "$model" "$root/tests/data/onnx/$model/model.onnx" "$target" "$work"
      inputs=()
      if [ "$model" = residual ]; then inputs=(--input x=2,3,20,20); fi
      "$(bin "$1")/hone-build" --graph "$work/$model.graph.json" --target "$targets/$target.json" --untuned --jobs 1 \
        --parameter-file "$root/tests/data/onnx/$model/model.onnx" "${inputs[@]}" --out "$dir/$model.$target" 2>/dev/null
    done
  done
}
if wanted libraries; then both libraries; compare libraries; fi

# Both sides run one after the other in the same folder, since their output may contain paths.
stamps() {
  local dir=$out/stamps
  rm -rf "$dir" "$out/$1.stamps"
  extract "$1" net squeezenet_v1.1 cpu "$dir"
  echo '{"version": 1, "tuner": "auto", "trials": 64, "seed": 1}' > "$dir/settings.json"
  mkdir -p "$out/$1.stamps"
  local task
  for task in $(ls "$dir/tasks" | head -3); do
    "$(bin "$1")/hone-tune" --task "$dir/tasks/$task" --settings "$dir/settings.json" --db "$dir/$task.db" \
      --stamp "$out/$1.stamps/$task.done" --fake-measure 1 2>/dev/null >/dev/null
    "$(bin "$1")/hone-records" list "$dir/$task.db" > "$out/$1.stamps/$task.trials"
  done
}
if wanted stamps; then stamps base; stamps head; compare stamps; fi

# Both sides' tools have the same path, so that the manifests are equal.
folder() {
  local dir=$out/folder
  rm -rf "$dir/tools" && mkdir "$dir/tools" && cp -al "$(bin "$1")"/hone-* "$dir/tools"
  "$dir/tools/hone-plan" --pipelines "$dir/pipelines" --work "$dir/work" --tools "$dir/tools" 2>/dev/null
  ninja -C "$dir/work" tune-small-cpu > "$out/$1.folder.log" 2>&1
}
if wanted folder; then
  rm -rf "$out/folder"; mkdir -p "$out/folder/pipelines/targets"
  cp "$root/pipelines/targets/cpu.toml" "$out/folder/pipelines/targets/"
  cat > "$out/folder/pipelines/small.toml" <<TOML
network = "$root/tests/data/onnx/residual/model.onnx"
targets = ["cpu"]
[input]
x = [2, 3, 20, 20]
[tune]
trials = 8
[bench]
processes = 1
iterations = 5
TOML
  folder base
  cp -a "$out/folder/work" "$out/base.work"
  folder head
  if grep -q "no work to do" "$out/head.folder.log"; then
    echo "equal      folder: nothing to do"
  else
    echo "DIFFERENT  folder: $out/head.folder.log"
    different=1
  fi
fi

replay() {
  "$(bin "$1")/replay_bench" --tuners=auto,random --seeds="$SEEDS" --each \
    $(awk -v d="$root/tests/replay/spaces" '$1 == "report" { print d "/" $2 ".replay" }' "$root/tests/replay/tasks.txt") |
    sed 's/|[^|]*|$/|/' > "$out/$1.replay"
}
if wanted replay; then both replay; compare replay; fi
exit $different
