"""How many pictures a small classifier still tells apart after quantisation: by hone-quantise, and by onnxruntime.

Draws pictures of shapes, trains a network of three convolutions on them, quantises it by the same calibration inputs
with both, and classifies pictures that neither has seen. Needs numpy, onnx and onnxruntime; the tools are in
build/bin. Takes about five minutes.

Usage: quantise_accuracy.py [FOLDER]     FOLDER keeps the model, inputs and results (default: a temporary one)
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "perf", "peers"))
from engine import open_hone  # noqa: E402
import ctypes  # noqa: E402

SIZE, CLASSES, BATCH = 24, 8, 100


def draw(kind, random):
    """A shape of random place, size, angle, contrast and brightness, under noise."""
    y, x = np.mgrid[:SIZE, :SIZE].astype(np.float32)
    middle, radius, angle = random.uniform(8, 16, 2), random.uniform(4.5, 7.5), random.uniform(-0.5, 0.5)
    u = ((x - middle[0]) * np.cos(angle) + (y - middle[1]) * np.sin(angle)) / radius
    v = (-(x - middle[0]) * np.sin(angle) + (y - middle[1]) * np.cos(angle)) / radius
    far, edge = np.hypot(u, v), np.maximum(abs(u), abs(v))
    inside = [far < 1, (far < 1) & (far > 0.6), edge < 0.9, (edge < 0.9) & (edge > 0.5),
              (v < 0.8) & (abs(u) < (v + 1) / 1.8), (edge < 1) & ((abs(u) < 0.25) | (abs(v) < 0.25)),
              (far < 1.2) & ((abs(u - v) < 0.35) | (abs(u + v) < 0.35)), (edge < 1) & (abs(abs(v) - 0.5) < 0.25)][kind]
    picture = random.uniform(0.25, 1) * inside + random.uniform(-0.3, 0.3)
    return (picture + random.normal(0, 0.12, picture.shape)).astype(np.float32)


def pictures(count, seed):
    random = np.random.default_rng(seed)
    kinds = random.integers(0, CLASSES, count)
    return np.stack([draw(kind, random) for kind in kinds])[:, None], kinds


def patches(x):
    """[N,C,H,W] -> [N,H,W,C*9], the 3x3 windows of a padded picture."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))  # [N,C,H,W,3,3]
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*x.shape[:1], *x.shape[2:], -1)


class Classifier:
    """conv 3x3, relu, pool; the same twice more without the last pool; mean; dense. Trained by Adam."""

    def __init__(self, random):
        widths = [1, 16, 24, 32]
        self.values = []
        for before, width in zip(widths, widths[1:]):
            self.values += [random.normal(0, (2 / 9 / before) ** 0.5, (width, before * 9)), np.zeros(width)]
        self.values += [random.normal(0, 0.2, (CLASSES, widths[-1])), np.zeros(CLASSES)]
        self.values = [v.astype(np.float32) for v in self.values]
        self.moments = [[np.zeros_like(v), np.zeros_like(v)] for v in self.values]
        self.steps = 0

    def step(self, x, kinds, rate):
        kept = []
        for layer in range(3):
            columns = patches(x)
            sums = columns @ self.values[2 * layer].T + self.values[2 * layer + 1]
            y = np.maximum(sums, 0).transpose(0, 3, 1, 2)
            if layer < 2:
                blocks = y.reshape(*y.shape[:2], y.shape[2] // 2, 2, y.shape[3] // 2, 2)
                pooled = blocks.max((3, 5))
                kept.append((columns, sums, blocks == pooled[:, :, :, None, :, None], x.shape))
                x = pooled
            else:
                kept.append((columns, sums, None, x.shape))
                x = y
        means = x.mean((2, 3))
        scores = means @ self.values[6].T + self.values[7]
        share = np.exp(scores - scores.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        loss = share.copy()
        loss[np.arange(len(kinds)), kinds] -= 1
        loss /= len(kinds)
        slopes = [None] * 6 + [loss.T @ means, loss.sum(0)]
        back = np.broadcast_to((loss @ self.values[6])[:, :, None, None] / (x.shape[2] * x.shape[3]), x.shape)
        for layer in reversed(range(3)):
            columns, sums, most, shape = kept[layer]
            if most is not None:
                back = (back[:, :, :, None, :, None] * most).reshape(*back.shape[:2], 2 * back.shape[2], -1)
            back = back.transpose(0, 2, 3, 1) * (sums > 0)
            flat = back.reshape(-1, back.shape[-1])
            slopes[2 * layer] = flat.T @ columns.reshape(len(flat), -1)
            slopes[2 * layer + 1] = flat.sum(0)
            if layer == 0:
                break
            spread = (back @ self.values[2 * layer]).reshape(*back.shape[:3], shape[1], 3, 3)
            padded = np.zeros((shape[0], shape[1], shape[2] + 2, shape[3] + 2), np.float32)
            for i in range(3):
                for j in range(3):
                    padded[:, :, i:i + shape[2], j:j + shape[3]] += spread[..., i, j].transpose(0, 3, 1, 2)
            back = padded[:, :, 1:-1, 1:-1]
        self.steps += 1
        for value, slope, (first, second) in zip(self.values, slopes, self.moments):
            first += 0.1 * (slope - first)
            second += 0.001 * (slope ** 2 - second)
            value -= rate * (first / (1 - 0.9 ** self.steps)) / (
                np.sqrt(second / (1 - 0.999 ** self.steps)) + 1e-8)

    def model(self):
        constants, nodes, at = {}, [], "x"
        for layer in range(3):
            weight, bias = self.values[2 * layer:2 * layer + 2]
            constants[f"w{layer}"], constants[f"b{layer}"] = weight.reshape(len(weight), -1, 3, 3), bias
            nodes += [helper.make_node("Conv", [at, f"w{layer}", f"b{layer}"], [f"c{layer}"], pads=[1, 1, 1, 1]),
                      helper.make_node("Relu", [f"c{layer}"], [f"r{layer}"])]
            at = f"r{layer}"
            if layer < 2:
                nodes.append(helper.make_node("MaxPool", [at], [f"p{layer}"], kernel_shape=[2, 2], strides=[2, 2]))
                at = f"p{layer}"
        constants["w"], constants["b"] = self.values[6], self.values[7]
        nodes += [helper.make_node("GlobalAveragePool", [at], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
                  helper.make_node("Gemm", ["f", "w", "b"], ["y"], transB=1)]
        graph = helper.make_graph(
            nodes, "shapes", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, 1, SIZE, SIZE])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [BATCH, CLASSES])],
            [numpy_helper.from_array(value, name) for name, value in constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def train(seed=1, count=8000, epochs=14):
    x, kinds = pictures(count, seed)
    random = np.random.default_rng(seed)
    net = Classifier(random)
    for epoch in range(epochs):
        order = random.permutation(count)
        for begin in range(0, count, 100):
            part = order[begin:begin + 100]
            net.step(x[part], kinds[part], 0.004 if epoch < epochs - 4 else 0.001)
    return net, x


class Batches(CalibrationDataReader):
    def __init__(self, x):
        self.left = [x[i:i + BATCH] for i in range(0, len(x), BATCH)]

    def get_next(self):
        return {"x": self.left.pop(0)} if self.left else None


def by_onnxruntime(model, x):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # no sums that saturate
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"x": x[i:i + BATCH]})[0] for i in range(0, len(x), BATCH)])


