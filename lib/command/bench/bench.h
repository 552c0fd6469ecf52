// hone-bench: how fast a built network is, and whether it is right.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct BenchOptions {
  std::string lib;             // folder of the library (out/NET.TARGET)
  std::string baseline;        // folder of another library of the same network to compare with; may be empty
  std::string best;            // best/NET.TARGET.confirmed.json or .json: what tuning measured of the kernels, for the
                               // prediction of the network from them; empty: no prediction
  std::string settings;        // settings/JOB.bench.json; empty: the defaults
  std::string out;             // bench/NET.TARGET.json; empty: only the table
  std::string parameter_file;  // values of parameters of kind `file`; empty: no such file
  std::vector<std::string> inputs;  // if that is an ONNX model: the shapes that hone-extract had
};

std::string BenchAbi();

// Checks the outputs against the reference, times both libraries in fresh processes that alternate, writes options.out
// and prints a table to stdout. Returns the exit code: 1 also if an output is wrong; options.out says so then, for
// hone-report, and there is no table. Has the machine for itself while it times.
int RunBench(const BenchOptions& options);

// A fresh process: reads a request (library/time_network.h) from stdin, writes the reply to stdout.
int RunBenchChild();

}  // namespace hone::command
