"""Quantises a float model for the peers of an int8 job, each engine's own way, on the same seeded inputs.

Usage: quantise.py NET.onnx
Writes beside it NET.ort-int8.onnx by onnxruntime's static quantisation (QDQ, u8 activations, i8 weights by channel) and
NET.nncf-int8.xml by nncf for openvino. The inputs are uniform in [-1, 1), as those that hone-quantise makes itself.
"""
import logging
import sys

import numpy as np
import nncf
import onnx
import openvino as ov
from onnxruntime import quantization as q

SAMPLES = 8


class Inputs(q.CalibrationDataReader):
    def __init__(self, name, samples):
        self.left = iter([{name: sample} for sample in samples])

    def get_next(self):
        return next(self.left, None)


def main():
    (path,) = sys.argv[1:]
    stem = path.removesuffix(".onnx")
    logging.getLogger().setLevel(logging.ERROR)
    nncf.set_log_level(logging.ERROR)
    value = onnx.load(path).graph.input[0]
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    rng = np.random.default_rng(2)
    samples = [rng.uniform(-1, 1, shape).astype(np.float32) for _ in range(SAMPLES)]
    q.quantize_static(path, stem + ".ort-int8.onnx", Inputs(value.name, samples), quant_format=q.QuantFormat.QDQ,
                      per_channel=True, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
    model = nncf.quantize(ov.Core().read_model(path), nncf.Dataset(samples), subset_size=SAMPLES)
    ov.save_model(model, stem + ".nncf-int8.xml", compress_to_fp16=False)


if __name__ == "__main__":
    main()
