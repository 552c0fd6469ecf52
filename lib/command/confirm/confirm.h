// hone-confirm: compares the finalists in the network, where the kernel that is best alone is not always the best.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct ConfirmOptions {
  std::string graph;                // nets/NET.graph.json
  std::string target;               // target file (JSON)
  std::string best;                 // best/NET.TARGET.json, with finalists
  std::string out;                  // best/NET.TARGET.confirmed.json: written only if its bytes change
  std::string choice;               // best/NET.TARGET.choice.json, the same without figures, for hone-build
  std::string parameter_file;       // values of parameters of kind `file`; empty: no file
  std::vector<std::string> inputs;  // if that is an ONNX model: the shapes given to hone-extract
  double seconds = 6;               // for timing the finalists, and again for each later comparison
};

std::string ConfirmAbi();

// Decides, in this order, each by running the network (command/confirm/trial_networks.h):
//   1. finalists: runs the network with the first finalist of every task, with the second, and so on, layer by layer. A
//      task gets the finalist whose layers were the fastest together; one other than the best alone must gain 1 %
//   2. alternatives, if they contain several kernels: compares each kernel's layers with the layers that they replace
//   3. whole runs: compares the result with the network with the best alone; without any alternative; with
//   concatenations
//      that are copied; and with sums in separate memory. A faster variant is taken (the last two only if they gain
//      1 %); several such changes together only if they are faster than the best single one
// If `out` already has an answer for the same finalists and alternatives on this machine, keeps it and times nothing.
// If a network crashes, warns and chooses the best alone without alternatives. Returns the exit code.
int RunConfirm(const ConfirmOptions& options);

}  // namespace hone::command
