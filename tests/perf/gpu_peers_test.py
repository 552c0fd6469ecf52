"""gpu.py, torch_model.py and graph_file.py with stand-ins for torch and numpy: gpu_peers_test.py PEERS FOLDER.

Writes to FOLDER the rows.md of a run in which all variants work and take 1.5, 2.5 and 3.5 ms, and Hone's library 1.2 ms
by events and 3 ms by the host's clock.
"""
import ctypes
import io
import json
import os
import sys
import types
from contextlib import redirect_stderr
from unittest.mock import MagicMock


class Tensor:
    """The result of any operation; differs from every other one by `off`."""
    off = 0.0

    def __getattr__(self, name):
        return lambda *_, **__: self

    def __sub__(self, other):
        return self

    shape = (1, 3, 8, 8)

    def data_ptr(self):
        return 4096

    def dim(self):
        return 4

    def max(self):
        return self.off

    def std(self):
        return 1.0


class StandInNetwork:
    def __init__(self, *_):
        pass

    def eval(self):
        return self

    def cuda(self):
        return self

    def parameters(self):
        parameter = Tensor()
        parameter.data = Tensor()
        return [parameter]

    def __call__(self, *_):
        return Tensor()


def stand_ins():
    torch = MagicMock()
    torch.__version__ = "0"
    torch.from_numpy = lambda _: Tensor()
    torch.empty = lambda *_, **__: Tensor()
    torch.compile = lambda network, mode: network
    torch.nn = types.SimpleNamespace(Module=object, functional=MagicMock())
    for name in ("onnx", "tensorrt"):
        sys.modules[name] = MagicMock()
    network = sys.modules["tensorrt"].Builder().create_network()
    network.num_inputs = network.num_outputs = 1
    sys.modules.update({"numpy": MagicMock(), "torch": torch, "torch.nn": torch.nn,
                        "torch.nn.functional": torch.nn.functional})
    return torch


def main():
    peers, folder = sys.argv[1:]
    sys.path.insert(0, peers)
    torch = stand_ins()
    import engine
    import gpu
    from graph_file import operand_count, parse_workload, window

    op, attributes, epilogue = parse_workload(
        "conv2d(f32[1,3,8,8], f32[4,3,3,3], stride=2x2, pad=1,0,1,0) + bias + clip(-1,1)")
    assert (op, attributes) == ("conv2d", {"stride": [2, 2], "pad": [1, 0, 1, 0]}), attributes
    assert epilogue == [("bias", []), ("clip", [-1.0, 1.0])], epilogue
    assert window(attributes, [3, 3]) == ([3, 3], [2, 2], [1, 0], [1, 0])
    assert operand_count(op, ["x", "w", "b"], epilogue) == 2

    graph = os.path.join(folder, "graph.json")
    with open(graph, "w") as file:
        json.dump({"inputs": [{"name": "data", "type": "f32[1,3,8,8]"}]}, file)
    gpu.Network = StandInNetwork
    import graph_to_onnx
    graph_to_onnx.Converter = MagicMock()
    graph_to_onnx.read_parameters = lambda _: {}
    sys.modules["graph_file"].read_parameters = lambda _: {}

    real_timed = gpu.timed

    def timed(run, iterations):
        before = len(calls)
        run()
        return ([1.2], 3.0) if len(calls) > before else ([1.5, 2.5, 3.5], 4.0)

    gpu.timed = timed
    calls = []

    def library(name):
        """A function of a library whose output is right and whose stream is 64."""
        def function(net, *arguments):
            calls.append((name, arguments))
            if name == "device":
                arguments[0]._obj.api, arguments[0]._obj.queue = api, 64
            return 0
        return function if name != "error_detail" else MagicMock(return_value=b"")

    shape = (ctypes.c_int64 * 4)(1, 3, 8, 8)
    tensors = (engine.HoneTensor * 1)(engine.HoneTensor(rank=4, shape=shape))
    gpu.engine.open_hone = lambda _: (library, ctypes.c_void_p(1),
                                      engine.HoneInfo(input_count=1, output_count=1, inputs=tensors, outputs=tensors))
    api = b"cuda"

    def run(out):
        """Returns exit code, messages and rows."""
        sys.argv = ["gpu.py", graph, "parameters", os.path.join(folder, out), "library", "3"]
        said, code = io.StringIO(), 0
        with redirect_stderr(said):
            try:
                gpu.main()
            except SystemExit as end:
                code = 0 if end.code in (None, 0) else end.code
        with open(os.path.join(folder, out)) as file:
            return code, file.read()

    code, rows = run("rows.md")
    assert code == 0, (code, rows)
    assert "| cuDNN, NCHW, CUDA graph | off | 1.5000 | 2.5000 | 4.0000 | 0.0e+00 |\n" in rows, rows
    assert rows.count("\n| cuDNN, ") == 8 and rows.count("\n| torch.compile") == 2, rows
    assert "\n| TensorRT | off | 1.5000 | 2.5000 | 4.0000 | 0.0e+00 |\n" in rows and rows.count("\n| TensorRT") == 2, rows
    trt = sys.modules["tensorrt"]
    config = trt.Builder().create_builder_config()
    assert config.clear_flag.call_count == config.set_flag.call_count == 1, config.mock_calls
    given = trt.Runtime().deserialize_cuda_engine().create_execution_context().set_tensor_address.call_args_list
    assert [call.args[1] for call in given] == [4096] * 4, given
    assert "\n| Hone | off | 1.2000 | 1.2000 | 3.0000 | 0.0e+00 |\n" in rows, rows
    # Once with the given input; then timed on its own, in its stream; last with an output to compare.
    runs = [arguments for name, arguments in calls if name == "run_device"]
    assert [(a[0] is None, a[1] is None, a[2].value) for a in runs] == [(False, True, 64), (True, True, 64), (True, False, 64)], runs
    assert torch.cuda.ExternalStream.call_args.args == (64,)
    api = b"opencl"
    code, rows = run("other.md")
    assert "| Hone | off | failed | ValueError: library: a library for opencl, not for CUDA | | |\n" in rows and code, rows
    api = b"cuda"

    trt.OnnxParser().parse.return_value = False  # it need not know every operator
    code, rows = run("refused.md")
    assert code == 0 and "| TensorRT | on | failed | RuntimeError: " in rows, (code, rows)
    sys.modules["tensorrt"] = None  # not installed
    assert "TensorRT" not in run("without.md")[1]

    Tensor.off = 1.0  # the output differs from the CPU's
    code, rows = run("wrong.md")
    assert "its output differs by 1.0e+00 standard deviations" in str(code), code
    Tensor.off = 0.0

    def broken(run, iterations):
        raise RuntimeError("no | kernel\nand more")

    gpu.timed = broken
    code, rows = run("broken.md")
    assert "RuntimeError: no / kernel" in str(code), code
    assert "| cuDNN, NCHW | off | failed | RuntimeError: no / kernel | | |\n" in rows, rows

    # Each call of the host's time waits for the device.
    order = []
    torch.cuda.synchronize = lambda: order.append("wait")
    torch.cuda.Event().elapsed_time.return_value = 0.5
    times, host = real_timed(lambda: order.append("run"), 3)
    assert times == [0.5] * 3 and host >= 0 and order[-6:] == ["run", "wait"] * 3, (times, host, order)

    torch.cuda.is_available = lambda: False
    code, _ = run("rows.md")  # must not open the file, which keeps its content
    assert code == "PyTorch sees no CUDA device", code


main()
