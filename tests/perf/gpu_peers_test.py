"""gpu.py, torch_model.py and graph_file.py with stand-ins for torch and numpy: gpu_peers_test.py PEERS FOLDER.

Writes to FOLDER the rows.md of a run in which all variants work and take 1.5, 2.5 and 3.5 ms.
"""
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
    torch.compile = lambda network, mode: network
    torch.nn = types.SimpleNamespace(Module=object, functional=MagicMock())
    sys.modules.update({"numpy": MagicMock(), "torch": torch, "torch.nn": torch.nn,
                        "torch.nn.functional": torch.nn.functional})
    return torch


def main():
    peers, folder = sys.argv[1:]
    sys.path.insert(0, peers)
    torch = stand_ins()
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

    def timed(run, iterations):
        run()
        return [1.5, 2.5, 3.5], 4.0

    gpu.timed = timed

    def run(out):
        """Returns exit code, messages and rows."""
        sys.argv = ["gpu.py", graph, "parameters", os.path.join(folder, out), "3"]
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

    torch.cuda.is_available = lambda: False
    code, _ = run("rows.md")  # must not open the file, which keeps its content
    assert code == "PyTorch sees no CUDA device", code


main()
