#!/bin/sh
# What bench_peers.sh makes of its jobs before anything is installed, built or timed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c 'import tomllib' 2>/dev/null; then
  echo "[SKIP] there is no python3 of 3.11 or later"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir pipelines
failed=0

# job NAME TEXT: a pipeline
job() { printf '%s\n' "$2" >"pipelines/$1.toml"; }

reads() {
  got=$(python3 "$here/peers/job.py" "pipelines/$1.toml") || got="exit $?"
  [ "$got" = "$2" ] || { echo "$1: wanted \`$2\`, got \`$got\`"; failed=1; }
}

# refuses NAME TEXT: one line with TEXT, exit 1, and nothing was begun.
refuses() {
  code=0
  "$here/bench_peers.sh" /nowhere work good "$1" >out 2>err || code=$?
  if [ $code != 1 ] || [ -s out ] || [ "$(wc -l <err)" != 1 ] || ! grep -qF "$2" err || [ -e .venv ] || [ -e work ]; then
    echo "$1: exit $code, wanted one line with \`$2\`:"; cat out err; failed=1
  fi
}

job good 'network = "resnet-18"'
job eight 'network = "vgg-16"  # with a comment
batch = 8
[tune]
batch = 3'
reads good "resnet-18 1"
reads eight "vgg-16 8"

job model 'network = "models/net.onnx"'
job graph 'network = "net.json"'
job workload 'network = "dense(f32[1,16], f32[4,16])"'
job plugin 'network = "own"
plugin = "libown.so"'
for name in model graph workload plugin; do
  refuses $name "pipelines/$name.toml: \`$(sed -n '1s/network = "\(.*\)"/\1/p' pipelines/$name.toml)\` is not built in"
done
job empty ''
refuses empty "pipelines/empty.toml: it has no \`network\`"
job words 'network = "resnet-18"
batch = "8"'
refuses words "a \`batch\` that is no number"
job broken 'network ='
refuses broken "pipelines/broken.toml: "
refuses gone "pipelines/gone.toml: No such file"
exit $failed
