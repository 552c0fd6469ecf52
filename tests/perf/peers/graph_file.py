"""Reads a graph of Hone (nets/NET.graph.json) and its parameter file; doc/reference/graph.md has both formats."""
import re
import struct
import sys

import numpy as np


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
    """Returns operator, attributes {name: numbers or a word}, epilogue [(name, arguments)]."""
    match = re.fullmatch(r"(\w+)\((.*?)\)((?: \+ .*)?)", text)
    op, inside, tail = match.groups()
    # Attributes follow the tensors; commas inside a value have no space after them.
    attributes = {}
    for name, value in re.findall(r"(\w+)=([^ ]+?)(?:,(?= )|$)", inside):
        numbers = re.split("[x,]", value)
        attributes[name] = [int(n) for n in numbers] if re.fullmatch(r"[-\dx,]+", value) else value
    epilogue = []
    for part in [p for p in tail.split(" + ") if p]:
        name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", part).groups()
        epilogue.append((name, [float(a) for a in arguments.split(",")] if arguments else []))
    return op, attributes, epilogue


def window(attributes, kernel):
    """Returns kernel, stride, padding before each axis and padding after each axis."""
    axes = len(kernel)
    pad = attributes.get("pad", [0] * 2 * axes)
    return kernel, attributes.get("stride", [1] * axes), pad[:axes], pad[axes:]


def operand_count(op, node_inputs, epilogue):
    """Returns how many of a node's inputs belong to the operator; the others belong to the epilogue."""
    return len(node_inputs) - sum(name in ("bias", "add") for name, _ in epilogue)
