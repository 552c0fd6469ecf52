// hone-quantise: a network of floats becomes one of integers of 8 bits, by the ranges of its tensors on calibration
// inputs. doc/howto/quantise.md explains it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hone::command {

struct QuantiseOptions {
  std::string network;               // as for hone-extract
  std::vector<std::string> inputs;   // for a model: NAME=1,3,224,224, the shapes of its inputs
  std::vector<std::string> plugins;  // libraries with user-defined operators
  std::string parameter_file;        // values of a graph's parameters of kind `file`; may be empty
  int64_t batch = 1;                 // for a built-in network
  std::string target;                // target file (JSON): the float network is run on it, which must be this machine
  std::string data;      // file or folder of calibration inputs (command/quantise/calibration.h); may be empty
  std::string settings;  // file of quantise::SettingsText; empty: these flags
  std::string method = "max", scheme = "affine";
  double percentile = 99.99;
  int64_t samples = 0;
  bool per_tensor = false, no_bias_correction = false;
  std::vector<std::string> keep;
  std::string graph;       // file to write; may be empty
  std::string parameters;  // file to write
  std::string report;      // file of the report (JSON) to write; may be empty
  std::string onnx;        // QDQ model to write; may be empty
};

std::string QuantiseAbi();

// Writes each file only if its bytes change, and prints the report to stdout. Returns the exit code.
int RunQuantise(const QuantiseOptions& options);

}  // namespace hone::command
