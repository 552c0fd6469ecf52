"""Times the same graph and parameters in PyTorch on a GPU: eager with cuDNN's benchmark mode, NCHW and channels_last,
each also as a CUDA graph, and torch.compile(mode="max-autotune"); TF32 off and on; and in TensorRT, if Python has the
packages tensorrt and onnx. With LIBRARY, times Hone's library in the same way.

Usage: gpu.py GRAPH.json PARAMETERS OUT.md [LIBRARY [ITERATIONS [no-compile]]]
LIBRARY: the folder of a network library for CUDA with TF32 off; "-": without.
no-compile: leaves out torch.compile and TensorRT, which search for minutes.
Writes each row of OUT.md as soon as it is measured; a failed variant gets a row with the reason. Data stays on
the device.
Two times of each variant: the device's, from events around each run; and the host's, the median of calls that wait for
the device, by the host's clock. Compare each only with its own kind.
Exit codes: 0; 1 if Hone or a variant with cuDNN failed, or an output differs from the CPU's. A failure of torch.compile
(it needs Triton and a C compiler) or of TensorRT only appears in its row.
"""
import ctypes
import importlib
import json
import statistics
import sys
import time

import numpy as np
import torch

import engine
from torch_model import Network


# For the largest difference, in standard deviations of the output; TF32 rounds factors to 10 bits.
TOLERANCE = {False: 1e-3, True: 5e-2}


def timed(run, iterations):
    """Returns the milliseconds of each run by device events, and the median of synchronised calls by the host's clock."""
    for _ in range(20):
        run()
    torch.cuda.synchronize()
    milliseconds = []
    for _ in range(iterations):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        milliseconds.append(begin.elapsed_time(end))
    host = []
    for _ in range(iterations):
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        host.append(1e3 * (time.perf_counter() - begin))
    return milliseconds, statistics.median(host)


def graphed(run):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def hone(folder, arrays):
    """Returns a function that runs the library once, one that returns its output, and the library's own stream."""
    function, net, info = engine.open_hone(folder)
    detail = function("error_detail")
    detail.restype = ctypes.c_char_p

    def call(name, *arguments):
        if function(name)(net, *arguments):
            raise RuntimeError(f"{name}: {detail().decode()}")

    device = engine.HoneDeviceInfo()
    call("device", ctypes.byref(device), None, None)
    if device.api != b"cuda":
        raise ValueError(f"{folder}: a library for {device.api.decode()}, not for CUDA")
    given = [torch.from_numpy(array).cuda() for array in arrays]
    for i, tensor in enumerate(given):
        wanted = list(info.inputs[i].shape[:info.inputs[i].rank])
        if wanted != list(tensor.shape):
            raise ValueError(f"{folder}: input {i} is {wanted}, the graph's is {list(tensor.shape)}")
    output = torch.empty(info.outputs[0].shape[:info.outputs[0].rank], device="cuda")
    torch.cuda.synchronize()

    run_device, stream = function("run_device"), ctypes.c_void_p(device.queue)

    def run(inputs=None, outputs=None):
        if run_device(net, inputs, outputs, stream):
            raise RuntimeError(f"run_device: {detail().decode()}")

    run((ctypes.c_void_p * len(given))(*[tensor.data_ptr() for tensor in given]))  # its own inputs keep these values
    call("wait")

    def result():
        run(outputs=(ctypes.c_void_p * info.output_count)(output.data_ptr()))
        call("wait")
        return output

    return run, result, torch.cuda.ExternalStream(device.queue)


