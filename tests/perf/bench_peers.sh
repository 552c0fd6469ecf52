#!/bin/sh
# bench_peers.sh BUILD WORK [JOB ..]: compares the tuned library of each job (a file of pipelines/ with a built-in
# network; default: resnet18) with onnxruntime, openvino, ncnn and, if installed, PyTorch, on the same graph, batch and
# parameters. It installs the engines from PyPI into .venv/, which nothing else uses. PyTorch takes gigabytes, so
# install it yourself: .venv/bin/pip install torch. pnnx converts the models for ncnn, timed only with one image.
# Jobs with [quantise] are compared with models that onnxruntime and nncf quantise of the same network.
set -eu
build=$1 work=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
if [ $# = 0 ]; then set -- resnet18; fi
for job in "$@"; do python3 "$here/peers/job.py" "pipelines/$job.toml" >/dev/null; done  # fail before the long steps
venv=.venv
if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
# Only pnnx's Python part needs PyTorch; its program does not.
pnnx='import importlib.util as u; print(u.find_spec("pnnx").submodule_search_locations[0] + "/pnnx")'
if ! "$venv/bin/python" -c "import numpy, onnx, onnxruntime, openvino, ncnn; $pnnx" >/dev/null 2>&1; then
  echo "Installing numpy, onnx, onnxruntime, openvino, ncnn and pnnx into $venv"
  "$venv/bin/pip" install --quiet numpy onnx onnxruntime openvino ncnn
  "$venv/bin/pip" install --quiet --no-deps pnnx
fi
pnnx=$("$venv/bin/python" -c "$pnnx")
"$build/bin/hone-plan" --pipelines pipelines --work "$work" --tools "$build/bin"
peers="$work/peers"
mkdir -p "$peers"
for job in "$@"; do
  read -r network batch type <<END
$(python3 "$here/peers/job.py" "pipelines/$job.toml")
END
  ninja -C "$work" --quiet "bench-$job-cpu"
  "$build/bin/hone-extract" --network "$network" --batch "$batch" --target "$work/targets/cpu.json" \
    --graph "$peers/$job.graph.json" --tasks "$peers/$job.tasks.json" --task-dir "$peers/tasks" \
    --parameters "$peers/$job.parameters"
  "$venv/bin/python" "$here/peers/graph_to_onnx.py" "$peers/$job.graph.json" "$peers/$job.parameters" "$peers/$job.onnx"
  if [ "$type" = int8 ]; then
    "$venv/bin/python" -c 'import nncf' 2>/dev/null || "$venv/bin/pip" install --quiet nncf
    "$venv/bin/python" "$here/peers/quantise.py" "$peers/$job.onnx"
  elif [ "$batch" = 1 ]; then
    "$pnnx" "$peers/$job.onnx" fp16=0 "ncnnparam=$peers/$job.ncnn.param" "ncnnbin=$peers/$job.ncnn.bin" \
      >"$peers/$job.pnnx.log" 2>&1 || { cat "$peers/$job.pnnx.log"; exit 1; }
  fi
  "$venv/bin/python" "$here/peers/bench.py" "$network, batch $batch" "$work/out/$job.cpu" "$peers/$job.onnx" 5 60 2 "$type"
done
