#!/bin/sh
# check_onnx.sh BUILD [--update]: runs ONNX's backend tests through the whole chain and compares with the lists of tests
# that must pass (expected/); --update rewrites these lists. The tests are from the onnx package of the newest supported
# opset (21), which is downloaded once, as data only: none of its code runs.
set -eu
build=$1
update=${2:-}
expected=$(dirname "$0")/expected
version=1.16.2
data="$build/onnx-$version"
if [ ! -d "$data/onnx/backend/test/data/node" ]; then
  venv=.venv
  if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
  mkdir -p "$data"
  "$venv/bin/pip" download --quiet --no-deps --only-binary :all: --python-version 3.11 -d "$data" "onnx==$version"
  "$venv/bin/python" -c 'import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
wheel.extractall(sys.argv[2], [n for n in wheel.namelist() if "/backend/test/data/" in n])' "$data"/onnx-*.whl "$data"
fi
mkdir -p "$expected"
failed=0
for kind in node simple pytorch-converted pytorch-operator; do
  echo
  echo "== $kind"
  "$build/bin/onnx_backend" --expect "$expected/$kind.txt" $update "$data/onnx/backend/test/data/$kind" || failed=1
done
exit $failed