def installed(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def tensorrt(graph_path, parameters, arrays, tf32):
    """Returns a function that runs an engine of TensorRT once in the current stream, and one that returns its output."""
    import tensorrt as trt
    from graph_file import read_parameters
    from graph_to_onnx import Converter
    model = Converter(json.load(open(graph_path)), read_parameters(parameters)).model()
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    explicit = getattr(trt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)  # from version 10 on always
    network = builder.create_network(0 if explicit is None else 1 << int(explicit))
    parser = trt.OnnxParser(network, logger)
    if not parser.parse(model.SerializeToString()):
        raise RuntimeError(str(parser.get_error(0)))
    config = builder.create_builder_config()
    (config.set_flag if tf32 else config.clear_flag)(trt.BuilderFlag.TF32)
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    context = engine.create_execution_context()
    given = [torch.from_numpy(array).cuda() for array in arrays]
    tensors = [torch.empty(tuple(network.get_output(i).shape), device="cuda") for i in range(network.num_outputs)]
    names = [network.get_input(i).name for i in range(network.num_inputs)]
    names += [network.get_output(i).name for i in range(network.num_outputs)]
    for name, tensor in zip(names, given + tensors):
        context.set_tensor_address(name, tensor.data_ptr())

    def run():
        if not context.execute_async_v3(torch.cuda.current_stream().cuda_stream):
            raise RuntimeError("execute_async_v3 failed")

    def keep(engine=engine, given=given):  # alive as long as the functions
        torch.cuda.synchronize()
        return tensors[0]

    return run, keep


def main():
    graph_path, parameters, out = sys.argv[1:4]
    library = sys.argv[4] if len(sys.argv) > 4 else "-"
    iterations = int(sys.argv[5]) if len(sys.argv) > 5 else 200
    compiles = "no-compile" not in sys.argv[6:]
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no CUDA device")
    torch.backends.cudnn.benchmark = True
    inputs = [i["shape"] if "shape" in i else i["type"] for i in json.load(open(graph_path))["inputs"]]
    if any(isinstance(shape, str) for shape in inputs):  # "f32[1,3,224,224]"
        inputs = [[int(n) for n in shape[shape.index("[") + 1:-1].split(",")] for shape in inputs]
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in inputs]
    with torch.no_grad(), open(out, "w", buffering=1) as rows:
        network = Network(graph_path, parameters).eval()
        expected = network(*map(torch.from_numpy, arrays))
        network = network.cuda()
        rows.write(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, "
                   f"{torch.cuda.get_device_name()}; {iterations} runs each\n\n"
                   "| how | TF32 | min ms | median ms | host ms, synchronised | largest difference |\n| --- | --- | --- | --- | --- | --- |\n")
        failed = []

        def row(how, tf32, make, may_fail=False):
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
            try:
                run, result, *own = make()
                with torch.cuda.stream(own[0] if own else torch.cuda.current_stream()):
                    times, host = timed(run, iterations)
                difference = float((result().float().cpu() - expected).abs().max() / expected.std())
                rows.write(f"| {how} | {'on' if tf32 else 'off'} | {min(times):.4f} | {statistics.median(times):.4f} | {host:.4f} | {difference:.1e} |\n")
                if not difference <= TOLERANCE[tf32]:
                    failed.append(f"{how}: its output differs by {difference:.1e} standard deviations")
            except (Exception, SystemExit) as error:  # the next variant may work
                reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}".replace("|", "/")
                rows.write(f"| {how} | {'on' if tf32 else 'off'} | failed | {reason} | | |\n")
                if not may_fail:
                    failed.append(f"{how}: {reason}")

        if library != "-":
            row("Hone", False, lambda: hone(library, arrays))
        for tf32 in (False, True):
            for last in (False, True):
                data = [torch.from_numpy(a).cuda() for a in arrays]
                if last:
                    data = [d.contiguous(memory_format=torch.channels_last) if d.dim() == 4 else d for d in data]
                    for p in network.parameters():
                        if p.dim() == 4:
                            p.data = p.data.contiguous(memory_format=torch.channels_last)
                layout = "channels_last" if last else "NCHW"
                kept = {}

                def run():
                    kept["out"] = network(*data)

                row(f"cuDNN, {layout}", tf32, lambda: (run, lambda: kept["out"]))
                row(f"cuDNN, {layout}, CUDA graph", tf32, lambda: (graphed(run), lambda: kept["out"]))

            def compiled():
                torch._dynamo.reset()
                fast = torch.compile(network, mode="max-autotune")

                def run_compiled():
                    kept["out"] = fast(*data)

                return run_compiled, lambda: kept["out"]

            if compiles:
                row('torch.compile("max-autotune"), channels_last', tf32, compiled, may_fail=True)
                if installed("tensorrt") and installed("onnx"):
                    row("TensorRT", tf32, lambda: tensorrt(graph_path, parameters, arrays, tf32), may_fail=True)
            for p in network.parameters():  # back to NCHW
                p.data = p.data.contiguous()
    if failed:
        sys.exit("gpu.py: error: " + "; ".join(failed))


if __name__ == "__main__":
    main()
