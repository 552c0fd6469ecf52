#!/bin/sh
# bench_peers.sh BUILD WORK [JOB [NETWORK]]: the tuned library of a job beside onnxruntime and openvino, on the same graph and
# parameters, written as ONNX. The engines come from PyPI into .venv/, which nothing else uses.
set -eu
build=$1 work=$2 job=${3:-resnet18} network=${4:-resnet-18}
here=$(cd "$(dirname "$0")" && pwd)
venv=.venv
if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
if ! "$venv/bin/python" -c 'import numpy, onnx, onnxruntime, openvino' 2>/dev/null; then
  echo "Installing numpy, onnx, onnxruntime and openvino into $venv"
  "$venv/bin/pip" install --quiet numpy onnx onnxruntime openvino
fi
"$build/bin/hone-plan" --pipelines pipelines --work "$work" --tools "$build/bin"
ninja -C "$work" --quiet "bench-$job-cpu"
peers="$work/peers"
mkdir -p "$peers"
"$build/bin/hone-extract" --network "$network" --target "$work/targets/cpu.json" --graph "$peers/$job.graph.json" \
  --tasks "$peers/$job.tasks.json" --task-dir "$peers/tasks" --parameters "$peers/$job.parameters"
"$venv/bin/python" "$here/peers/onnx_model.py" "$peers/$job.graph.json" "$peers/$job.parameters" "$peers/$job.onnx"
exec "$venv/bin/python" "$here/peers/bench.py" "$network" "$work/out/$job.cpu" "$peers/$job.onnx" 5 60 2
