// hone-confirm: what is best alone is not always best in the network. Finds out by running the finalists there.
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
  std::string parameter_file;       // values of parameters of kind `file`; empty if there are none
  std::vector<std::string> inputs;  // if that is an ONNX model: the shapes that hone-extract had
  double seconds = 6;               // of timing the finalists, and as much again at most for the last comparison
  int jobs = 0;                     // threads that compile; 0: the cores
};

std::string ConfirmAbi();

// Builds the network with the first finalist of every task, with the second, and so on, times the layers of all of them
// in turns in this process, and takes for each task the finalist whose layers were the fastest together (another than
// the best alone only if it gains 1 %). Then whole runs of that combination against the best alone: it is kept if
// it is the faster one. If `out` holds an answer for the same finalists on this machine already, nothing is timed: its
// choices stand. Returns the exit code.
int RunConfirm(const ConfirmOptions& options);

}  // namespace hone::command
