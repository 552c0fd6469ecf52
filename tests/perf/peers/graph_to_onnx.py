"""Converts a graph of Hone (nets/NET.graph.json) and its parameter file to an ONNX model, so that other engines compute
the same.

doc/reference/graph.md has both formats. Usage: graph_to_onnx.py GRAPH.json PARAMETERS MODEL.onnx
"""
import json
import sys

import numpy as np
import onnx
from graph_file import operand_count, parse_workload, read_parameters, window
from onnx import TensorProto, helper, numpy_helper


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
        kernel, stride, before, behind = window(attributes, kernel)
        return {"kernel_shape": kernel, "strides": stride, "pads": before + behind}

    def pool(self, kind, attributes, operands, output, **more):
        self.emit(kind, operands, output, ceil_mode=attributes.get("ceil_mode", [0])[0], **more,
                  **self.window(attributes, attributes["kernel"]))

    def clip(self, data, output, low, high):
        limits = [self.constant(f"{output}/{w}", np.float32(v)) for w, v in (("low", low), ("high", high))]
        self.emit("Clip", [data] + limits, output)

    def gelu(self, data, output):
        """By Erf, as PyTorch exports it: the engines know this pattern, and not all know the operator Gelu."""
        root, one, half = (self.constant(f"{output}/{w}", np.float32(v))
                           for w, v in (("root", 2 ** 0.5), ("one", 1), ("half", 0.5)))
        self.emit("Div", [data, root], f"{output}/scaled")
        self.emit("Erf", [f"{output}/scaled"], f"{output}/erf")
        self.emit("Add", [f"{output}/erf", one], f"{output}/shifted")
        self.emit("Mul", [data, f"{output}/shifted"], f"{output}/twice")
        self.emit("Mul", [f"{output}/twice", half], output)

    def node(self, node):
        op, attributes, epilogue = parse_workload(node["workload"])
        inputs = [self.tensor(name) for name in node["inputs"]]
        arity = operand_count(op, inputs, epilogue)
        operands, extra = inputs[:arity], inputs[arity:]
        # ONNX has the bias as an input of Conv and Gemm.
        bias = bool(epilogue) and epilogue[0][0] == "bias"
        if bias:
            operands = operands + extra[:1]
            extra, epilogue = extra[1:], epilogue[1:]
        stages = len(epilogue)
        names = [f"{node['name']}/{i}" for i in range(stages)] + [node["name"]]
        if op in ("conv2d", "conv3d"):
            self.emit("Conv", operands, names[0], group=attributes.get("groups", [1])[0],
                      dilations=attributes.get("dilation", [1] * (2 if op == "conv2d" else 3)),
                      **self.window(attributes, list(self.values[operands[1]].shape[2:])))
        elif op == "dense":
            self.emit("Gemm", operands, names[0], transB=1)
        elif op in ("max_pool2d", "max_pool3d"):
            self.pool("MaxPool", attributes, operands, names[0])
        elif op in ("avg_pool2d", "avg_pool3d"):
            self.pool("AveragePool", attributes, operands, names[0],
                      count_include_pad=attributes.get("count_include_pad", [0])[0])
        elif op == "concat":
            self.emit("Concat", operands, names[0], axis=1)
        elif op == "global_avg_pool":
            self.emit("GlobalAveragePool", operands, names[0])
        elif op == "flatten":
            self.emit("Flatten", operands, names[0], axis=1)
        elif op in ("relu", "softmax", "add", "mul"):
            self.emit(op.capitalize(), operands, names[0])
        elif op == "matmul":
            self.emit("MatMul", operands, names[0])
        elif op == "transpose":
            self.emit("Transpose", operands, names[0], perm=attributes["perm"])
        elif op == "reshape":
            shape = self.constant(f"{names[0]}/shape", np.array(attributes["shape"], np.int64))
            self.emit("Reshape", operands + [shape], names[0])
        elif op == "layer_norm":
            self.emit("LayerNormalization", operands, names[0], axis=attributes.get("axis", [-1])[0],
                      epsilon=float(attributes.get("epsilon", 1e-5)))
        elif op == "gelu" and not attributes:
            self.gelu(operands[0], names[0])
        elif op == "relu6":
            self.clip(operands[0], names[0], 0.0, 6.0)
        else:
            sys.exit(f"{node['name']}: no ONNX form of `{op}` here")
        for i, (name, arguments) in enumerate(epilogue):
            if name == "add":
                self.emit("Add", [names[i], extra.pop(0)], names[i + 1])
            elif name == "relu":
                self.emit("Relu", [names[i]], names[i + 1])
            else:
                self.clip(names[i], names[i + 1], *((0.0, 6.0) if name == "relu6" else arguments))

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
