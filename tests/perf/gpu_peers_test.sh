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
mkdir "$folder/peers"
python3 "$here/gpu_peers_test.py" "$here/peers" "$folder/peers"
eval "$(sed -n '/^beside() {/,/^}/p' "$here/../../packaging/cuda/run-gpu-checks")"
work=$folder
# On the device Hone takes 1.2 ms, the stand-in 2.5 ms with a CUDA graph; calls that wait 3 and 4 ms.
got="$(beside 5); $(beside 6)"
[ "$got" = "0.48 1.200 2.500; 0.75 3.000 4.000" ] || { echo "run-gpu-checks reads \`$got\` of"; cat "$folder/peers/rows.md"; exit 1; }
