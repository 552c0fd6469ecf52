"""Compares the latency of a network with other engines: each in its own processes, in turns, on the same input.

Usage: bench.py NAME HONE_FOLDER MODEL.onnx ROUNDS ITERATIONS THREADS
Prints a table of minimum and median over all processes, the ratio of the minima and medians to the best peer's, and
each engine's largest difference to onnxruntime's output. Fails if a difference is too large. Hone pins its threads, one
per core, with the option of its library; the others place theirs themselves. ncnn is included only for one image.
"""
import importlib.metadata
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx

PACKAGES = {"pytorch": "torch"}


def engines(shape):
    found = ["hone", "onnxruntime", "openvino"]
    if shape[0] == 1 and len(shape) > 3:  # pnnx takes the first axis for a batch, also where it counts tokens
        found.append("ncnn")
    if importlib.util.find_spec("torch"):  # takes gigabytes, so it is used only if installed
        found.append("pytorch")
    return found


def main():
    name, folder, model, rounds, iterations, threads = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    value = onnx.load(model).graph.input[0]
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    all_engines = engines(shape)
    times = {engine: [] for engine in all_engines}
    outputs = {}
    with tempfile.TemporaryDirectory() as temp:
        input_path = os.path.join(temp, "input.npy")
        np.save(input_path, np.random.default_rng(1).standard_normal(shape).astype(np.float32))
        for _ in range(int(rounds)):
            for engine in all_engines:
                out = os.path.join(temp, engine + ".npy")
                command = [sys.executable, os.path.join(here, "engine.py"), engine, folder if engine == "hone" else model,
                           input_path, out, threads, "10", iterations]
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
                times[engine].append(json.loads(done.stdout.splitlines()[-1])["seconds"])
                outputs[engine] = np.load(out)
    flat = {engine: [s for run in runs for s in run] for engine, runs in times.items()}
    peers = [e for e in all_engines if e != "hone"]
    best_min = min(min(flat[e]) for e in peers)
    best_median = min(statistics.median(flat[e]) for e in peers)
    versions = ", ".join(f"{e} {importlib.metadata.version(PACKAGES.get(e, e))}" for e in peers)
    print(f"{name}, {threads} threads, {rounds} processes of {iterations} runs each, alternating; {versions}")
    print(f"{'engine':<12} {'min ms':>8} {'median ms':>10} {'min ratio':>10} {'median ratio':>13}")
    for engine in all_engines:
        low, middle = min(flat[engine]), statistics.median(flat[engine])
        print(f"{engine:<12} {low * 1e3:>8.3f} {middle * 1e3:>10.3f} {low / best_min:>10.3f} {middle / best_median:>13.3f}")
    reference = outputs["onnxruntime"].ravel()
    errors = {e: np.abs(outputs[e].ravel() - reference).max() / reference.std() for e in all_engines if e != "onnxruntime"}
    print("largest difference to onnxruntime's output, in its standard deviations: " +
          ", ".join(f"{e} {error:.1e}" for e, error in errors.items()))
    if not all(error < 1e-3 for error in errors.values()):
        sys.exit("the outputs disagree: the times above mean nothing")


if __name__ == "__main__":
    main()
