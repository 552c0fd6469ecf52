#!/bin/sh
# Tests the PyTorch part of run-gpu-checks without PyTorch: every script is valid Python, gpu.py runs with stand-ins,
# and run-gpu-checks can read its output.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -c 'import ast, sys
for path in sys.argv[1:]: ast.parse(open(path).read(), path)' "$here"/peers/*.py
mkdir "$folder/peers" "$folder/log"
python3 "$here/gpu_peers_test.py" "$here/peers" "$folder/peers"
echo 'tuned           1.200      1.100      1.300      1.000' >"$folder/log/net_again.log"
eval "$(sed -n '/^beside() {/,/^}/p' "$here/../../packaging/cuda/run-gpu-checks")"
work=$folder
got=$(beside)
# Hone takes 1.2 ms; the stand-in takes 2.5 ms with a CUDA graph.
[ "$got" = "0.48 1.200 2.500" ] || { echo "run-gpu-checks reads \`$got\` of"; cat "$folder/peers/rows.md"; exit 1; }
