"""Compares the latency of a network with other engines: each in its own processes, in turns, on the same input.

Usage: bench.py NAME HONE_FOLDER MODEL.onnx ROUNDS ITERATIONS THREADS f32|int8
Prints a table of minimum and median over all processes, the ratio of the minima and medians to the best peer's, and
each engine's largest difference to onnxruntime's output. Fails if a difference is too large. Hone pins its threads, one
per core, with the option of its library; the others place theirs themselves. ncnn is included only for one image.

With `int8`, the peers run the models that quantise.py made of MODEL.onnx, and each output is compared with
onnxruntime's of MODEL.onnx itself: as the ratio of signal to noise, in decibels. Fails if Hone's is 6 dB (one bit) below
the best peer's.
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


def check_floats(outputs):
    reference = outputs["onnxruntime"].ravel()
    errors = {e: np.abs(outputs[e].ravel() - reference).max() / reference.std() for e in outputs if e != "onnxruntime"}
    print("largest difference to onnxruntime's output, in its standard deviations: " +
          ", ".join(f"{e} {error:.1e}" for e, error in errors.items()))
    return all(error < 1e-3 for error in errors.values())


def check_integers(outputs, reference):
    def signal(output):
        return 10 * np.log10((reference ** 2).sum() / max(((output.ravel() - reference) ** 2).sum(), 1e-30))
    ratios = {e: signal(output) for e, output in outputs.items()}
    print("signal to noise, against onnxruntime in float32: " + ", ".join(f"{e} {r:.1f} dB" for e, r in ratios.items()))
    return ratios["hone"] > max(ratios.values()) - 6


def main():
    name, folder, model, rounds, iterations, threads, element_type = sys.argv[1:]
    integers = element_type == "int8"
    here = os.path.dirname(os.path.abspath(__file__))
    value = onnx.load(model).graph.input[0]
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    models = {engine: (engine, folder if engine == "hone" else model) for engine in engines(shape)}
    if integers:
        stem = model.removesuffix(".onnx")
        models = {"hone": ("hone", folder), "onnxruntime": ("onnxruntime", stem + ".ort-int8.onnx"),
                  "openvino": ("openvino", stem + ".ort-int8.onnx"), "openvino, nncf": ("openvino", stem + ".nncf-int8.xml")}
    all_engines = list(models)
    times = {engine: [] for engine in all_engines}
    outputs = {}
    with tempfile.TemporaryDirectory() as temp:
        input_path = os.path.join(temp, "input.npy")
        rng = np.random.default_rng(1)
        data = rng.uniform(-1, 1, shape) if integers else rng.standard_normal(shape)  # within the calibrated range
        np.save(input_path, data.astype(np.float32))

        def run(engine, file, count):
            out = os.path.join(temp, "output.npy")
            command = [sys.executable, os.path.join(here, "engine.py"), engine, file, input_path, out, threads, "10", count]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            return json.loads(done.stdout.splitlines()[-1])["seconds"], np.load(out)
        for _ in range(int(rounds)):
            for engine, (program, file) in models.items():
                seconds, outputs[engine] = run(program, file, iterations)
                times[engine].append(seconds)
        reference = run("onnxruntime", model, "1")[1].ravel() if integers else None
    flat = {engine: [s for run in runs for s in run] for engine, runs in times.items()}
    peers = [e for e in all_engines if e != "hone"]
    best_min = min(min(flat[e]) for e in peers)
    best_median = min(statistics.median(flat[e]) for e in peers)
    packages = dict.fromkeys(word for e in peers for word in e.split(", "))
    versions = ", ".join(f"{p} {importlib.metadata.version(PACKAGES.get(p, p))}" for p in packages)
    print(f"{name}, {threads} threads, {rounds} processes of {iterations} runs each, alternating; {versions}")
    print(f"{'engine':<14} {'min ms':>8} {'median ms':>10} {'min ratio':>10} {'median ratio':>13}")
    for engine in all_engines:
        low, middle = min(flat[engine]), statistics.median(flat[engine])
        print(f"{engine:<14} {low * 1e3:>8.3f} {middle * 1e3:>10.3f} {low / best_min:>10.3f} {middle / best_median:>13.3f}")
    if not (check_integers(outputs, reference) if integers else check_floats(outputs)):
        sys.exit("the outputs disagree: the times above mean nothing")


if __name__ == "__main__":
    main()
