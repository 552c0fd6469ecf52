#!/bin/sh
# bench_peers.sh BUILD WORK [JOB ..]: the tuned library of each job (a file of pipelines/ with a built-in network; resnet18 if
# none is named) beside onnxruntime, openvino and, if it is installed, PyTorch, on the same graph, batch and parameters. The
# engines come from PyPI into .venv/, which nothing else uses; PyTorch takes gigabytes, so it is left to you:
# .venv/bin/pip install torch
set -eu
build=$1 work=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
if [ $# = 0 ]; then set -- resnet18; fi
for job in "$@"; do python3 "$here/peers/job.py" "pipelines/$job.toml" >/dev/null; done  # before anything takes long
venv=.venv
if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
if ! "$venv/bin/python" -c 'import numpy, onnx, onnxruntime, openvino' 2>/dev/null; then
  echo "Installing numpy, onnx, onnxruntime and openvino into $venv"
  "$venv/bin/pip" install --quiet numpy onnx onnxruntime openvino
fi
"$build/bin/hone-plan" --pipelines pipelines --work "$work" --tools "$build/bin"
peers="$work/peers"
mkdir -p "$peers"
for job in "$@"; do
  network_and_batch=$(python3 "$here/peers/job.py" "pipelines/$job.toml")
  network=${network_and_batch% *} batch=${network_and_batch##* }
  ninja -C "$work" --quiet "bench-$job-cpu"
  "$build/bin/hone-extract" --network "$network" --batch "$batch" --target "$work/targets/cpu.json" \
    --graph "$peers/$job.graph.json" --tasks "$peers/$job.tasks.json" --task-dir "$peers/tasks" \
    --parameters "$peers/$job.parameters"
  "$venv/bin/python" "$here/peers/onnx_model.py" "$peers/$job.graph.json" "$peers/$job.parameters" "$peers/$job.onnx"
  "$venv/bin/python" "$here/peers/bench.py" "$network, batch $batch" "$work/out/$job.cpu" "$peers/$job.onnx" 5 60 2
done
