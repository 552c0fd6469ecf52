// The steps of hone-confirm (command/confirm/confirm.h describes them): each decides about a part of the network's
// kernels by running variants of the network. Each changes the choice in place and returns errors of the networks.
#pragma once

#include <cstddef>

#include "command/confirm/trial_networks.h"
#include "graph/graph.h"
#include "library/compare.h"
#include "pipeline/best_file.h"

namespace hone::command {

struct InNetworkTrial {
  const graph::Graph& graph;  // canonical, without alternatives
  NetworkTrials* networks;
  library::CompareOptions compare;  // time limits; each step sets what is timed
};

// Step 1. Runs the network with every task's first finalist, with every second one, and so on, and gives each task the
// fastest of its finalists. `most` is the number of finalists of a task. Records the figures of each finalist, and of
// the network with the best alone.
Status ChooseFinalists(const InNetworkTrial& trial, size_t most, pipeline::BestFile* best,
                       pipeline::InNetwork* in_network);

// Step 2. Decides about all alternatives with the same kernel together: compares the layers of the network with them to
// the layers of the network without alternatives. With a single kernel, times nothing: step 3 decides.
Status ChooseAlternatives(const InNetworkTrial& trial, pipeline::BestFile* best);

// Step 3. Compares whole runs of the combination with variants that differ in one respect: layers that are fast beside
// the neighbours of their timing may be slower beside others, and an omitted copy is not a layer. `changed`: step 1
// replaced some best-alone kernel.
Status ChooseWhole(const InNetworkTrial& trial, bool changed, pipeline::BestFile* best,
                   pipeline::InNetwork* in_network);

}  // namespace hone::command
