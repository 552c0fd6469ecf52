# Writes the models in this folder, each with an input and onnxruntime's outputs, in the format of ONNX's backend tests.
# Run by hand when a model is added: `python make_models.py`, with numpy, onnx and onnxruntime.
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


class Maker:
    def __init__(self, opset):
        self.opset, self.nodes, self.tensors = opset, [], []
        self.rng = np.random.default_rng(7)

    def add(self, op, inputs, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"/{name}", **attributes))
        return name

    def tensor(self, name, values):
        self.tensors.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weight(self, name, *shape):
        scale = 1.0 / np.sqrt(max(1, np.prod(shape[1:])))
        return self.tensor(name, (self.rng.standard_normal(shape) * scale).astype(np.float32))

    def conv(self, x, name, out, inp, k, bias=False, **attributes):
        inputs = [x, self.weight(name + ".weight", out, inp, k, k)]
        if bias:
            inputs.append(self.weight(name + ".bias", out))
        return self.add("Conv", inputs, kernel_shape=[k, k], **attributes)

    def norm(self, x, name, channels):
        positive = lambda: (self.rng.random(channels) + 0.5).astype(np.float32)
        return self.add("BatchNormalization", [
            x, self.tensor(name + ".scale", positive()), self.weight(name + ".shift", channels),
            self.weight(name + ".mean", channels), self.tensor(name + ".variance", positive())], epsilon=1e-3)

    def save(self, name, shape, declared, output, opsets=(), made=TensorProto.FLOAT):
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(self.nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, declared)],
                                  [helper.make_tensor_value_info("y", made, output)], self.tensors)
        versions = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(*each) for each in opsets]
        model = helper.make_model(graph, opset_imports=versions, ir_version=8)
        onnx.checker.check_model(model)
        folder = os.path.join(HERE, name)
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        onnx.save(model, os.path.join(folder, "model.onnx"))
        x = self.rng.standard_normal(shape).astype(np.float32)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        (y,) = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})
        for file, values in (("input_0.pb", x), ("output_0.pb", y)):
            with open(os.path.join(data, file), "wb") as f:
                f.write(numpy_helper.from_array(values, file[:-5]).SerializeToString())


