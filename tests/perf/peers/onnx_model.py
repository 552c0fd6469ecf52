"""A graph of Hone (nets/NET.graph.json) and its parameter file as an ONNX model, so that other engines compute the same.

doc/graph.md has both formats. Usage: onnx_model.py GRAPH.json PARAMETERS MODEL.onnx
"""
import json
import re
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def read_parameters(path):
    data = open(path, "rb").read()
    if data[:8] != b"HONEGPAR":
        sys.exit(f"{path}: not a parameter file")
    version, count = struct.unpack_from("<II", data, 8)
    if version != 1:
        sys.exit(f"{path}: version {version} is not known here")
    at, values = 16, {}
    for _ in range(count):
        (length,) = struct.unpack_from("<I", data, at)
        name = data[at + 4:at + 4 + length].decode()
        at += 4 + length
        (rank,) = struct.unpack_from("<I", data, at)
        shape = struct.unpack_from(f"<{rank}q", data, at + 4)
        at += 4 + 8 * rank
        size = int(np.prod(shape))
        values[name] = np.frombuffer(data, "<f4", size, at).reshape(shape)
        at += 4 * size
    return values


def parse_workload(text):
    """-> operator, attributes {name: numbers or a word}, epilogue [(name, arguments)]."""
    match = re.fullmatch(r"(\w+)\((.*?)\)((?: \+ .*)?)", text)
    op, inside, tail = match.groups()
    # Attributes stand behind the tensors; commas inside a value have no space behind them.
    attributes = {}
    for name, value in re.findall(r"(\w+)=([^ ]+?)(?:,(?= )|$)", inside):
        numbers = re.split("[x,]", value)
        attributes[name] = [int(n) for n in numbers] if re.fullmatch(r"[-\dx,]+", value) else value
    epilogue = []
    for part in [p for p in tail.split(" + ") if p]:
        name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", part).groups()
        epilogue.append((name, [float(a) for a in arguments.split(",")] if arguments else []))
    return op, attributes, epilogue


class Converter:
    def __init__(self, graph, values):
        self.graph, self.values = graph, values
        self.nodes, self.initialisers = [], {}

    def tensor(self, name):
        if name in self.values and name not in self.initialisers:
            self.initialisers[name] = numpy_helper.from_array(self.values[name], name)
        return name

    def constant(self, name, array):
        self.initialisers[name] = numpy_helper.from_array(array, name)
        return name

    def emit(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    def window(self, attributes, kernel):
        out = {"kernel_shape": kernel, "strides": attributes.get("stride", [1, 1])}
        top, left, bottom, right = attributes.get("pad", [0, 0, 0, 0])
        out["pads"] = [top, left, bottom, right]
        return out

    def node(self, node):
        op, attributes, epilogue = parse_workload(node["workload"])
        inputs = [self.tensor(name) for name in node["inputs"]]
        arity = 2 if op in ("conv2d", "dense", "add") else 1
        operands, extra = inputs[:arity], inputs[arity:]
        # ONNX has the bias as an input of Conv and Gemm.
        bias = bool(epilogue) and epilogue[0][0] == "bias"
        if bias:
            operands = operands + extra[:1]
            extra, epilogue = extra[1:], epilogue[1:]
        stages = len(epilogue)
        names = [f"{node['name']}/{i}" for i in range(stages)] + [node["name"]]
        if op == "conv2d":
            self.emit("Conv", operands, names[0], group=attributes.get("groups", [1])[0],
                      dilations=attributes.get("dilation", [1, 1]),
                      **self.window(attributes, list(self.values[operands[1]].shape[2:])))
        elif op == "dense":
            self.emit("Gemm", operands, names[0], transB=1)
        elif op == "max_pool2d":
            self.emit("MaxPool", operands, names[0], **self.window(attributes, attributes["kernel"]))
        elif op == "global_avg_pool":
            self.emit("GlobalAveragePool", operands, names[0])
        elif op == "flatten":
            self.emit("Flatten", operands, names[0], axis=1)
        elif op == "add":
            self.emit("Add", operands, names[0])
        elif op in ("relu", "softmax"):
            self.emit(op.capitalize(), operands, names[0])
        else:
            sys.exit(f"{node['name']}: no ONNX form of `{op}` here")
        for i, (name, arguments) in enumerate(epilogue):
            if name == "add":
                self.emit("Add", [names[i], extra.pop(0)], names[i + 1])
            elif name == "relu":
                self.emit("Relu", [names[i]], names[i + 1])
            else:
                low, high = (0.0, 6.0) if name == "relu6" else arguments
                limits = [self.constant(f"{names[i]}/{w}", np.float32(v)) for w, v in (("low", low), ("high", high))]
                self.emit("Clip", [names[i]] + limits, names[i + 1])

    def model(self):
        for node in self.graph["nodes"]:
            self.node(node)
        inputs = [helper.make_tensor_value_info(i["name"], TensorProto.FLOAT, i["shape"]) for i in self.graph["inputs"]]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.graph["outputs"]]
        graph = helper.make_graph(self.nodes, self.graph["name"], inputs, outputs, list(self.initialisers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def main():
    graph_path, parameters_path, out = sys.argv[1:]
    model = Converter(json.load(open(graph_path)), read_parameters(parameters_path)).model()
    onnx.checker.check_model(model)
    onnx.save(model, out)


if __name__ == "__main__":
    main()
