// hone-build: the library of a network, from its graph and the best configurations.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct BuildOptions {
  std::string graph;                // nets/NET.graph.json
  std::string target;               // target file (JSON)
  std::string best;                 // best/NET.TARGET.json; empty with `untuned`
  bool untuned = false;             // use every template's default
  std::string out;                  // folder to write
  std::string name;                 // of the files; empty: the graph file's name up to the first '.'
  std::string parameter_file;       // values of parameters of kind `file`; empty: no file
  std::vector<std::string> inputs;  // if that is an ONNX model: the shapes given to hone-extract
  std::string winograd = "6";       // "off", "2", "4", "6": the limit; rejects a choice beyond it
  bool tf32 = false;                // accepts choices in TF32; else rejects them
  int jobs = 0;                     // compiling threads; 0: one per core
};

std::string BuildAbi();

// Writes libNAME.so, NAME.h, NAME.params, NAME.graph.json and manifest.json, each only if its bytes change, and prints
// one line about them to stderr. Returns the exit code.
int RunBuild(const BuildOptions& options);

}  // namespace hone::command
