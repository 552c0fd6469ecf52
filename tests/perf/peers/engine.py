"""Runs one engine on one model in this process and prints JSON: {"seconds": [...], "output": path}.

Usage: engine.py hone|onnxruntime|openvino|ncnn|pytorch MODEL INPUT.npy OUTPUT.npy THREADS WARMUP ITERATIONS
MODEL is NET.onnx, or for hone the folder with libNET.so and NET.params. pytorch also needs NET.graph.json and
NET.parameters beside NET.onnx, and ncnn the files that pnnx made: NET.ncnn.param and NET.ncnn.bin. Every engine gets
the same input and number of threads. A timed call ends with the output in memory.
"""
import ctypes
import glob
import json
import os
import re
import sys
import time

import numpy as np

ABI_VERSION = 4  # of NET.h, which defines these structs (lib/library/header_text.cc)


class HoneOptions(ctypes.Structure):
    _fields_ = [("params_path", ctypes.c_char_p), ("params_data", ctypes.c_void_p), ("params_size", ctypes.c_size_t),
                ("threads", ctypes.c_int), ("pin", ctypes.c_int), ("workspace", ctypes.c_void_p),
                ("workspace_size", ctypes.c_size_t), ("device", ctypes.c_int), ("verify", ctypes.c_int),
                ("device_options", ctypes.c_char_p)]


class HoneTensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("rank", ctypes.c_int32), ("alignment", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_uint64)]


class HoneInfo(ctypes.Structure):  # the first fields
    _fields_ = [("abi_version", ctypes.c_int32), ("threads", ctypes.c_int32), ("network", ctypes.c_char_p),
                ("target", ctypes.c_char_p), ("digest", ctypes.c_char_p), ("input_count", ctypes.c_int32),
                ("output_count", ctypes.c_int32), ("inputs", ctypes.POINTER(HoneTensor)),
                ("outputs", ctypes.POINTER(HoneTensor))]


class HoneDeviceInfo(ctypes.Structure):  # of libraries for GPUs
    _fields_ = [("api", ctypes.c_char_p), ("name", ctypes.c_char_p), ("context", ctypes.c_void_p), ("queue", ctypes.c_void_p)]


def aligned(shape):
    raw = np.zeros(int(np.prod(shape)) * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + int(np.prod(shape)) * 4].view(np.float32).reshape(shape)


def open_hone(folder, **options):
    """Returns a function that finds the library's functions, an instance, and its HoneInfo."""
    (path,) = glob.glob(os.path.join(folder, "lib*.so"))
    (params,) = glob.glob(os.path.join(folder, "*.params"))
    prefix = re.sub(r"\W", "_", os.path.basename(path)[3:-3])
    library = ctypes.CDLL(path)
    function = lambda name: getattr(library, f"{prefix}_{name}")
    version = function("abi_version")()
    if version != ABI_VERSION:
        sys.exit(f"{path}: its C API is of version {version}, and engine.py knows {ABI_VERSION}: change its structs with NET.h")
    strerror = function("strerror")
    strerror.restype = ctypes.c_char_p
    net = ctypes.c_void_p()
    options = HoneOptions(params_path=params.encode(), **options)
    code = function("create")(ctypes.byref(options), ctypes.byref(net))
    if code:
        sys.exit(f"{path}: {strerror(code).decode()}")
    describe = function("describe")
    describe.restype = ctypes.POINTER(HoneInfo)
    return function, net, describe().contents


def hone(folder, data, threads):
    function, net, info = open_hone(folder, threads=threads, pin=1)
    output = info.outputs[0]
    given, result = aligned(data.shape), aligned(output.shape[:output.rank])
    given[...] = data
    inputs = (ctypes.c_void_p * 1)(given.ctypes.data)
    outputs = (ctypes.c_void_p * 1)(result.ctypes.data)
    run = function("run")

    def call(_keep=given):  # keeps alive what the library points to
        if run(net, inputs, outputs):
            sys.exit("run failed")
        return result
    return call


def onnxruntime(path, data, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda: session.run(None, {name: data})[0]


def openvino(path, data, threads):
    import openvino as ov
    core = ov.Core()
    config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
              "NUM_STREAMS": 1}
    request = core.compile_model(core.read_model(path), "CPU", config).create_infer_request()
    request.set_input_tensor(ov.Tensor(data, shared_memory=True))

    def call():
        request.infer()
        return request.get_output_tensor().data
    return call


def ncnn(path, data, threads):
    """float32 throughout, with Winograd and packed layouts. Its tensors have no batch axis, so only batch 1 works."""
    import ncnn as nn
    if data.shape[0] != 1:
        sys.exit("ncnn takes one image at a time")
    net = nn.Net()
    options = net.opt
    options.num_threads = threads
    options.use_vulkan_compute = False
    options.use_winograd_convolution = options.use_sgemm_convolution = options.use_packing_layout = True
    options.use_fp16_packed = options.use_fp16_storage = options.use_fp16_arithmetic = False
    options.use_bf16_packed = options.use_bf16_storage = False
    stem = path.removesuffix(".onnx")
    for load, suffix in ((net.load_param, ".ncnn.param"), (net.load_model, ".ncnn.bin")):
        if load(stem + suffix):
            sys.exit(f"ncnn cannot load {stem}{suffix}")
    given = nn.Mat(data[0]).clone()
    name, = net.input_names()
    output, = net.output_names()

    def call(_net=net):
        extractor = net.create_extractor()
        extractor.input(name, given)
        code, result = extractor.extract(output)
        if code:
            sys.exit("ncnn: run failed")
        return result.numpy()
    return call


def pytorch(path, data, threads):
    """Inductor with frozen weights in inference mode: PyTorch's fastest mode on a CPU."""
    import torch
    import torch._inductor.config
    from torch_model import Network
    torch.set_num_threads(threads)
    torch._inductor.config.freezing = True
    stem = path.removesuffix(".onnx")
    network = Network(stem + ".graph.json", stem + ".parameters").eval()
    compiled = torch.compile(network)
    given = torch.from_numpy(data)

    def call():
        with torch.inference_mode():
            return compiled(given).numpy()
    return call


def main():
    engine, model, input_path, output_path, threads, warmup, iterations = sys.argv[1:]
    data = np.load(input_path)
    engines = {"hone": hone, "onnxruntime": onnxruntime, "openvino": openvino, "ncnn": ncnn, "pytorch": pytorch}
    call = engines[engine](model, data, int(threads))
    for _ in range(int(warmup)):
        call()
    seconds = []
    for _ in range(int(iterations)):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    np.save(output_path, np.array(call()))
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
