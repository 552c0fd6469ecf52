// The steps of hone-confirm (command/confirm/confirm.h describes them): choose what a network is built with by running
// it with and without. Each step changes the choice in place and returns the errors of the networks it ran.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "command/confirm/trial_networks.h"
#include "graph/graph.h"
#include "library/compare.h"
#include "pipeline/best_file.h"

namespace hone::command {

struct InNetworkTrial {
  const graph::Graph& graph;  // canonical, without alternatives
  NetworkTrials* networks;
  library::CompareOptions compare;  // how long; the step decides what is timed
};

// Step 1. Each task's finalist that is the fastest with the others of its place (first, second, ..) in the network.
// `most`: finalists of a task. Notes the figures of each, and of the network with the best alone.
Status ChooseFinalists(const InNetworkTrial& trial, size_t most, pipeline::BestFile* best,
                       pipeline::InNetwork* in_network);

// Step 2. Alternatives of one kernel stand or fall together: the layers of the network with them against those of the
// network without any. Nothing is timed if there is one kernel alone: step 3 decides.
Status ChooseAlternatives(const InNetworkTrial& trial, pipeline::BestFile* best);

// Step 3. The combination against what differs from it in one respect, in whole runs: layers that are fast beside the
// neighbours that they were timed with may be slower beside others, and a copy that vanished is no layer. `changed`:
// step 1 took another finalist than the best alone.
Status ChooseWhole(const InNetworkTrial& trial, bool changed, pipeline::BestFile* best,
                   pipeline::InNetwork* in_network);

}  // namespace hone::command
