"""Prints the network, batch and element type of a job for bench_peers.sh, or an error in one line.

Usage: job.py PIPELINE.toml

graph_to_onnx.py makes the peers' model from the graph of a built-in network. A user's model has steps that only Hone's
reader knows, and a workload or a plugin's operator is not a network.
"""
import sys
import tomllib


def main():
    (path,) = sys.argv[1:]
    try:
        with open(path, "rb") as file:
            pipeline = tomllib.load(file)
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {str(error).splitlines()[0]}")
    network, batch = pipeline.get("network"), pipeline.get("batch", 1)
    if not isinstance(network, str) or type(batch) is not int:
        sys.exit(f"{path}: it has no `network`, or a `batch` that is not a number")
    if network.lower().endswith((".onnx", ".json")) or "(" in network or "plugin" in pipeline:
        sys.exit(f"{path}: `{network}` is not built in: the peers' model can only be made of built-in networks")
    print(network, batch, "int8" if "quantise" in pipeline else "f32")


if __name__ == "__main__":
    main()
