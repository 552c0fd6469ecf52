"""A graph of Hone and its parameter file as a PyTorch module, so that PyTorch computes the same."""
import json

import torch
import torch.nn.functional as F
from graph_file import operand_count, parse_workload, read_parameters, window


def padded(data, before, behind, value):
    """Pads outside the operator if the sides differ, since PyTorch's own padding is the same on both sides."""
    if before == behind:
        return data, before
    pairs = [p for both in zip(reversed(before), reversed(behind)) for p in both]
    return F.pad(data, pairs, value=value), [0] * len(before)


class Network(torch.nn.Module):
    def __init__(self, graph_path, parameters_path):
        super().__init__()
        graph = json.load(open(graph_path))
        self.outputs = graph["outputs"]
        self.inputs = [i["name"] for i in graph["inputs"]]
        values = read_parameters(parameters_path)
        self.parameters_by_name = torch.nn.ParameterDict()
        self.nodes = []
        for node in graph["nodes"]:
            for name in node["inputs"]:
                if name in values:
                    self.parameters_by_name[self.key(name)] = torch.nn.Parameter(torch.tensor(values[name]), False)
            self.nodes.append((node["name"], node["inputs"], *parse_workload(node["workload"])))

    @staticmethod
    def key(name):
        return name.replace(".", "/")  # PyTorch allows no dots in names

    def forward(self, *data):
        tensors = dict(zip(self.inputs, data))
        for name, inputs, op, attributes, epilogue in self.nodes:
            given = [tensors[i] if i in tensors else self.parameters_by_name[self.key(i)] for i in inputs]
            arity = operand_count(op, inputs, epilogue)
            tensors[name] = self.epilogue(self.anchor(op, attributes, given[:arity]), epilogue, given[arity:])
        return tensors[self.outputs[0]]

    def anchor(self, op, attributes, given):
        if op in ("conv2d", "conv3d"):
            _, stride, before, behind = window(attributes, list(given[1].shape[2:]))
            data, pad = padded(given[0], before, behind, 0.0)
            return getattr(F, op)(data, given[1], None, stride, pad, attributes.get("dilation", [1] * len(stride)),
                                  attributes.get("groups", [1])[0])
        if op in ("max_pool2d", "max_pool3d", "avg_pool2d", "avg_pool3d"):
            kernel, stride, before, behind = window(attributes, attributes["kernel"])
            ceil = bool(attributes.get("ceil_mode", [0])[0])
            if op.startswith("max"):
                data, pad = padded(given[0], before, behind, -float("inf"))
                return getattr(F, op)(data, kernel, stride, pad, ceil_mode=ceil)
            if before != behind:
                raise NotImplementedError(f"{op} with padding on one side")
            counted = bool(attributes.get("count_include_pad", [0])[0])
            return getattr(F, op)(given[0], kernel, stride, before, ceil, counted)
        if op == "reshape":
            return given[0].reshape(attributes["shape"])
        if op == "transpose":
            return given[0].permute(attributes["perm"])
        if op == "layer_norm":
            shape = given[1].shape
            return F.layer_norm(given[0], shape, *given[1:], eps=float(attributes.get("epsilon", 1e-5)))
        simple = {
            "dense": lambda x, w: F.linear(x, w),
            "global_avg_pool": lambda x: x.mean(dim=tuple(range(2, x.dim())), keepdim=True),
            "flatten": lambda x: torch.flatten(x, 1),
            "add": torch.add,
            "mul": torch.mul,
            "matmul": torch.matmul,
            "gelu": F.gelu,
            "concat": lambda *parts: torch.cat(parts, 1),
            "relu": F.relu,
            "relu6": F.relu6,
            "softmax": lambda x: F.softmax(x, -1),
        }
        return simple[op](*given)

    @staticmethod
    def epilogue(x, steps, given):
        given = list(given)
        for name, arguments in steps:
            if name == "bias":
                x = x + given.pop(0).reshape([-1] + [1] * (x.dim() - 2))
            elif name == "add":
                x = x + given.pop(0)
            elif name == "relu":
                x = F.relu(x)
            elif name == "relu6":
                x = F.relu6(x)
            else:
                x = torch.clamp(x, *arguments)
        return x