# A residual network as PyTorch exports it: flattens to a shape that is computed from the dynamic batch.
m = Maker(13)
stem = m.add("Relu", [m.norm(m.conv("x", "stem", 8, 3, 3, strides=[2, 2], pads=[1, 1, 1, 1]), "bn1", 8)])
pool = m.add("MaxPool", [stem], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
body = m.add("Relu", [m.norm(m.conv(pool, "a", 8, 8, 3, pads=[1, 1, 1, 1]), "bn2", 8)])
body = m.norm(m.conv(body, "b", 8, 8, 3, pads=[1, 1, 1, 1]), "bn3", 8)
mean = m.add("GlobalAveragePool", [m.add("Relu", [m.add("Add", [body, pool])])])
batch = m.add("Gather", [m.add("Shape", [mean]), m.tensor("zero", np.int64(0))], axis=0)
shape = m.add("Concat", [m.add("Unsqueeze", [batch, m.tensor("axes", np.int64([0]))]),
                         m.tensor("rest", np.int64([-1]))], axis=0)
flat = m.add("Reshape", [mean, shape])
m.add("Gemm", [flat, m.weight("fc.weight", 5, 8), m.weight("fc.bias", 5)], transB=1)
m.save("residual", [2, 3, 20, 20], ["batch", 3, "height", "width"], ["batch", 5])

# Inverted residuals: expansion, depthwise convolution, Clip, projection; with Dropout and Identity in between.
m = Maker(12)
zero, six = m.tensor("zero", np.float32(0)), m.tensor("six", np.float32(6))
x = m.add("Clip", [m.conv("x", "stem", 8, 3, 3, bias=True, strides=[2, 2], auto_pad="SAME_UPPER"), zero, six])
y = m.add("Clip", [m.norm(m.conv(x, "expand", 24, 8, 1), "bn1", 24), zero, six])
y = m.add("Clip", [m.conv(y, "depth", 24, 1, 3, bias=True, group=24, pads=[1, 1, 1, 1]), zero, six])
y = m.add("Add", [m.add("Identity", [m.conv(y, "project", 8, 24, 1, bias=True)]), x])
y = m.add("Flatten", [m.add("GlobalAveragePool", [m.add("Dropout", [y])])])
m.add("Softmax", [m.add("Gemm", [y, m.weight("fc", 8, 6)], alpha=0.5)], axis=1)
m.save("inverted", [1, 3, 15, 17], [1, 3, 15, 17], [1, 6])

# Concatenated branches, with both kinds of pooling.
m = Maker(11)
x = m.add("Relu", [m.conv("x", "squeeze", 5, 4, 1, bias=True)])
a = m.add("Relu", [m.conv(x, "left", 7, 5, 1, bias=True)])
b = m.add("Relu", [m.conv(x, "right", 9, 5, 3, bias=True, pads=[1, 1, 1, 1], dilations=[1, 1])])
c = m.add("AveragePool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], count_include_pad=1)
y = m.add("MaxPool", [m.add("Concat", [a, b, c], axis=1)], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
m.add("GlobalAveragePool", [m.conv(y, "classes", 3, 21, 1, bias=True)])
m.save("branches", [1, 4, 12, 12], [1, 4, 12, 12], [1, 3, 1, 1])

# A block of a transformer encoder: attention of two heads, then a layer with GELU, each normalised.
m = Maker(17)
length, width, heads = 7, 12, 2


def heads_of(x, name, perm):
    product = m.add("MatMul", [x, m.weight(name, width, width)])
    split = m.add("Reshape", [product, m.tensor(name + ".shape", np.int64([1, length, heads, width // heads]))])
    return m.add("Transpose", [split], perm=perm)


def normalised(x, name):
    return m.add("LayerNormalization", [x, m.tensor(name + ".scale", np.linspace(0.5, 1.5, width, dtype=np.float32)),
                                        m.weight(name + ".shift", width)], axis=-1)


scores = m.add("MatMul", [heads_of("x", "q", [0, 2, 1, 3]), heads_of("x", "k", [0, 2, 3, 1])])
scaled = m.add("Mul", [scores, m.tensor("scale", np.float32((width // heads) ** -0.5))])
mixed = m.add("MatMul", [m.add("Softmax", [scaled], axis=-1), heads_of("x", "v", [0, 2, 1, 3])])
joined = m.add("Reshape", [m.add("Transpose", [mixed], perm=[0, 2, 1, 3]),
                           m.tensor("joined", np.int64([1, length, width]))])
x = normalised(m.add("Add", ["x", m.add("MatMul", [joined, m.weight("out", width, width)])]), "norm1")
y = m.add("Add", [m.add("MatMul", [x, m.weight("up", width, 4 * width)]), m.weight("up.bias", 4 * width)])
erf = m.add("Erf", [m.add("Mul", [y, m.tensor("half root", np.float32(0.5 ** 0.5))])])
gelu = m.add("Mul", [m.add("Mul", [y, m.add("Add", [erf, m.tensor("one", np.float32(1))])]),
                     m.tensor("half", np.float32(0.5))])
normalised(m.add("Add", [x, m.add("MatMul", [gelu, m.weight("down", 4 * width, width)])]), "norm2")
m.save("attention", [1, length, width], [1, length, width], [1, length, width])

# A quantised network: bytes of both kinds, weights with a scale for each channel and zero points, a residual sum.
m = Maker(13)


def scale_and_zero(name, scale, zero):
    return [m.tensor(name + ".scale", np.float32(scale)), m.tensor(name + ".zero", zero)]


def q_conv(x, xq, name, out, inp, k, yq, signed=True, **attributes):
    # Seven bits: without VNNI, onnxruntime's sums of pairs of products saturate at 16 bits.
    values = m.rng.integers(-63, 64, (out, inp // attributes.get("group", 1), k, k))
    weight = values.astype(np.int8) if signed else (values + 128).astype(np.uint8)
    zeros = np.zeros(out, np.int8) if signed else np.full(out, 131, np.uint8)
    scales = (0.001 + 0.002 * m.rng.random(out)).astype(np.float32)
    inputs = [x, *xq, m.tensor(name + ".weight", weight), m.tensor(name + ".scales", scales),
              m.tensor(name + ".zeros", zeros), *yq,
              m.tensor(name + ".bias", m.rng.integers(-500, 500, out).astype(np.int32))]
    return m.add("QLinearConv", inputs, kernel_shape=[k, k], **attributes)


# Convolutions alone, whose results have one right answer.
q0 = scale_and_zero("q0", 0.02, np.uint8(121))
q1 = scale_and_zero("q1", 0.01, np.uint8(100))
x = m.add("QuantizeLinear", ["x", *q0])
x = q_conv(x, q0, "first", 17, 5, 3, q1, pads=[1, 1, 1, 1], strides=[2, 2])
x = q_conv(x, q1, "second", 9, 17, 3, q0, pads=[2, 1, 2, 1], dilations=[2, 2])
q_conv(x, q0, "third", 6, 9, 1, q0, signed=False, group=3)
m.save("quantised_layers", [2, 5, 17, 15], [2, 5, 17, 15], [2, 6, 9, 6], made=TensorProto.UINT8)

m = Maker(13)
q0 = scale_and_zero("q0", 0.02, np.uint8(121))
q1 = scale_and_zero("q1", 0.01, np.uint8(3))
q2 = scale_and_zero("q2", 0.015, np.uint8(0))
x = m.add("QuantizeLinear", ["x", *q0])
x = q_conv(x, q0, "stem", 12, 3, 3, q1, pads=[1, 1, 1, 1], strides=[2, 2])
y = q_conv(x, q1, "depth", 12, 12, 3, q2, pads=[1, 1, 1, 1], group=12)
y = q_conv(y, q2, "point", 12, 12, 1, q2, signed=False)
y = m.add("QLinearAdd", [x, *q1, y, *q2, *q2], domain="com.microsoft")
y = m.add("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])
y = m.add("QLinearGlobalAveragePool", [y, *q2, *q1], domain="com.microsoft")
y = m.add("Flatten", [y])
y = m.add("QGemm", [y, *q1, m.tensor("fc.weight", m.rng.integers(-63, 64, (12, 7)).astype(np.int8)),
                    *scale_and_zero("fc", 0.004, np.int8(0)),
                    m.tensor("fc.bias", m.rng.integers(-500, 500, 7).astype(np.int32)),
                    *scale_and_zero("q4", 0.05, np.uint8(90))], domain="com.microsoft", alpha=1.0)
m.add("DequantizeLinear", [y, "q4.scale", "q4.zero"])
m.save("quantised", [2, 3, 17, 15], [2, 3, 17, 15], [2, 7], [("com.microsoft", 1)])

# The form that most quantisers write: operators of floats between DequantizeLinear and QuantizeLinear.
m = Maker(13)


def pair(x, q):
    return m.add("DequantizeLinear", [m.add("QuantizeLinear", [x, *q]), *q])


def weight(name, shape, axis=0):
    scales = (0.001 + 0.002 * m.rng.random(shape[axis])).astype(np.float32)
    values = [m.tensor(name + ".weight", m.rng.integers(-127, 128, shape).astype(np.int8)),
              m.tensor(name + ".scales", scales), m.tensor(name + ".zeros", np.zeros(shape[axis], np.int8))]
    return m.add("DequantizeLinear", values, axis=axis)


def bias(name, count):
    return m.tensor(name + ".bias", (0.1 * m.rng.standard_normal(count)).astype(np.float32))


q0 = scale_and_zero("q0", 0.02, np.uint8(121))
q1 = scale_and_zero("q1", 0.01, np.uint8(0))
q2 = scale_and_zero("q2", 0.03, np.uint8(120))
x = pair("x", q0)
x = m.add("Conv", [x, weight("stem", [12, 3, 3, 3]), bias("stem", 12)], pads=[1, 1, 1, 1], strides=[2, 2])
x = pair(m.add("Relu", [x]), q1)
y = m.add("Conv", [x, weight("depth", [12, 1, 3, 3]), bias("depth", 12)], pads=[1, 1, 1, 1], group=12)
y = m.add("Clip", [y, m.tensor("low", np.float32(0)), m.tensor("high", np.float32(6))])
y = m.add("Conv", [pair(y, q1), weight("point", [12, 12, 1, 1]), bias("point", 12)])
y = pair(m.add("Add", [x, y]), q2)
y = pair(m.add("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2]), q2)
y = pair(m.add("GlobalAveragePool", [y]), q0)
y = pair(m.add("Flatten", [y]), q0)
m.add("Add", [m.add("MatMul", [y, weight("fc", [12, 7], 1)]), bias("fc", 7)])
m.save("quantised_pairs", [2, 3, 17, 15], [2, 3, 17, 15], [2, 7])
