"""Latency of a network beside other engines: each in processes of its own, alternating, on the same input.

Usage: bench.py NAME HONE_FOLDER MODEL.onnx ROUNDS ITERATIONS THREADS
Prints a table of minimum and median over all processes, the ratio of the minima and medians to the best peer's, and the
largest difference of Hone's output to onnxruntime's. Hone pins its threads, one a core, as its library does when asked to; the
others place theirs themselves.
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

ENGINES = ["hone", "onnxruntime", "openvino"]
if importlib.util.find_spec("torch"):  # some gigabytes: used where somebody has installed it
    ENGINES.append("pytorch")


PACKAGES = {"pytorch": "torch"}


def main():
    name, folder, model, rounds, iterations, threads = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    value = onnx.load(model).graph.input[0]
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    times = {engine: [] for engine in ENGINES}
    outputs = {}
    with tempfile.TemporaryDirectory() as temp:
        input_path = os.path.join(temp, "input.npy")
        np.save(input_path, np.random.default_rng(1).standard_normal(shape).astype(np.float32))
        for _ in range(int(rounds)):
            for engine in ENGINES:
                out = os.path.join(temp, engine + ".npy")
                command = [sys.executable, os.path.join(here, "engine.py"), engine, folder if engine == "hone" else model,
                           input_path, out, threads, "10", iterations]
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
                times[engine].append(json.loads(done.stdout.splitlines()[-1])["seconds"])
                outputs[engine] = np.load(out)
    flat = {engine: [s for run in runs for s in run] for engine, runs in times.items()}
    peers = [e for e in ENGINES if e != "hone"]
    best_min = min(min(flat[e]) for e in peers)
    best_median = min(statistics.median(flat[e]) for e in peers)
    versions = ", ".join(f"{e} {importlib.metadata.version(PACKAGES.get(e, e))}" for e in peers)
    print(f"{name}, {threads} threads, {rounds} processes of {iterations} runs each, alternating; {versions}")
    print(f"{'engine':<12} {'min ms':>8} {'median ms':>10} {'min ratio':>10} {'median ratio':>13}")
    for engine in ENGINES:
        low, middle = min(flat[engine]), statistics.median(flat[engine])
        print(f"{engine:<12} {low * 1e3:>8.3f} {middle * 1e3:>10.3f} {low / best_min:>10.3f} {middle / best_median:>13.3f}")
    reference = outputs["onnxruntime"].ravel()
    error = np.abs(outputs["hone"].ravel() - reference).max() / reference.std()
    print(f"largest difference to onnxruntime's output: {error:.1e} of its standard deviation")
    if not error < 1e-3:
        sys.exit("the outputs disagree: the times above mean nothing")


if __name__ == "__main__":
    main()
