// hone-confirm: compares the finalists in the network, since the best alone is not always the best there.
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
  std::string parameter_file;       // values of parameters of kind `file`; empty: no such file
  std::vector<std::string> inputs;  // if that is an ONNX model: the shapes that hone-extract had
  double seconds = 6;  // of timing the finalists, and as much again for each of the comparisons behind that
};

std::string ConfirmAbi();

// Finds out, in this order, each by running the network (command/confirm/trial_networks.h):
//   1. finalists: the network with the first finalist of every task, with the second, and so on, layer by layer. A task
//      gets the finalist whose layers were the fastest together; another than the best alone only if it gains 1 %
//   2. alternatives, if there are several kernels among them: each kernel's layers against those in whose place they
//      stand
//   3. whole runs of that against the network with the best alone; without any alternative; with concatenations
//      that are copied; and with sums in separate memory. A faster variant is taken (the last two only if they gain
//      1 %); several such changes together only if they are faster than the best one of them
// If `out` already has an answer for the same finalists and alternatives on this machine, it stays and nothing is
// timed. A network that crashes is a warning: then the best alone is built, without alternatives. Returns the exit
// code.
int RunConfirm(const ConfirmOptions& options);

}  // namespace hone::command