def by_hone(folder, x):
    function, net, _ = open_hone(folder)
    outputs = []
    for i in range(0, len(x), BATCH):
        data, result = np.ascontiguousarray(x[i:i + BATCH]), np.zeros((BATCH, CLASSES), np.float32)
        if function("run")(net, (ctypes.c_void_p * 1)(data.ctypes.data), (ctypes.c_void_p * 1)(result.ctypes.data)):
            sys.exit("run failed")
        outputs.append(result)
    return np.concatenate(outputs)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    path = lambda name: os.path.join(folder, name)
    net, seen = train()
    onnx.save(net.model(), path("float.onnx"))
    calibration = seen[:5 * BATCH]
    np.save(path("calibration.npy"), calibration.reshape(-1, BATCH, 1, SIZE, SIZE))
    open(path("cpu.json"), "w").write('{"kind": "cpu"}')
    tool = lambda name, *flags: subprocess.check_output([os.path.join(ROOT, "build", "bin", name), *flags], text=True,
                                                        stderr=subprocess.DEVNULL)
    x, kinds = pictures(10000, 2)
    right = lambda scores: 100 * np.mean(scores.argmax(1) == kinds)
    exact = right(by_onnxruntime(path("float.onnx"), x))
    print(f"float32: {exact:.2f} % of {len(x)} pictures right")
    quantize_static(path("float.onnx"), path("ort.onnx"), Batches(calibration), quant_format=QuantFormat.QDQ,
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    peer = right(by_onnxruntime(path("ort.onnx"), x))
    print(f"onnxruntime's quantiser: {peer:.2f} %, {exact - peer:+.2f} points lost")
    for flags in ([], ["--method", "percentile"], ["--method", "kl"], ["--scheme", "symmetric"], ["--scheme", "power2"],
                  ["--per-tensor"], ["--no-bias-correction"]):
        print(tool("hone-quantise", "--network", path("float.onnx"), "--target", path("cpu.json"), "--data",
                   path("calibration.npy"), "--graph", path("int8.graph.json"), "--parameters", path("int8.params"),
                   *flags).split("\n")[1])
        tool("hone-build", "--graph", path("int8.graph.json"), "--parameter-file", path("int8.params"), "--target",
             path("cpu.json"), "--untuned", "--out", path("_".join(["int8"] + [f.strip("-") for f in flags])))
        own = right(by_hone(path("_".join(["int8"] + [f.strip("-") for f in flags])), x))
        print(f"hone-quantise {' '.join(flags) or '(defaults)'}: {own:.2f} %, {exact - own:+.2f} points lost")


if __name__ == "__main__":
    main()
