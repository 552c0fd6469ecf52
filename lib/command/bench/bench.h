// hone-bench: measures how fast a built network is, and checks its outputs.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct BenchOptions {
  std::string lib;                  // folder of the library (out/NET.TARGET)
  std::string baseline;             // folder of another library of the same network to compare with; may be empty
  std::string best;                 // best/NET.TARGET.confirmed.json or .json: the kernels' times in tuning, from which
                                    // to predict the network's; empty: no prediction
  std::string settings;             // settings/JOB.bench.json; empty: the defaults
  std::string out;                  // bench/NET.TARGET.json; empty: prints only the table
  std::string parameter_file;       // values of parameters of kind `file`; empty: no file
  bool again = false;               // measures although nothing changed since options.out was written
  std::vector<std::string> inputs;  // if that is an ONNX model: the shapes given to hone-extract
};

std::string BenchAbi();

// Checks the outputs against the reference, times both libraries in alternating fresh processes, writes options.out and
// prints a table to stdout. If options.out is the result of the same libraries, settings and machine, it stays, unless
// the machine was busy: a published figure does not move without a reason. Needs the machine to itself while it times.
// Returns the exit code. If an output is wrong, that is 1: options.out then says so, for hone-report, and there is no
// table.
int RunBench(const BenchOptions& options);

// The fresh process: reads a request (library/time_network.h) from stdin, writes the reply to stdout.
int RunBenchChild();

}  // namespace hone::command
