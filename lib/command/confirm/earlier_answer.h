// The same question is not asked twice: what hone-confirm found is kept with a digest of all that it depends on.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "graph/graph.h"
#include "pipeline/best_file.h"
#include "target/target.h"

namespace hone::command {

struct ConfirmQuestion {
  Target target;
  graph::Graph graph;           // canonical, without alternatives
  pipeline::BestFile best;      // the best alone, with finalists
  std::set<std::string> tasks;  // of the network with and without alternatives
};

// Not of the figures, nor of the order that they put the finalists in: measuring them again asks nothing new.
std::string QuestionKey(const ConfirmQuestion& question);

// `question.best` with the answer that the file of the last time holds; nothing if there is none, or it is one to
// another question.
std::optional<pipeline::BestFile> EarlierAnswer(const ConfirmQuestion& question, const std::string& path);

}  // namespace hone::command
