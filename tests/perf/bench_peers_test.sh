#!/bin/sh
# Tests how bench_peers.sh reads its jobs before it installs, builds or times anything, and that engine.py's structs
# match the C API.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c 'import tomllib' 2>/dev/null; then
  echo "skipped: there is no python3 of 3.11 or later"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir pipelines
failed=0

# job NAME TEXT: writes a pipeline
job() { printf '%s\n' "$2" >"pipelines/$1.toml"; }

reads() {
  got=$(python3 "$here/peers/job.py" "pipelines/$1.toml") || got="exit $?"
  [ "$got" = "$2" ] || { echo "$1: wanted \`$2\`, got \`$got\`"; failed=1; }
}

# refuses NAME TEXT: checks that the job fails with one line that has TEXT, exit code 1, and no step started.
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
job bytes 'network = "resnet-50"
[quantise]
method = "max"'
reads good "resnet-18 1 f32"
reads eight "vgg-16 8 f32"
reads bytes "resnet-50 1 int8"

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
refuses words "a \`batch\` that is not a number"
job broken 'network ='
refuses broken "pipelines/broken.toml: "
refuses gone "pipelines/gone.toml: No such file"

# Compares names and order of the fields of engine.py's structs, without importing its packages.
python3 - "$here/peers/engine.py" "$here/../../lib/library/header_text.cc" <<'END' || failed=1
import ast
import re
import sys

engine, header = (open(path).read() for path in sys.argv[1:])
known = {}
for node in ast.parse(engine).body:
    if isinstance(node, ast.ClassDef):
        fields = next(s.value for s in node.body if isinstance(s, ast.Assign) and s.targets[0].id == "_fields_")
        known[node.name] = [field.elts[0].value for field in fields.elts]
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ABI_VERSION":
        known["version"] = node.value.value
wrong = 0
if known.get("version") != int(re.search(r"_ABI_VERSION (\d+)", header).group(1)):
    wrong = print("engine.py: its ABI_VERSION is not the header's") or 1
for name, all_of_it in (("Options", True), ("Tensor", True), ("Info", False)):
    body = re.search(r"typedef struct @_%s \{(.*?)\} @_%s;" % (name.lower(), name.lower()), header, re.S).group(1)
    fields = re.findall(r"(\w+);", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
    mine = known["Hone" + name]
    if mine != (fields if all_of_it else fields[:len(mine)]):
        wrong = print(f"engine.py: Hone{name} is {mine}, NET.h has {fields}") or 1
sys.exit(wrong)
END
exit $failed
